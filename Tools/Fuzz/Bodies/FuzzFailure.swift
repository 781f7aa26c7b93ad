/// A promise that an input breaks.
public struct FuzzFailure: Error, CustomStringConvertible {
  /// What was promised, and what came instead.
  public var description: String

  init(_ description: String) { self.description = description }
}

/// Throws unless the promise holds.
func require(_ isKept: Bool, _ promise: @autoclosure () -> String) throws(FuzzFailure) {
  if !isKept { throw FuzzFailure(promise()) }
}

/// The value of an expression that must not throw.
func mustSucceed<Value, Failure: Error>(
  _ what: @autoclosure () -> String, _ body: () throws(Failure) -> Value
) throws(FuzzFailure) -> Value {
  do throws(Failure) { return try body() } catch { throw FuzzFailure("\(what()): \(error)") }
}
