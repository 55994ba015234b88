import Primitives
import ProgramDriver
import ReaderClient
import SDBus
import Synchronization
import Testing

/// Replaces fprintd on a private bus: readers that all have the same name unless a test names them, and scans whose
/// signals the test sends in any order.
final class FprintdStandIn: Sendable {
  /// A reader as fprintd has it.
  struct Device: Sendable {
    var name = "stand-in"
    var fingers = ["right-index-finger"]
    /// Whether the call that claims it is answered.
    var answersClaim = true
    /// The message with which it refuses to be claimed.
    var refusal: String?
    /// Whether another program has claimed it.
    var isBusy = false
    /// Whether the call that stops a scan is answered.
    var answersStop = true
    var release = Release.granted
  }

  enum Release {
    case granted, refused
    /// Refused, since the reader was unplugged: it is listed no longer then.
    case refusedWhenGone
  }

  private let connection: BusConnection
  private let readers: StandInReaders

  /// - Parameters:
  ///   - tellsFingers: false for an fprintd that has no `finger-needed` and `finger-present` yet.
  ///   - leavesAt: the method at whose first call it gives up its name instead of an answer, and takes it again.
  init(
    on bus: PrivateBus, tellsFingers: Bool, _ devices: [Device] = [Device()], leavesAt: String? = nil
  ) async throws {
    let readers = StandInReaders(devices, tellsFingers: tellsFingers, leavesAt: leavesAt)
    self.readers = readers
    connection = try BusConnection(busAddress: bus.address, handlers: .init(call: { readers.answer($0) }))
    let answer = try await connection.call(
      MessageBus.target, "RequestName", [.string("net.reactivated.Fprint"), .uint32(0)])
    try #require(answer.first?.asUInt32 == 1)
  }

  /// How often this method of the reader was called.
  func calls(of method: String, reader: Int = 0) -> Int { readers.calls(of: method, reader) }

  func endScan(_ word: String, reader: Int = 0) {
    let target = StandInReaders.target(of: reader)
    connection.emit(target, "VerifyFingerSelected", [.string("right-index-finger")])
    connection.emit(target, "VerifyStatus", [.string(word), .boolean(true)])
  }

  /// Signals that these properties of the first reader have changed.
  func change(needed: Bool?, present: Bool?) {
    var changed: [String: BusValue] = [:]
    changed["finger-needed"] = needed.map { .boolean($0) }
    changed["finger-present"] = present.map { .boolean($0) }
    let target = StandInReaders.target(of: 0)
    connection.emit(
      BusTarget(path: target.path, interface: "org.freedesktop.DBus.Properties"), "PropertiesChanged",
      [.string(target.interface), .dictionary(changed), .array(of: "s", [])])
  }

  func close() { connection.close() }
}

private final class StandInReaders: Sendable {
  private struct State {
    var calls: [String: Int] = [:]
    var unanswered: [BusCall] = []
    var hasLeft = false
  }

  private let devices: [FprintdStandIn.Device]
  private let tellsFingers: Bool
  private let leavesAt: String?
  private let state = Mutex(State())

  init(_ devices: [FprintdStandIn.Device], tellsFingers: Bool, leavesAt: String?) {
    self.leavesAt = leavesAt
    self.devices = devices
    self.tellsFingers = tellsFingers
  }

  static func target(of reader: Int) -> BusTarget {
    BusTarget(path: "/net/reactivated/Fprint/Device/\(reader)", interface: "net.reactivated.Fprint.Device")
  }

  func calls(of method: String, _ reader: Int) -> Int {
    state.withLock { $0.calls["\(Self.target(of: reader).path) \(method)", default: 0] }
  }

  func answer(_ call: BusCall) {
    let isFirst = state.withLock { state in
      state.calls["\(call.path) \(call.member)", default: 0] += 1
      guard call.member == leavesAt, !state.hasLeft else { return false }
      state.hasLeft = true
      state.unanswered.append(call)
      return true
    }
    if isFirst {
      call.connection.call(MessageBus.target, "ReleaseName", [.string("net.reactivated.Fprint")]) { _ in }
      call.connection.call(MessageBus.target, "RequestName", [.string("net.reactivated.Fprint"), .uint32(0)]) { _ in }
      return
    }
    guard call.member != "GetDevices" else {
      let listed = devices.indices.filter { devices[$0].release != .refusedWhenGone || calls(of: "Release", $0) == 0 }
      return call.answer([.array(of: "o", listed.map { .objectPath(Self.target(of: $0).path) })])
    }
    guard let device = devices.indices.first(where: { Self.target(of: $0).path == call.path }).map({ devices[$0] })
    else { return call.fail("org.freedesktop.DBus.Error.UnknownObject", "no such object") }
    switch call.member {
    case "GetAll":
      var properties: [String: BusValue] = [
        "name": .string(device.name), "scan-type": .string("press"), "num-enroll-stages": .int32(5),
      ]
      if tellsFingers {
        properties.merge(["finger-needed": .boolean(false), "finger-present": .boolean(false)]) { $1 }
      }
      call.answer([.dictionary(properties)])
    case "ListEnrolledFingers": call.answer([.array(of: "s", device.fingers.map { .string($0) })])
    case "Claim" where device.isBusy: call.fail("net.reactivated.Fprint.Error.AlreadyInUse", "claimed by another")
    case "Claim" where !device.answersClaim: state.withLock { $0.unanswered.append(call) }
    case "Claim" where device.refusal != nil:
      call.fail("net.reactivated.Fprint.Error.Internal", device.refusal ?? "")
    case "Release" where device.release != .granted:
      call.fail("net.reactivated.Fprint.Error.Internal", "Release failed with error: the driver has failed")
    case "VerifyStop" where !device.answersStop: state.withLock { $0.unanswered.append(call) }
    case "VerifyStart", "Claim", "Release", "VerifyStop": call.answer()
    default: call.fail("org.freedesktop.DBus.Error.UnknownMethod", "no such member")
    }
  }
}

/// The error for a reader that fprintd cannot claim, for the reason that libfprint gives.
func errorOfOpening(refusedWith problem: String) async throws -> ReaderError? {
  try await PrivateBus.with { bus in
    let fprintd = try await FprintdStandIn(
      on: bus, tellsFingers: true, [.init(refusal: "Open failed with error: \(problem)")])
    defer { fprintd.close() }
    let process = ReaderProcess(
      program: try readerProgram(), selection: .fprintd(device: nil),
      fprintd: FprintdPlace(bus: bus.address, templates: "/nonexistent"))
    let reader = try #require(try await process.readers().first)
    _ = try await process.open(reader.id)
    let error = await readerError { try await process.prepare() }
    await process.shutdown()
    return error
  }
}
