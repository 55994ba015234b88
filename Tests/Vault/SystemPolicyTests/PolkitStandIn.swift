import ProgramDriver
import SDBus
import Synchronization
import Testing

/// Stands in for polkit on a private bus: answers as it is told, and keeps what it was asked.
final class PolkitStandIn: Sendable {
  enum Manner: Sendable {
    case answers(authorized: Bool, challenge: Bool, details: [String: String] = [:])
    /// Never answers, as while a person types.
    case silent
    case nonsense
    case error
  }

  struct Question: Sendable {
    let kind: String?
    let subject: [String: BusValue]
    let action: String?
    let flags: UInt32?
    let number: String?
  }

  private struct State {
    var manner = Manner.answers(authorized: true, challenge: false)
    var questions: [Question] = []
    var cancelled: [String] = []
    var unanswered: [BusCall] = []
  }

  private final class SharedState: Sendable {
    let value = Mutex(State())
  }

  private let state: SharedState
  private let connection: BusConnection

  init(on bus: PrivateBus) async throws {
    let state = SharedState()
    self.state = state
    connection = try BusConnection(busAddress: bus.address, handlers: .init(call: { Self.answer($0, state) }))
    let answer = try await connection.call(
      MessageBus.target, "RequestName", [.string("org.freedesktop.PolicyKit1"), .uint32(0)])
    try #require(answer.first?.asUInt32 == 1)
  }

  func close() { connection.close() }

  var manner: Manner {
    get { state.value.withLock { $0.manner } }
    set { state.value.withLock { $0.manner = newValue } }
  }
  var questions: [Question] { state.value.withLock { $0.questions } }
  var cancelled: [String] { state.value.withLock { $0.cancelled } }

  private static func answer(_ call: BusCall, _ shared: SharedState) {
    shared.value.withLock { state in
      if call.member == "CancelCheckAuthorization" {
        state.cancelled.append(call.arguments.first?.asString ?? "")
        return call.answer()
      }
      guard call.member == "CheckAuthorization", call.signature == "(sa{sv})sa{ss}us",
        let subject = call.arguments[0].asStructure
      else { return call.fail("org.freedesktop.DBus.Error.UnknownMethod", call.member) }
      state.questions.append(
        Question(
          kind: subject[0].asString, subject: subject[1].asDictionary?.compactMapValues { $0 } ?? [:],
          action: call.arguments[1].asString, flags: call.arguments[3].asUInt32, number: call.arguments[4].asString))
      switch state.manner {
      case .answers(let authorized, let challenge, let details):
        call.answer([.structure([.boolean(authorized), .boolean(challenge), .texts(details)])])
      case .silent: state.unanswered.append(call)
      case .nonsense: call.answer([.boolean(true)])
      case .error:
        call.fail(
          "org.freedesktop.PolicyKit1.Error.Failed", "Action \(call.arguments[1].asString ?? "") is not registered")
      }
    }
  }
}
