// Calls without an answer yet: those that this side has made, and those of the peer.

internal import CSystemd
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

/// The answer to a call that was sent. It may come before the caller waits for it.
final class AwaitedAnswer: Sendable {
  typealias Answer = WaitingCalls.Answer

  private enum State {
    case none
    case given(Answer)
    case awaited(CheckedContinuation<Answer, Never>)
  }

  private let state = Mutex(State.none)

  /// Call it once.
  func give(_ answer: Answer) {
    let waiting: CheckedContinuation<Answer, Never>? = state.withLock { state in
      guard case .awaited(let continuation) = state else {
        state = .given(answer)
        return nil
      }
      return continuation
    }
    waiting?.resume(returning: answer)
  }

  /// Waits for the answer. Read it once.
  var value: Answer {
    get async {
      await withCheckedContinuation { continuation in
        let answer: Answer? = state.withLock { state in
          if case .given(let answer) = state { return answer }
          state = .awaited(continuation)
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    }
  }
}

/// Identifies a call that is not answered yet, on its connection.
struct BusCallID: Hashable, Sendable {
  /// The unique name of the caller on a bus; nil without a bus.
  let sender: String?
  let cookie: UInt64
}

/// A call of the peer that is not answered yet.
///
/// The call's message is not kept: sd-bus keeps all descriptors that came with a message, up to 1,024, and its body names
/// only some of them.
struct OpenCall {
  /// The unique name of the caller on a bus.
  private let sender: String?
  /// The caller's number of the call.
  private let cookie: UInt64
  let wantsAnswer: Bool

  init(_ id: BusCallID, _ message: BusMessage) {
    sender = id.sender
    cookie = id.cookie
    wantsAnswer = message.wantsAnswer
  }

  /// The values of an answer, and how its message is made.
  struct Answer {
    let values: [BusValue]
    let make: (_ bus: OpaquePointer, _ message: inout OpaquePointer?) -> Int32
  }

  func answer(_ result: Result<[BusValue], BusError>, on bus: OpaquePointer) throws(BusError) -> Answer {
    let call = try standIn(on: bus)
    switch result {
    case .success(let values):
      return Answer(values: values) { _, answer in sd_bus_message_new_method_return(call.pointer, &answer) }
    case .failure(.remote(let name, let text, let details)):
      return Answer(values: details) { _, answer in
        name.withCString { name in
          text.withCString { text in
            // sd-bus copies both strings
            var error = sd_bus_error(name: name, message: text, _need_free: 0)
            return sd_bus_message_new_method_error(call.pointer, &answer, &error)
          }
        }
      }
    case .failure(let error): throw error
    }
  }

  /// A call with the sender and the number of the one that was received, for which sd-bus makes an answer.
  private func standIn(on bus: OpaquePointer) throws(BusError) -> BusMessage {
    var pointer: OpaquePointer?
    // transfer full: the new message is ours
    try checked(sd_bus_message_new_method_call(bus, &pointer, nil, "/", "org.freedesktop.DBus.Peer", "Ping"))
    guard let pointer else { throw .disconnected }
    let message = BusMessage(taking: pointer)
    // sd-bus copies the name
    if let sender { try checked(sd_bus_message_set_sender(message.pointer, sender)) }
    try checked(sd_bus_message_seal(message.pointer, cookie, 0))
    return message
  }
}

extension BusError {
  static let tooManyUnreadAnswers = remote(
    name: "org.freedesktop.DBus.Error.LimitsExceeded", message: "too many answers have not been read")
  static let unreadableArguments = remote(
    name: "org.freedesktop.DBus.Error.InvalidArgs", message: "the arguments cannot be read")
}
