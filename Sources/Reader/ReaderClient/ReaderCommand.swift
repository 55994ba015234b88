// How a reader process comes to be: the command that starts it, and its sockets to message buses.

internal import Glibc
internal import Primitives
internal import Processes
internal import ReaderBus
internal import SDBus
internal import Synchronization

/// The command that starts a reader process: the program, all arguments and the complete environment.
struct ReaderCommand: Sendable {
  /// The program that is executed: `whorl-reader`, or the program of umockdev that starts it.
  var program: HelperProgram
  var arguments: [String]
  /// `NAME=value`
  var environment: [String]

  private static let replayer = "/usr/bin/umockdev-run"
  private static let recorder = "/usr/bin/umockdev-record"

  init(
    program: String, selection: ReaderSelection, fprintd: FprintdPlace = .system, trace: ReaderTrace? = nil,
    systemBus: String? = nil
  ) throws(ReaderError) {
    let readerProgram = try Self.helper(program)
    var reader = [program, "--reader", selection.description] + (systemBus.map { ["--system-bus", $0] } ?? [])
    if fprintd != .system {
      reader += ["--fprintd-bus", fprintd.bus, "--fprintd-templates", fprintd.templates]
    }
    // Turn off Swift's backtraces, which print registers and start another program.
    environment = ["SWIFT_BACKTRACE=enable=no"]
    environment += selection.readerEnvironment.map { "\($0.name)=\($0.value)" }
    if let trace {
      self.program = try Self.helper(Self.recorder, neededFor: "recording")
      arguments = [Self.recorder, "-i", "\(trace.node)=\(trace.log)", "--"] + reader + ["--traced", "yes"]
      return
    }
    guard case .replay(let folder) = selection else {
      self.program = readerProgram
      arguments = reader
      return
    }
    self.program = try Self.helper(Self.replayer, neededFor: "a recording")
    do throws(RecordingError) {
      arguments = [Self.replayer] + (try RecordingFolder(folder).replayArguments) + ["--"] + reader
    } catch {
      throw .cannotStart("no recording in \(folder): \(error.path) \(error.problem)")
    }
  }

  /// - Parameter purpose: what the program of umockdev is needed for.
  private static func helper(_ path: String, neededFor purpose: String? = nil) throws(ReaderError) -> HelperProgram {
    do throws(HelperProgramError) {
      return try HelperProgram(at: path)
    } catch {
      if case .missing = error, let purpose { throw .cannotStart("\(purpose) needs \(path) (package umockdev)") }
      throw .cannotStart(error.words)
    }
  }
}

/// Logs the traffic between a reader process and a device, by `umockdev-record`.
package struct ReaderTrace: Sendable, Equatable {
  /// The device's node.
  package var node: String
  /// The file of the log.
  package var log: String

  package init(node: String, log: String) {
    self.node = node
    self.log = log
  }
}

/// Connects to the message buses that a reader process may use and passes the sockets to it, because the process is
/// confined and cannot connect itself.
final class BusSockets: Sendable {
  /// The maximum number of sockets for one process. It needs one for logind, and one for each connection to fprintd,
  /// which exits after half a minute without clients.
  private static let limit = 1_000

  private let addresses: Set<String>
  private let count = Mutex(0)

  /// - Parameter addresses: the addresses that the process may request.
  init(to addresses: Set<String>) {
    self.addresses = addresses
  }

  /// For ``BusConnection/Handlers/call``.
  func answer(_ call: BusCall) {
    let target = ReaderStarterInterface.target
    guard call.path == target.path, call.interface == target.interface,
      call.member == ReaderStarterInterface.connectToBus
    else { return call.fail("org.freedesktop.DBus.Error.UnknownMethod", "no such member") }
    guard call.signature == ReaderStarterInterface.connectToBusArguments, let address = call.arguments.first?.asString
    else { return call.fail("org.freedesktop.DBus.Error.InvalidArgs", "takes an address") }
    guard addresses.contains(address) else {
      return call.fail("org.freedesktop.DBus.Error.AccessDenied", "not a bus of this process's")
    }
    let isWithinLimit = count.withLock {
      $0 += 1
      return $0 <= Self.limit
    }
    guard isWithinLimit else {
      return call.fail("org.freedesktop.DBus.Error.LimitsExceeded", "asked for too many connections")
    }
    do throws(BusError) {
      call.answer([.descriptor(try .connected(toBus: address))])
    } catch {
      let reason = if case .system(let code) = error { String(cString: strerror(code)) } else { "\(error)" }
      call.fail("org.freedesktop.DBus.Error.NoServer", "no bus at \(address): \(reason)")
    }
  }
}
