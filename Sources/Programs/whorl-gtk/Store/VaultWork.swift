internal import Primitives
internal import Settings
internal import Whorl

/// Calls of the vault, outside the thread of the window.
enum VaultWork {
  // Such a call may block its thread, for example while the vault is started.
  private nonisolated static let thread = BackgroundThread()

  nonisolated(nonsending) static func run<Value: Sendable, Problem: Error>(
    _ call: @escaping @Sendable () async throws(Problem) -> Value
  ) async throws(Problem) -> Value {
    try await run(on: thread, call)
  }

  /// Runs what may take long, such as checks that wait for a reader, without holding up other calls.
  nonisolated(nonsending) static func runAside<Value: Sendable, Problem: Error>(
    _ call: @escaping @Sendable () async throws(Problem) -> Value
  ) async throws(Problem) -> Value {
    try await run(on: BackgroundThread(), call)
  }

  private nonisolated(nonsending) static func run<Value: Sendable, Problem: Error>(
    on thread: BackgroundThread, _ call: @escaping @Sendable () async throws(Problem) -> Value
  ) async throws(Problem) -> Value {
    let result = await Task(executorPreference: thread) { () async -> Result<Value, Problem> in
      do throws(Problem) { return .success(try await call()) } catch { return .failure(error) }
    }.value
    return try result.get()
  }
}

extension Failure {
  /// What failed and what to do, as a sentence for a person.
  var shown: String {
    let words = [words, advice].compactMap { $0 }.joined(separator: ": ")
    return "\(words.capitalizedStart)."
  }
}

extension VaultError {
  /// The error as a sentence for a person, with what to do.
  var sentence: String {
    let (what, advice) = (explanation.what.capitalizedStart, explanation.advice)
    return Text.of("{what}: {advice}.", ["what": what, "advice": advice])
  }

  /// Whether the person has ended the request, and need not be told that it ended.
  var isCancel: Bool {
    switch self {
    case .cancelled, .appCancelled: true
    default: false
    }
  }
}

extension String {
  /// The same with a capital, as a sentence begins.
  nonisolated var capitalizedStart: String { "\(prefix(1).uppercased())\(dropFirst())" }
}
