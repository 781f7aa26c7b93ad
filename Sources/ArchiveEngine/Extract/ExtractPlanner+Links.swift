internal import ArchiveFormat
internal import ArchiveIO

/// Hard links: made when all files are, those first whose target is there.
extension ExtractPlanner {
  /// Lets all that is under way come to its end, links whose target is there included. Links of the name that is to be replaced
  /// and whose target is not there are forgotten: the later member counts.
  func settleAll(replacing path: [UInt8]) throws(ArchiveError) {
    try settle()
    try makeResolvable()
    guard unresolved.count > 0 else { return }
    superseded[XXH3.hash64(path.span)] = position
    guard superseded.count <= 1_000_000 else {
      throw ArchiveError(.limitExceeded, "more than 1,000,000 names are taken twice while hard links wait", path: path)
    }
  }

  /// Makes the new links whose targets are there; the others wait for the end.
  private func makeResolvable() throws(ArchiveError) {
    try links.take { link throws(ArchiveError) in
      if try isMade(link) {
        try makeLink(link)
      } else if try isFree(link) {
        // What has the name now is known here only: later it may be another member of this run.
        try system(path: link.path) { () throws(SystemError) in try unresolved.add(link) }
      }
      return true
    }
  }

  /// Makes all links whose targets are there. One may refer to another that comes after it, so rounds go on while any is made.
  func makeLinksAtHand() throws(ArchiveError) {
    try makeResolvable()
    var before = UInt64.max
    for _ in 0..<Self.maximumRoundCount where unresolved.count > 0 && unresolved.count < before {
      before = unresolved.count
      try unresolved.take { link throws(ArchiveError) in
        if isSuperseded(link) {
          // A later member has the name. That the link referred to nothing is a fault of the archive all the same.
          if !isMissing(link), names.find(XXH3.hash64(link.place.span)) != .other {
            try refuse(link, Self.refusal(of: link.target))
          }
          return true
        }
        guard try isMade(link) else { return false }
        try makeLink(link)
        return true
      }
    }
  }

  /// Makes all links that are left. Those whose target this run does not make get its content from the archive.
  func makeLinks(_ readAgain: ((MissingContents) throws(ArchiveError) -> Void)?) throws(ArchiveError) {
    try makeLinksAtHand()
    var passCount = 0
    while let missing = try takeMissing() {
      guard let readAgain, passCount < Self.maximumPassCount else {
        try missing.forEachUnmade { link throws(ArchiveError) in leaveOut(link, isPipe: readAgain == nil) }
        break
      }
      passCount += 1
      position = 0
      try readAgain(missing)
      try missing.forEachUnmade { link throws(ArchiveError) in try refuse(link, Self.refusal(of: link.target)) }
      try missing.forEachSuccessor { link throws(ArchiveError) in
        try system(path: link.path) { () throws(SystemError) in try unresolved.add(link) }
      }
      try makeLinksAtHand()
    }
    try giveUpLinks()
  }

  /// Says of every link that is left why it is not made. One whose target failed, or waits for such a one, is left out;
  /// what then still waits goes round in a circle and is refused.
  private func giveUpLinks() throws(ArchiveError) {
    var waiting: Set<UInt64> = []
    try unresolved.take { link throws(ArchiveError) in
      waiting.insert(XXH3.hash64(link.path.span))
      return false
    }
    var before = UInt64.max
    while unresolved.count < before {
      before = unresolved.count
      try unresolved.take { link throws(ArchiveError) in
        let target = XXH3.hash64(link.place.span)
        if waiting.contains(target) { return false }
        waiting.remove(XXH3.hash64(link.path.span))
        if names.find(target) == .other || incompleteNames.contains(target) {
          uncount()
          skip(link.path, "\(Self.phrase(link.target)), which could not be made; left out")
        } else {
          try refuse(link, Self.refusal(of: link.target))
        }
        return true
      }
    }
    try unresolved.take { link throws(ArchiveError) in
      try refuse(link, Self.refusal(of: link.target))
      return true
    }
  }

  // MARK: Contents that are missing

  /// Takes the links whose target is none of this run's files; nil when there are none.
  private func takeMissing() throws(ArchiveError) -> MissingContents? {
    let missing = MissingContents()
    try unresolved.take { link throws(ArchiveError) in
      guard isMissing(link) else { return false }
      if !isSuperseded(link) { try system(path: link.path) { () throws(SystemError) in try missing.add(link) } }
      return true
    }
    missing.sort()
    return missing.isEmpty ? nil : missing
  }

  /// What a lane shall make of a member, on a further pass, for the links that miss its content: the first of them becomes the file,
  /// the others links to it.
  func supply(
    _ member: Member, to missing: MissingContents, spans: Bool, archiveByteCount: UInt64?
  ) throws(ArchiveError) -> LeafAction? {
    var action: LeafAction?
    var place: [UInt8]?
    var isSettled = false
    try missing.claim(member.path, position: position) { link, wasGiven, _ throws(ArchiveError) in
      var link = link
      link.replacesOwn = link.replacesOwn || wasGiven
      if wasGiven, !isSettled {
        // Links that wait refer to the content that is about to be replaced; of one member's links all were made or none.
        try settle()
        try makeLinksAtHand()
        isSettled = true
      }
      if member.kind == .directory {
        try refuse(link, Self.refusal(of: link.target))
        return .nothing
      }
      if member.kind == .hardlink {
        link.target = member.linkTarget
        link.place = self.place(of: member.linkTarget)
        return .link(link)
      }
      if let place {
        link.place = place
        try system(path: link.path) { () throws(SystemError) in try unresolved.add(link) }
        return .content
      }
      guard try isFree(link) else { return .nothing }
      action = try copyAction(member, for: link, spans: spans, archiveByteCount: archiveByteCount)
      guard action != nil else { return .nothing }
      waitingNames.remove(XXH3.hash64(link.path.span))
      place = link.path
      return .content
    }
    return action
  }

  /// A member whose content is missing is itself not whole: the links to it are left out.
  func withhold(_ path: [UInt8], from missing: MissingContents) throws(ArchiveError) {
    try settle()
    try missing.claim(path, position: 0) { link, wasGiven, hasSuccessor throws(ArchiveError) in
      if wasGiven {
        // Of those that got the content the first is there; the others find it gone and say so.
        if isKept(XXH3.hash64(link.path.span)) { return .nothing }
        if try exists(link.path) { try remove(link.path) } else if !hasSuccessor { return .nothing }
      }
      uncount()
      skip(link.path, "\(Self.phrase(path)), which is incomplete in the archive; left out")
      return .nothing
    }
  }

  private func leaveOut(_ link: PendingLink, isPipe: Bool) {
    uncount()
    let reason = link.place.isEmpty ? "which is not extracted" : "where another file stays"
    let fault = isPipe ? "and what came out of a pipe does not come again" : "behind more links than are followed"
    skip(link.path, "\(Self.phrase(link.target)), \(reason), \(fault); left out")
  }

  // MARK: One link

  /// Whether no file of this run can be what the link refers to.
  private func isMissing(_ link: PendingLink) -> Bool {
    link.place.isEmpty || isKept(XXH3.hash64(link.place.span))
  }

  /// Whether a later member has the name.
  private func isSuperseded(_ link: PendingLink) -> Bool {
    guard let later = superseded[XXH3.hash64(link.path.span)] else { return false }
    return link.position < later
  }

  /// Whether this run has made the file, link or node that the link refers to.
  private func isMade(_ link: PendingLink) throws(ArchiveError) -> Bool {
    guard !isMissing(link) else { return false }
    let hash = XXH3.hash64(link.place.span)
    guard names.find(hash) == .other, !waitingNames.contains(hash) else { return false }
    return try exists(link.place)
  }

  private func exists(_ path: [UInt8]) throws(ArchiveError) -> Bool {
    do throws(SystemError) {
      let (parent, name) = try leaves.locate(path)
      _ = try FileSystem.status(at: parent, name)
      return true
    } catch {
      if error.isNotFound || error.isNotDirectory { return false }
      throw ArchiveError(error, path: path)
    }
  }

  /// Whether the link can have its name; what was there before the run stays, unless it is to be replaced.
  private func isFree(_ link: PendingLink) throws(ArchiveError) -> Bool {
    if destination.isNew || link.replacesOwn || destination.overwrite == .replace { return true }
    guard try exists(link.path) else { return true }
    if destination.overwrite == .keep {
      uncount()
      noteKept(link.path)
    } else {
      destination.keep(link.path)
      try refuse(link, Self.alreadyThere)
    }
    return false
  }

  private func refuse(_ link: PendingLink, _ error: ArchiveError) throws(ArchiveError) {
    try reject(link.path, error)
    uncount()
  }

  private func makeLink(_ link: PendingLink) throws(ArchiveError) {
    guard try isFree(link) else { return }
    do throws(SystemError) {
      let (targetParent, targetName) = try leaves.locate(link.place)
      // The cursor's answer is good until the next call only.
      let held = try Descriptor.duplicate(of: targetParent)
      let (parent, name) = try leaves.locate(link.path)
      if destination.isNew && !link.replacesOwn {
        try FileSystem.makeHardLink(from: held.rawValue, targetName, to: parent, name)
        // An earlier link of the name may have waited before a directory took it.
        if !waitingNames.isEmpty { waitingNames.remove(XXH3.hash64(link.path.span)) }
        return
      }
      let temporary = try destination.temporaryName()
      try FileSystem.makeHardLink(from: held.rawValue, targetName, to: parent, temporary)
      do throws(SystemError) {
        if link.replacesOwn || destination.overwrite == .replace {
          try FileSystem.rename(from: parent, temporary, to: parent, name)
          // Renaming a link over another name of the same file does nothing: the temporary name has to go.
          destination.removeUnfinished(at: parent, temporary)
        } else {
          try FileSystem.renameWithoutReplacing(from: parent, temporary, to: parent, name)
        }
      } catch {
        destination.removeUnfinished(at: parent, temporary)
        throw error
      }
      waitingNames.remove(XXH3.hash64(link.path.span))
    } catch {
      let message = "\(Self.phrase(link.target)) failed: \(error.message)"
      if error.isNotFound {
        uncount()
        return skip(link.path, "\(message); left out")
      }
      try refuse(link, ArchiveError(error.alreadyExists ? .exists : .rejected, message))
    }
  }
}
