import ProgramDriver
import SDBus
import Synchronization
import Testing

/// Replaces fprintd on a private bus by an older one without `finger-needed` and `finger-present`: one reader, one
/// enrolled finger, and scans that end when the test says so.
final class OldFprintdStandIn: Sendable {
  private static let device = BusTarget(
    path: "/net/reactivated/Fprint/Device/0", interface: "net.reactivated.Fprint.Device")

  private let connection: BusConnection
  private let starts: StartedScans

  init(on bus: PrivateBus) async throws {
    let starts = StartedScans()
    self.starts = starts
    connection = try BusConnection(
      busAddress: bus.address, handlers: .init(call: { Self.answer($0, starts) }))
    let answer = try await connection.call(
      MessageBus.target, "RequestName", [.string("net.reactivated.Fprint"), .uint32(0)])
    try #require(answer.first?.asUInt32 == 1)
  }

  var scansStarted: Int { starts.count.withLock { $0 } }

  func endScan(_ word: String) {
    connection.emit(Self.device, "VerifyFingerSelected", [.string("right-index-finger")])
    connection.emit(Self.device, "VerifyStatus", [.string(word), .boolean(true)])
  }

  func close() { connection.close() }

  private static func answer(_ call: BusCall, _ starts: StartedScans) {
    switch call.member {
    case "GetDevices": call.answer([.array(of: "o", [.objectPath(device.path)])])
    case "GetAll":
      call.answer([
        .dictionary(["name": .string("old"), "scan-type": .string("press"), "num-enroll-stages": .int32(5)])
      ])
    case "ListEnrolledFingers": call.answer([.array(of: "s", [.string("right-index-finger")])])
    case "VerifyStart":
      starts.count.withLock { $0 += 1 }
      call.answer()
    case "Claim", "Release", "VerifyStop": call.answer()
    default: call.fail("org.freedesktop.DBus.Error.UnknownMethod", "no such member")
    }
  }
}

private final class StartedScans: Sendable {
  let count = Mutex(0)
}
