internal import ArchiveEngine

/// A command's arguments, taken apart but not yet understood. Everything is bytes: names need not be UTF-8.
package struct ParsedArguments: Sendable {
  /// What is not an option, in order.
  package private(set) var operands: [[UInt8]] = []
  private var options: [(name: String, value: [UInt8])] = []

  /// Takes the arguments apart. Options and operands may be mixed; `--` ends the options, and `-` is an operand.
  package init(_ arguments: [[UInt8]], options specs: [OptionSpec]) throws(Failure) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument.elementsEqual("--".utf8) {
        operands += rest
        break
      } else if argument.starts(with: "--".utf8) {
        try parseLong(Array(argument.dropFirst(2)), specs, &rest)
      } else if argument.count > 1, argument.first == UInt8(ascii: "-") {
        try parseShort(argument[1...], specs, &rest)
      } else {
        operands.append(argument)
      }
    }
  }

  private mutating func parseLong(
    _ text: [UInt8], _ specs: [OptionSpec], _ rest: inout ArraySlice<[UInt8]>
  ) throws(Failure) {
    let equals = text.firstIndex(of: UInt8(ascii: "="))
    let name = text[..<(equals ?? text.count)]
    guard let spec = specs.first(where: { name.elementsEqual($0.name.utf8) }) else {
      throw .usage("unknown option --" + PathText.printable(Array(name)))
    }
    guard spec.value != nil else {
      if equals != nil { throw .usage("--\(spec.name) takes no value") }
      options.append((spec.name, []))
      return
    }
    if let equals {
      options.append((spec.name, Array(text[(equals + 1)...])))
    } else {
      try takeValue(of: spec, &rest)
    }
  }

  private mutating func parseShort(
    _ letters: ArraySlice<UInt8>, _ specs: [OptionSpec], _ rest: inout ArraySlice<[UInt8]>
  ) throws(Failure) {
    var letters = letters
    while let letter = letters.popFirst() {
      guard let spec = specs.first(where: { $0.short?.asciiValue == letter }) else {
        throw .usage("unknown option -" + PathText.printable([letter]))
      }
      if spec.value == nil {
        options.append((spec.name, []))
      } else if letters.isEmpty {
        try takeValue(of: spec, &rest)
      } else {
        options.append((spec.name, Array(letters)))
        return
      }
    }
  }

  private mutating func takeValue(of spec: OptionSpec, _ rest: inout ArraySlice<[UInt8]>) throws(Failure) {
    guard let value = rest.popFirst() else { throw .usage("--\(spec.name) needs a value (\(spec.value ?? ""))") }
    options.append((spec.name, value))
  }

  // MARK: Options

  /// Whether a flag was given.
  package func has(_ spec: OptionSpec) -> Bool { options.contains { $0.name == spec.name } }

  /// All values of an option, in order.
  package func values(_ spec: OptionSpec) -> [[UInt8]] { options.filter { $0.name == spec.name }.map(\.value) }

  /// The last value of an option.
  package func bytes(_ spec: OptionSpec) -> [UInt8]? { options.last { $0.name == spec.name }?.value }

  /// Of two flags that contradict each other, whether the first was given last; nil if none was.
  package func choice(_ yes: OptionSpec, _ no: OptionSpec) -> Bool? {
    options.last { $0.name == yes.name || $0.name == no.name }.map { $0.name == yes.name }
  }

  /// The last value of an option as text.
  package func text(_ spec: OptionSpec) -> String? { bytes(spec).map { PathText.printable($0) } }

  /// A whole number within a range.
  package func number<N: FixedWidthInteger>(_ spec: OptionSpec, in range: ClosedRange<N>) throws(Failure) -> N? {
    guard let text = text(spec) else { return nil }
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = N(text), range.contains(number) else {
      let bounds = range.upperBound == .max ? "from \(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
      throw .usage("--\(spec.name): \"\(text)\" is not a whole number \(bounds)")
    }
    return number
  }

  /// A size in bytes.
  package func size(_ spec: OptionSpec) throws(Failure) -> UInt64? {
    guard let text = text(spec) else { return nil }
    guard let size = SizeText.parse(text) else {
      throw .usage("--\(spec.name): \"\(text)\" is not a size; examples: 512K, 4M, 2G")
    }
    return size
  }

  /// One of a few words.
  package func word<Value>(_ spec: OptionSpec, _ words: [(String, Value)]) throws(Failure) -> Value? {
    guard let text = text(spec) else { return nil }
    guard let found = words.first(where: { $0.0 == text }) else {
      let known = words.map(\.0).joined(separator: ", ")
      throw .usage("--\(spec.name): \"\(text)\" is not one of \(known)")
    }
    return found.1
  }
}
