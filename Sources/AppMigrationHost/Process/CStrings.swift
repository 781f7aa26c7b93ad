/// Lists of C strings as `execve` takes them.
enum CStrings {
  /// Lends the strings, each with a NUL at its end, and behind them a null pointer.
  static func with<Result>(
    _ strings: [[UInt8]], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
  ) -> Result {
    // All of them in one block, so that it is one allocation that is valid during the call.
    var block: [CChar] = []
    var offsets: [Int] = []
    for string in strings {
      offsets.append(block.count)
      for byte in string { block.append(CChar(bitPattern: byte)) }
      block.append(0)
    }
    block.append(0)
    return unsafe block.withUnsafeBufferPointer { block in
      var pointers: [UnsafePointer<CChar>?] = unsafe offsets.map { unsafe block.baseAddress! + $0 }
      unsafe pointers.append(nil)
      return unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
    }
  }
}
