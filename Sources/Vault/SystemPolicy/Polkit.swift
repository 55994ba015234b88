internal import Executors
internal import SDBus
package import SecretModel
internal import Synchronization

/// What a program asks of the service, in the words of its polkit policy.
///
/// polkit lets only root, or the user that an action's annotation `org.freedesktop.policykit.owner` names, ask about the
/// programs of others: each action has to carry one for the service's user.
package enum PolkitAction: String, Sendable, Hashable, CaseIterable {
  /// To have a finger asked for.
  case use = "org.whorl.use"
  /// To change the enrolled fingers.
  case enroll = "org.whorl.enroll"
  /// To test and to record the reader.
  case manage = "org.whorl.manage"
  /// To create, to erase and to reset the user's store: the one action that asks for the user's password.
  case own = "org.whorl.own"
}

/// What polkit says.
package enum PolkitVerdict: Sendable, Hashable {
  case allowed
  case denied
  /// The user's password is needed, and nobody was to be asked or no program is there to ask.
  case needsPassword
  /// The user closed the question.
  case dismissed
  /// polkit was not reached, gave no answer in time or none of use; the words say why.
  case unavailable(String)
}

/// Asks polkit what a program may do.
package final class Polkit: Sendable {
  /// The time that a person has to type a password.
  private static let questionLimit = Duration.seconds(180)
  private static let path = "/org/freedesktop/PolicyKit1/Authority"
  private static let interface = "org.freedesktop.PolicyKit1.Authority"

  private let service: SystemService
  private let lastQuestion = Atomic<UInt64>(0)

  /// - Parameter bus: the address of the bus that polkit is on; tests use another one.
  package init(bus: String? = nil) {
    // polkit runs as a user of its own, whose name differs; the bus lets nobody else own the name.
    service = SystemService("org.freedesktop.PolicyKit1", on: bus ?? MessageBus.system, ownedBy: nil)
  }

  /// Whether this program may do it.
  ///
  /// - Parameter asking: whether the user may be asked for a password. Cancelling the task closes the question.
  package func authorize(_ action: PolkitAction, for caller: Caller, asking: Bool) async -> PolkitVerdict {
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
          [subject, .string(action.rawValue), .texts([:]), .uint32(asking ? 1 : 0), .string(question)],
          within: asking ? Self.questionLimit : nil)
      } catch {
        if asking { await close(question, of: authority) }
        throw error
      }
      guard process.isRunning else { return .unavailable("the program has ended") }
      return PolkitVerdict(answer) ?? .unavailable("polkit gave no answer of use")
    } catch {
      return .unavailable(error.asPolkitWords)
    }
  }

  /// Has polkit take a question away. There is none if polkit itself has ended it.
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
    case .disconnected: "polkit has ended"
    case .cancelled: "the question was cancelled"
    case .tooLarge, .malformed: "polkit gave no answer of use"
    case .system: "polkit gave no answer"
    }
  }
}
