internal import Glibc
package import Primitives
internal import Processes
internal import SDBus
internal import SecretModel
internal import Whorl

/// This user's fingers in fprintd. A reader process of this program lists, enrols and deletes them with the permission
/// of the person's session, like the desktop's settings. fprintd only allows the system service, which has no session,
/// to verify.
package struct FprintdFingers {
  package let context: any SettingsContext

  package init(_ context: any SettingsContext) { self.context = context }

  /// The fingers on fprintd's first reader.
  package func enrolled() async throws(Failure) -> (reader: ReaderDescription, fingers: [Finger]) {
    try await opened(nil) { reader, description throws(ReaderError) in
      let prints = try await reader.storedPrints(knowing: []).unknown.compactMap { FprintdPrint($0) }
      return (description, prints.map(\.finger))
    }
  }

  /// Where fingers can be enrolled without Whorl.
  package static var advice: String {
    "do it in the desktop's settings (Users, Fingerprint), or with 'sudo fprintd-enroll \(Account.ownName)'"
  }

  /// Whether fprintd has a finger on its first reader. It does not claim the reader, which an enrolling program needs.
  /// Nil if fprintd does not say.
  package func isAnyEnrolled() async -> Bool? {
    let address = (context.configuration.fprintd ?? .system).bus
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

  package func opened<Answer: Sendable>(
    _ id: String?,
    _ body: (any FingerprintReader, ReaderDescription) async throws(ReaderError) -> Answer
  ) async throws(Failure) -> Answer {
    let reader = context.ownReaders.reader(.fprintd(device: nil), fprintd: context.configuration.fprintd)
    context.atInterruption { Task { await reader.shutdown() } }
    let result: Result<Answer, ReaderError>
    do throws(ReaderError) {
      guard let wanted = try await reader.readers().first(where: { id == nil || $0.id == id }) else { throw .absent }
      result = .success(try await body(reader, try await reader.open(wanted.id)))
    } catch {
      result = .failure(error)
    }
    await reader.shutdown()
    context.atInterruption(nil)
    do throws(ReaderError) { return try result.get() } catch { throw context.explained(error) }
  }
}

/// polkit's answer about enrolling a finger in fprintd, without a prompt. Only for messages: fprintd asks polkit again.
package enum EnrolmentPermission {
  case given
  case withPassword
  case refused
  case unknown

  package static func ofThisProgram() -> Self {
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
