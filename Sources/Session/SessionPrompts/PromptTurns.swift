internal import Executors

/// Lets one request at a time prompt the person. Programs take turns, so that many requests of one program delay only
/// that program. Whorl's programs in a session take turns with each other.
package final class PromptTurns: Sendable {
  /// The longest wait for the prompts of other programs of Whorl.
  private static let sessionLimit = Duration.seconds(120)

  private let programs = FairQueue<String>()
  private let bus: String

  /// - Parameter address: of the session's bus.
  package init(onBus address: String) { bus = address }

  /// Runs `body` when it is this program's turn. Nil if the task was cancelled first.
  package func run<Value: Sendable, Failure: Error>(
    for program: String, _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value? {
    guard let turn = try? await programs.turn(for: program) else { return nil }
    guard !Task.isCancelled else { return nil }
    let sessionTurn = await SessionTurn(onBus: bus, within: Self.sessionLimit)
    defer { sessionTurn?.end() }
    let value: Value? = Task.isCancelled ? nil : try await body()
    _ = consume turn
    return value
  }
}
