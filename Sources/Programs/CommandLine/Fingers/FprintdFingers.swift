import Fingerprint
import Glibc
import Processes
internal import PromptTexts
import SDBus
import SecretModel
import Synchronization
internal import TerminalLines
import Whorl

/// This user's fingers in fprintd. A reader process of this program lists, enrols and deletes them with the permission
/// of the person's session, like the desktop's settings. fprintd only allows the system service, which has no session,
/// to verify.
struct FprintdFingers {
  let session: Session

  /// The fingers on fprintd's first reader.
  func enrolled() async throws(Failure) -> (reader: ReaderDescription, fingers: [Finger]) {
    try await opened(nil) { reader, description throws(ReaderError) in
      let prints = try await reader.storedPrints(knowing: []).unknown.compactMap { FprintdPrint($0) }
      return (description, prints.map(\.finger))
    }
  }

  /// Enrols a finger. fprintd asks for the login password first, unless it was given recently in this session.
  func enroll(_ finger: Finger, on chosen: ReaderDescription) async throws(Failure) {
    let line = Line()
    try await changing { () async throws(Failure) in
      try await opened(chosen.id) { reader, description throws(ReaderError) in
        let request = TouchRequest(purpose: .enroll(finger), reader: description, passcodeInstead: false)
        _ = try await reader.enroll(as: finger) { line.show($0, asking: request) }
      }
    }
    line.finish()
  }

  /// Deletes a finger, or with nil all of them. Does nothing for one that fprintd does not have.
  func delete(_ finger: Finger?, on chosen: ReaderDescription) async throws(Failure) {
    try await changing { () async throws(Failure) in
      try await opened(chosen.id) { reader, _ throws(ReaderError) in
        let templates = try await reader.storedPrints(knowing: []).unknown
        for template in templates where finger == nil || FprintdPrint(template)?.finger == finger {
          do throws(ReaderError) {
            try await reader.delete(template)
          } catch {
            guard error == .deletesOnlyAllFingers, finger == nil else { throw error }
            return try await reader.clearStorage()
          }
        }
      }
    }
  }

  /// Refuses a session that fprintd would refuse, such as one over ssh, before any prompt. fprintd itself decides.
  ///
  /// - Parameter change: "enrol a finger".
  static func requirePermission(to change: String) throws(Failure) {
    guard EnrolmentPermission.ofThisProgram() != .refused else {
      throw Failure(.refused, "this session may not \(change)", advice: Self.advice)
    }
  }

  /// Runs a change of the fingers. Says before it that a password will be asked for, and which one, where the dialogue does
  /// not; and after it, that this was not given.
  private func changing(_ change: () async throws(Failure) -> Void) async throws(Failure) {
    let isAsked = EnrolmentPermission.ofThisProgram() == .withPassword
    if isAsked {
      StandardError.line(
        "The system asks for your login password, so that nobody else changes the fingers of its logins.")
    }
    do {
      try await PasswordAgent.during(change)
    } catch {
      // fprintd gives the same error for a wrong password as for a session that may not do this at all.
      guard isAsked, case .reader(.fprintdRefused)? = error.cause else { throw error }
      throw Failure(
        .refused, "the system was not given your login password", name: "LAError.userCancel",
        advice: "run it again, and type the password that you log in with")
    }
  }

  /// Where fingers can be enrolled without Whorl.
  static var advice: String {
    "do it in the desktop's settings (Users, Fingerprint), or with 'sudo fprintd-enroll \(Account.ownName)'"
  }

  /// Whether fprintd has a finger on its first reader. It does not claim the reader, which an enrolling program needs.
  /// Nil if fprintd does not say.
  func isAnyEnrolled() async -> Bool? {
    let address = (session.configuration.fprintd ?? .system).bus
    guard let bus = try? BusConnection(busAddress: address, handlers: .init()) else { return nil }
    defer { bus.close() }
    let (service, manager) = ("net.reactivated.Fprint", "net.reactivated.Fprint.Manager")
    let place = BusTarget(destination: service, path: "/net/reactivated/Fprint/Manager", interface: manager)
    do throws(BusError) {
      guard let device = try await bus.call(place, "GetDefaultDevice").first?.asObjectPath else { return nil }
      let reader = BusTarget(destination: service, path: device, interface: "net.reactivated.Fprint.Device")
      return try await bus.call(reader, "ListEnrolledFingers", [.string("")]).first?.asArray?.isEmpty == false
    } catch .remote(let name, _, _) {
      return name == "net.reactivated.Fprint.Error.NoEnrolledPrints" ? false : nil
    } catch {
      return nil
    }
  }

  private func opened<Answer: Sendable>(
    _ id: String?,
    _ body: (any FingerprintReader, ReaderDescription) async throws(ReaderError) -> Answer
  ) async throws(Failure) -> Answer {
    let reader = session.ownReaders.reader(.fprintd(device: nil), fprintd: session.configuration.fprintd)
    Interruption.onSignal { Task { await reader.shutdown() } }
    let result: Result<Answer, ReaderError>
    do throws(ReaderError) {
      guard let wanted = try await reader.readers().first(where: { id == nil || $0.id == id }) else { throw .absent }
      result = .success(try await body(reader, try await reader.open(wanted.id)))
    } catch {
      result = .failure(error)
    }
    await reader.shutdown()
    Interruption.onSignal(nil)
    do throws(ReaderError) { return try result.get() } catch { throw session.explained(error) }
  }

  /// The line with instructions during an enrolment.
  private final class Line: Sendable {
    private struct State: ~Copyable {
      var line = ProgressLine.onStandardError()
      var isAsked = false
    }

    private let state = Mutex(State())

    func show(_ event: ScanEvent, asking request: TouchRequest) {
      state.withLock { state in
        switch event {
        // The first event comes after fprintd's password prompt, which may need the terminal.
        case .fingerNeeded where !state.isAsked:
          state.isAsked = true
          state.line.show(PromptText.touch(request, keys: nil))
        case .stage(let completed, let count): state.line.tell(PromptText.stage(completed: completed, of: count))
        case .retry(let reason): state.line.tell(PromptText.retry(reason))
        case .fingerNeeded, .fingerPossible, .fingerPresent, .fingerLifted: break
        }
      }
    }

    func finish() { state.withLock { $0.line.finish() } }
  }
}

/// polkit's answer about enrolling a finger in fprintd, without a prompt. Only for messages: fprintd asks polkit again.
enum EnrolmentPermission {
  case given
  case withPassword
  case refused
  case unknown

  static func ofThisProgram() -> Self {
    let words = ["pkcheck", "--action-id", "net.reactivated.fprint.device.enroll", "--process", "\(getpid())"]
    guard let check = try? ForegroundCommand("/usr/bin/pkcheck", words, isQuiet: true) else { return .unknown }
    return switch check.status() {
    case 0: .given
    case 1: .refused
    case 2: .withPassword
    default: .unknown
    }
  }
}
