internal import Glibc

/// The arguments of this process as bytes. Those that the standard library gives as text have lost what is not UTF-8.
package enum ProcessArguments {
  /// All but the program's name.
  package static var bytes: [[UInt8]] {
    var arguments: [[UInt8]] = []
    for index in 1..<max(1, Int(CommandLine.argc)) {
      // Safe: the first argc pointers are NUL-terminated strings that live as long as the process.
      guard let argument = unsafe CommandLine.unsafeArgv[index] else { break }
      arguments.append(unsafe Array(UnsafeRawBufferPointer(start: argument, count: strlen(argument))))
    }
    return arguments
  }
}
