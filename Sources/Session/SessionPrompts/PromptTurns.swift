internal import Primitives
internal import SDBus

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
  package nonisolated(nonsending) func run<Value: Sendable, Failure: Error>(
    for program: String, _ body: nonisolated(nonsending) () async throws(Failure) -> Value
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

/// This process's turn to prompt, among all programs of Whorl in the session: the owner of the bus name
/// `org.whorl.Prompt` may prompt. The bus queues the others in order.
final class SessionTurn: Sendable {
  private static let name = "org.whorl.Prompt"
  /// The longest wait for a bus that does not answer.
  private static let answerLimit = Duration.seconds(2)

  private let bus: BusConnection

  /// Waits for the turn. Nil without a bus.
  ///
  /// - Parameters:
  ///   - address: of the session's bus.
  ///   - limit: after this wait the prompt is shown anyway, since another program may never release the name.
  init?(onBus address: String, within limit: Duration) async {
    let (acquired, arrival) = AsyncStream.makeStream(of: Void.self)
    do throws(BusError) {
      bus = try BusConnection(
        busAddress: address,
        handlers: .init(
          signal: { signal in
            guard signal.sender == MessageBus.name, signal.member == "NameAcquired",
              signal.arguments == [.string(Self.name)]
            else { return }
            arrival.finish()
          }, closed: { arrival.finish() }))
    } catch {
      return nil
    }
    do throws(BusError) {
      // 0: no flags. Answer 2: this connection waits in the queue for the name.
      let answer = try await bus.call(
        MessageBus.target, "RequestName", [.string(Self.name), .uint32(0)], within: Self.answerLimit)
      guard answer.first?.asIdentifier(UInt32.self) == 2 else { return }
    } catch {
      return
    }
    let timer = LoopTimer(after: limit) { arrival.finish() }
    // Also ends when the task is cancelled.
    for await _ in acquired {}
    timer.cancel()
  }

  /// Ends the turn, or leaves the queue.
  func end() { bus.close() }
}
