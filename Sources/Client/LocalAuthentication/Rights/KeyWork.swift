internal import Executors
internal import KeychainServices

/// Runs the blocking calls of Keychain Services away from the caller's thread.
enum KeyWork {
  static func run(
    _ handler: @escaping @Sendable (Data?, (any Error)?) -> Void, _ work: @escaping @Sendable () throws -> Data
  ) {
    reply {
      do {
        handler(try work(), nil)
      } catch {
        handler(nil, error)
      }
    }
  }

  static func run(_ work: @escaping @Sendable () throws -> Data) async throws -> Data {
    try await BlockingCall.run(work)
  }

  /// Returns the result of a call, or throws the error that it has set: an `LAError` if an authentication failed.
  static func result(_ call: (UnsafeMutablePointer<Unmanaged<CFError>?>) -> CFData?) throws -> Data {
    var problem: Unmanaged<CFError>?
    if let data = call(&problem) { return data as Data }
    throw error(problem)
  }

  /// The error of a call that failed.
  static func error(_ problem: Unmanaged<CFError>?) -> any Error {
    // The call returns its error retained.
    guard let error = problem?.takeRetainedValue() else { return LAError(.authenticationFailed) }
    if let error = error as? LAError { return error }
    return error
  }
}
