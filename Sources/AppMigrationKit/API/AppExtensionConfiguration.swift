/// How an extension is connected with its app.
///
/// Without XPC there is nothing to accept: on Linux the protocol has no requirements.
@MainActor @preconcurrency public protocol AppExtensionConfiguration: Sendable {}
