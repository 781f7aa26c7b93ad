/// A value beside the structure that it belongs to: one reference, and none as long as it was not set. Copies share it until one is changed.
package struct SharedValue<Value: Sendable & Equatable & DefaultInitializable>: Sendable, Equatable {
  /// None or one. An array brings what is asked for here: sharing, and a copy of its own for who changes it.
  private var storage: [Value] = []

  package init() {}

  package init(_ value: Value) { storage = [value] }

  /// It was set, though perhaps to what it is when it was not.
  var isSet: Bool { !storage.isEmpty }

  package var value: Value {
    get { storage.isEmpty ? Value() : storage[0] }
    _modify {
      if storage.isEmpty { storage.append(Value()) }
      yield &storage[0]
    }
  }

  package static func == (left: Self, right: Self) -> Bool {
    if left.isSet && right.isSet { return left.storage == right.storage }
    return !left.isSet && !right.isSet || left.value == right.value
  }

  /// Bytes that a value takes with its array.
  static var byteCount: Int { MemoryLayout<Value>.stride + 48 }
}

/// What has a value before anything was set.
package protocol DefaultInitializable {
  init()
}
