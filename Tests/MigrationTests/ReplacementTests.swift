import AppMigrationHost
import ArchiveIO
import TestSupport
import Testing

@Suite struct ReplacementTests {
  @Test func emptyMeansNothingButTheUsualDirectories() throws {
    let place = try Place()
    let root = place.directory.root.rawValue
    #expect(try ContainerReplacement.isEmpty(place.layout))
    try place.layout.prepare()
    #expect(try ContainerReplacement.isEmpty(place.layout))
    for name in ["c/Documents/f", "c/Library/f", "c/Library/Application Support/f", "c/.hidden"] {
      try put("", at: root, name)
      #expect(try !ContainerReplacement.isEmpty(place.layout), "\(name)")
      try FileSystem.removeFile(at: root, Array(name.utf8))
    }
    try makeDirectory(at: root, "c/Library/Caches")
    #expect(try !ContainerReplacement.isEmpty(place.layout))
  }

  @Test func movingAsideKeepsModeAndOwnerAndRestoringGivesTheSameBack() throws {
    let place = try Place()
    let root = place.directory.root.rawValue
    try place.layout.prepare()
    try put("old", at: root, "c/Documents/f")
    try FileSystem.setMode(at: root, [0x63], 0o750)
    if ProcessFacts.effectiveUserID == 0 { try FileSystem.setOwner(at: root, [0x63], userID: 65534, groupID: 65534) }
    let old = try FileSystem.status(at: root, [0x63])
    let before = try place.listing().filter { $0.hasPrefix("c/") }
    try ContainerReplacement.moveAside(place.layout)
    let new = try FileSystem.status(at: root, [0x63])
    #expect(new.mode == 0o750 && new.userID == old.userID && new.groupID == old.groupID && new.inode != old.inode)
    #expect(try place.listing().filter { $0.hasPrefix("c/") } == ["c/"])
    // A second one must not put the first old container at risk.
    #expect(
      message(.container) { try ContainerReplacement.moveAside(place.layout) }?.contains("older container") == true)
    try put("new", at: root, "c/g")
    try ContainerReplacement.restore(place.layout)
    try ContainerReplacement.restore(place.layout)
    #expect(try FileSystem.status(at: root, [0x63]).inode == old.inode)
    #expect(try place.listing().filter { $0.hasPrefix("c/") } == before)
  }

  @Test func restoringWorksWhateverHasTakenThePlace() throws {
    for kind in ["nothing", "file", "link", "closed"] {
      let place = try Place()
      let root = place.directory.root.rawValue
      try place.layout.prepare()
      try put("old", at: root, "c/f")
      try ContainerReplacement.moveAside(place.layout)
      if kind == "closed" {
        try makeDirectory(at: root, "c/d")
        try FileSystem.setMode(at: root, Array("c/d".utf8), 0)
        try FileSystem.setMode(at: root, [0x63], 0)
      } else {
        try FileSystem.removeDirectory(at: root, [0x63])
        try makeDirectory(at: root, "other")
        try put("kept", at: root, "other/f")
        if kind == "file" { try put("x", at: root, "c") }
        if kind == "link" { try FileSystem.makeSymlink(to: Array("other".utf8), at: root, [0x63]) }
      }
      try ContainerReplacement.restore(place.layout)
      let listing = try place.listing()
      #expect(listing.contains("c/f=old"), "\(kind)")
      #expect(kind == "closed" || listing.contains("other/f=kept"), "\(kind)")
      #expect(!listing.contains { $0.contains("previous") })
    }
  }

  @Test func emptyingKeepsTheDirectoryItself() throws {
    let place = try Place()
    let root = place.directory.root.rawValue
    try place.layout.prepare()
    try put("x", at: root, "other")
    try put("1", at: root, "c/Documents/f")
    try FileSystem.makeSymlink(to: Array("../other".utf8), at: root, Array("c/link".utf8))
    try FileSystem.setMode(at: root, Array("c/Documents".utf8), 0o500)
    try FileSystem.setMode(at: root, [0x63], 0o711)
    let before = try FileSystem.status(at: root, [0x63])
    try ContainerReplacement.empty(place.layout)
    try ContainerReplacement.empty(place.layout)
    let after = try FileSystem.status(at: root, [0x63])
    #expect(after.inode == before.inode && after.mode == 0o711)
    #expect(try place.listing() == ["c/", "other=x"])
    // One that is a symlink is not followed.
    try FileSystem.removeDirectory(at: root, [0x63])
    try makeDirectory(at: root, "victim")
    try put("1", at: root, "victim/f")
    try FileSystem.makeSymlink(to: Array("victim".utf8), at: root, [0x63])
    #expect(message(.container) { try ContainerReplacement.empty(place.layout) }?.contains("symlink") == true)
    #expect(try place.listing().contains("victim/f=1"))
  }

  @Test func discardingRemovesTheOldContainerAlone() throws {
    let place = try Place()
    try place.layout.prepare()
    try ContainerReplacement.moveAside(place.layout)
    try put("new", at: place.directory.root.rawValue, "c/f")
    try ContainerReplacement.discardPrevious(place.layout)
    try ContainerReplacement.discardPrevious(place.layout)
    #expect(try place.listing() == [".c.migration/", "c/", "c/f=new"])
  }
}
