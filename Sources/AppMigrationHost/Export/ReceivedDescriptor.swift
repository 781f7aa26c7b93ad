package import ArchiveIO
internal import CMigrationShims

/// Judges a descriptor that an extension has sent, before anything is read from it.
package enum ReceivedDescriptor {
  /// Why it is not taken; nil when it is.
  package static func refusal(of descriptor: SharedDescriptor) -> String? {
    switch amk_judge_descriptor(descriptor.rawValue) {
    case 1, 2: nil
    case Int32(AMK_DESCRIPTOR_PATH_ONLY):
      "its descriptor was opened with O_PATH, which may lead to what may not be read"
    case Int32(AMK_DESCRIPTOR_WRITE_ONLY): "its descriptor is not open for reading"
    case Int32(AMK_DESCRIPTOR_PSEUDO): "it lies on a file system of the kernel's"
    case Int32(AMK_DESCRIPTOR_KIND): "it is neither a file nor a directory"
    default: "its descriptor cannot be examined"
    }
  }
}
