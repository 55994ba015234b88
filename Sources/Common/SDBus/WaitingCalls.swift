internal import Synchronization

/// The outgoing calls that wait for an answer, by the cookie of the message.
struct WaitingCalls {
  typealias Answer = Result<[BusValue], BusError>

  struct Call: Sendable {
    let destination: String?
    /// Nil for a call that cannot be cancelled.
    let cancellation: CallCancellation?
    /// Called once, on the loop.
    let answered: @Sendable (Answer) -> Void
  }

  private var calls: [UInt64: Call] = [:]

  var isEmpty: Bool { calls.isEmpty }

  subscript(cookie: UInt64) -> Call? { calls[cookie] }

  mutating func add(_ call: Call, _ cookie: UInt64) { calls[cookie] = call }

  func cookie(of cancellation: CallCancellation) -> UInt64? {
    calls.first { $0.value.cancellation === cancellation }?.key
  }

  mutating func remove(_ cookie: UInt64) -> Call? { calls.removeValue(forKey: cookie) }

  mutating func removeAll() -> [Call] {
    defer { calls = [:] }
    return Array(calls.values)
  }
}

/// Whether the task that made a call was cancelled. It also identifies the call, whose cookie the task does not know.
final class CallCancellation: Sendable {
  /// Called if the call was sent already; nil to drop its answer.
  let onCancel: (@Sendable () -> Void)?
  private let requested = Atomic(false)

  init(_ onCancel: (@Sendable () -> Void)?) { self.onCancel = onCancel }

  var isRequested: Bool { requested.load(ordering: .relaxed) }

  func request() { requested.store(true, ordering: .relaxed) }
}
