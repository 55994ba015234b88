internal import Primitives
internal import SDBus
package import SecretModel
internal import Synchronization

/// The actions of the service's polkit policy.
///
/// Only root, or the user named by an action's annotation `org.freedesktop.policykit.owner`, may ask polkit about other
/// users' programs. So each action needs that annotation, with the service's user.
package enum PolkitAction: String, Sendable, Hashable, CaseIterable {
  /// To ask for a finger.
  case use = "org.whorl.use"
  /// To change the enrolled fingers.
  case enroll = "org.whorl.enroll"
  /// To enrol a finger if only administrators may: asks for an administrator's password.
  case enrollAsAdministrator = "org.whorl.enroll-as-administrator"
  /// To test and to record the reader: asks for an administrator's password.
  case manage = "org.whorl.manage"
  /// To make the user's store or a new device key for it, to enrol its first finger and to replace its recovery key: asks
  /// for the user's password.
  case own = "org.whorl.own"
}

/// polkit's answer.
package enum PolkitVerdict: Sendable, Hashable {
  case allowed
  case denied
  /// A password is needed, but prompts are not allowed, or no authentication agent runs.
  case needsPassword
  /// The user dismissed the dialogue.
  case dismissed
  /// The user typed a wrong password.
  case wrongPassword
  /// polkit could not be reached, did not answer in time, or sent a malformed answer; the value says which.
  case unavailable(String)
}

/// Asks polkit what a program may do.
package final class Polkit: Sendable {
  /// How long a person has to type a password.
  private static let questionLimit = Duration.seconds(180)
  private static let path = "/org/freedesktop/PolicyKit1/Authority"
  private static let interface = "org.freedesktop.PolicyKit1.Authority"

  private let service: SystemBusService
  private let lastQuestion = Atomic<UInt64>(0)

  /// - Parameter bus: the address of the bus that polkit is on; tests use another one.
  package init(bus: String? = nil) {
    // The user that polkit runs as differs between distributions. The bus lets no other user own the name.
    service = SystemBusService("org.freedesktop.PolicyKit1", on: bus ?? MessageBus.system, ownedBy: nil)
  }

  /// Whether this program may perform the action.
  ///
  /// polkit gives the same answer if its rules forbid the action and if a wrong password was typed. So it is first
  /// asked without a prompt.
  ///
  /// - Parameters:
  ///   - asking: whether polkit may ask for a password. Cancelling the task closes that dialogue.
  ///   - message: what that dialogue says, in place of the action's message. polkit takes it only from root and from the
  ///     action's owner.
  package func authorize(
    _ action: PolkitAction, for caller: Caller, asking: Bool, message: String? = nil
  ) async -> PolkitVerdict {
    let first = await check(action, for: caller, asking: false, nil)
    guard asking, first == .needsPassword else { return first }
    let answer = await check(action, for: caller, asking: true, message)
    return answer == .denied ? .wrongPassword : answer
  }

  private func check(
    _ action: PolkitAction, for caller: Caller, asking: Bool, _ message: String?
  ) async -> PolkitVerdict {
    guard let process = PinnedProcess(of: caller) else { return .unavailable("the program has ended") }
    let question = "whorl-\(lastQuestion.add(1, ordering: .relaxed).newValue)"
    let subject = BusValue.structure([
      .string("unix-process"),
      .dictionary([
        "pid": .uint32(UInt32(process.id)), "start-time": .uint64(process.started),
        "uid": .int32(Int32(bitPattern: caller.user)),
      ]),
    ])
    do throws(BusError) {
      let authority = try await service.running()
      let answer: [BusValue]
      do throws(BusError) {
        answer = try await authority.call(
          Self.path, Self.interface, "CheckAuthorization",
          [
            subject, .string(action.rawValue), .texts(message.map(Self.details) ?? [:]),
            .uint32(asking ? 1 : 0), .string(question),
          ],
          within: asking ? Self.questionLimit : nil)
      } catch {
        if asking { await close(question, of: authority) }
        throw error
      }
      guard process.isRunning else { return .unavailable("the program has ended") }
      return PolkitVerdict(answer) ?? .unavailable("polkit gave no valid answer")
    } catch {
      return .unavailable(error.asPolkitWords)
    }
  }

  /// The message, which polkit translates into the language of the dialogue, by the installed catalogue of this domain.
  private static func details(_ message: String) -> [String: String] {
    ["polkit.message": message, "polkit.gettext_domain": Text.domain]
  }

  /// Cancels a check of polkit, which closes its dialogue. Fails if polkit has already ended the check.
  private func close(_ question: String, of authority: BusService) async {
    await Task(executorPreference: BackgroundThread.shared) {
      _ = try? await authority.call(
        Self.path, Self.interface, "CancelCheckAuthorization", [.string(question)])
    }.value
  }
}

extension PolkitVerdict {
  /// Reads `(bba{ss})`: whether it is authorized, whether a password would make it so, and details.
  fileprivate init?(_ answer: [BusValue]) {
    guard let result = answer.first?.asStructure, result.count == 3, let isAuthorized = result[0].asBoolean,
      let isChallenge = result[1].asBoolean, let details = result[2].asTexts
    else { return nil }
    self =
      if isAuthorized { .allowed } else if details["polkit.dismissed"] != nil { .dismissed } else if isChallenge {
        .needsPassword
      } else { .denied }
  }
}

extension BusError {
  fileprivate var asPolkitWords: String {
    switch self {
    case .remote(let name, let message, _): "polkit: \(message.isEmpty ? name : message)"
    case .disconnected, .notSent: "polkit has ended"
    case .cancelled: "the question was cancelled"
    case .tooLarge, .malformed: "polkit gave no valid answer"
    case .system: "polkit gave no answer"
    }
  }
}
