internal import Glibc
package import SDBus
import Synchronization

/// Replaces polkit on a private bus: answers as configured, and keeps the requests.
package final class PolkitStandIn: Sendable {
  package enum Manner: Sendable {
    case answers(authorized: Bool, challenge: Bool, details: [String: String] = [:])
    /// Asks for a password, and gets this many wrong ones before the right one.
    case password(wrong: Int)
    /// Asks for a password, and nobody types one.
    case waitsForPassword
    /// Never answers.
    case silent
    case nonsense
    case error
  }

  package struct Question: Sendable {
    package let kind: String?
    package let subject: [String: BusValue]
    package let action: String?
    package let details: [String: String]
    package let flags: UInt32?
    package let number: String?
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

  package init(on bus: PrivateBus) async throws {
    let state = SharedState()
    self.state = state
    connection = try BusConnection(busAddress: bus.address, handlers: .init(call: { Self.answer($0, state) }))
    let answer = try await connection.call(
      MessageBus.target, "RequestName", [.string("org.freedesktop.PolicyKit1"), .uint32(0)])
    guard answer.first?.asUInt32 == 1 else { throw SystemFailure("the name of polkit is taken", EEXIST) }
  }

  package func close() { connection.close() }

  package var manner: Manner {
    get { state.value.withLock { $0.manner } }
    set { state.value.withLock { $0.manner = newValue } }
  }
  package var questions: [Question] { state.value.withLock { $0.questions } }
  package var cancelled: [String] { state.value.withLock { $0.cancelled } }

  /// Allows what it has left unanswered, and all from now on.
  package func answerAll() {
    state.value.withLock { state in
      state.manner = .answers(authorized: true, challenge: false)
      for call in state.unanswered { call.answer([.structure([.boolean(true), .boolean(false), .texts([:])])]) }
      state.unanswered = []
    }
  }

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
          action: call.arguments[1].asString, details: call.arguments[2].asTexts ?? [:],
          flags: call.arguments[3].asUInt32, number: call.arguments[4].asString))
      switch state.manner {
      case .answers(let authorized, let challenge, let details):
        call.answer([.structure([.boolean(authorized), .boolean(challenge), .texts(details)])])
      case .password(let wrong):
        // Without a question, polkit says that a password is needed. A wrong one gets the same answer as a forbidden
        // action.
        let asks = call.arguments[3].asUInt32 == 1
        if asks { state.manner = .password(wrong: wrong - 1) }
        call.answer([.structure([.boolean(asks && wrong == 0), .boolean(!asks), .texts([:])])])
      case .waitsForPassword where call.arguments[3].asUInt32 == 0:
        call.answer([.structure([.boolean(false), .boolean(true), .texts([:])])])
      case .silent, .waitsForPassword: state.unanswered.append(call)
      case .nonsense: call.answer([.boolean(true)])
      case .error:
        call.fail(
          "org.freedesktop.PolicyKit1.Error.Failed", "Action \(call.arguments[1].asString ?? "") is not registered")
      }
    }
  }
}
