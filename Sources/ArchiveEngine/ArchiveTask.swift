public import ArchiveIO
internal import Dispatch

/// The asynchronous face of the engine. Every call runs on a thread of its own, never on the cooperative pool, and is cancelled with its task.
public enum ArchiveTask {
  /// Runs blocking work of the engine outside the cooperative pool.
  ///
  /// ```swift
  /// let summary = try await ArchiveTask.run { token in
  ///   let reader = try ArchiveReader(path: path, cancellation: token)
  ///   return try reader.extract(to: directory)
  /// }
  /// ```
  ///
  /// - Parameter body: gets the token that the task's cancellation cancels; it makes, uses and releases its writers and readers itself.
  public static func run<Result: Sendable>(
    _ body: @escaping @Sendable (CancellationToken) throws(ArchiveError) -> Result
  ) async throws(ArchiveError) -> Result {
    let token = CancellationToken()
    let outcome: Swift.Result<Result, ArchiveError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        DispatchQueue(label: "archive-task").async {
          do throws(ArchiveError) {
            continuation.resume(returning: .success(try body(token)))
          } catch { continuation.resume(returning: .failure(error)) }
        }
      }
    } onCancel: {
      token.cancel()
    }
    return try outcome.get()
  }
}
