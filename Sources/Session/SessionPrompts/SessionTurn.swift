internal import SDBus

/// The turn of this process to ask the person, among all programs of Whorl in the session: whoever owns the bus name
/// `org.whorl.Prompt` asks. The bus gives the name to those who wait for it in the order in which they came.
final class SessionTurn: Sendable {
  private static let name = "org.whorl.Prompt"
  /// The longest wait for a bus that does not answer.
  private static let answerLimit = Duration.seconds(2)

  private let bus: BusConnection

  /// Waits for the turn. Nil where there is no bus.
  ///
  /// - Parameters:
  ///   - address: of the session's bus.
  ///   - limit: after this wait the prompt is shown anyway, since another program may keep the name.
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
      guard answer.first?.asUInt32 == 2 else { return }
    } catch {
      return
    }
    let timer = LoopTimer(after: limit) { arrival.finish() }
    // Ends when the task is cancelled, too.
    for await _ in acquired {}
    timer.cancel()
  }

  /// Leaves the turn, or the queue, to the next one.
  func end() { bus.close() }
}
