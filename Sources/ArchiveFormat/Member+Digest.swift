extension Member {
  /// XXH3-128 over all metadata: members with the same digest are equal.
  package var digest: Hash128 {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(128 + path.count + linkTarget.count)
    bytes.append(kind.rawValue)
    for number in [
      UInt64(mode), userID, groupID, UInt64(bitPattern: modificationTime.seconds),
      UInt64(modificationTime.nanoseconds), byteCount, UInt64(deviceMajor), UInt64(deviceMinor),
      UInt64(extendedAttributes.count),
    ] { bytes.append(littleEndian: number) }
    for string in [path, linkTarget, userName, groupName, accessACL, defaultACL] { bytes.append(string: string) }
    for attribute in extendedAttributes {
      bytes.append(string: attribute.name)
      bytes.append(string: attribute.value)
    }
    if let sparseExtents {
      bytes.append(varint: UInt64(sparseExtents.count))
      for extent in sparseExtents {
        bytes.append(littleEndian: extent.offset)
        bytes.append(littleEndian: extent.byteCount)
      }
    }
    return XXH3.hash128(bytes.span)
  }

  /// About how many bytes of memory the value takes: an attribute of two bytes takes more than a hundred.
  package var memoryByteCount: Int {
    let perArray = 48
    var count = MemoryLayout<Member>.stride
    if hasRareMetadata { count += Self.rareByteCount }
    if ownerNames.isSet { count += SharedValue<MemberOwnerNames>.byteCount }
    for string in [path, linkTarget, userName, groupName, accessACL, defaultACL] where !string.isEmpty {
      count += perArray + string.count
    }
    for attribute in extendedAttributes {
      count += MemoryLayout<ExtendedAttribute>.stride + 2 * perArray + attribute.name.count + attribute.value.count
    }
    return count + MemoryLayout<SparseExtent>.stride * (sparseExtents?.count ?? 0)
  }
}
