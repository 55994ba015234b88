internal import Executors
internal import Whorl

/// Calls of the vault, outside the thread of the window.
enum VaultWork {
  // Such a call may block its thread, for example while the vault is started.
  private nonisolated static let thread = BackgroundThread()

  nonisolated(nonsending) static func run<Value: Sendable>(
    _ call: @escaping @Sendable () async throws(VaultError) -> Value
  ) async throws(VaultError) -> Value {
    let result = await Task(executorPreference: thread) { () async -> Result<Value, VaultError> in
      do throws(VaultError) { return .success(try await call()) } catch { return .failure(error) }
    }.value
    return try result.get()
  }
}

extension VaultError {
  /// The error as a sentence for a person, with what to do.
  var sentence: String {
    let (what, advice) = (explanation.what, explanation.advice)
    return "\(what.prefix(1).uppercased())\(what.dropFirst()): \(advice)."
  }

  /// Whether the person has ended the request, and need not be told that it ended.
  var isCancel: Bool {
    switch self {
    case .cancelled, .appCancelled: true
    default: false
    }
  }
}
