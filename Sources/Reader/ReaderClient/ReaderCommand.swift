internal import Fingerprint
internal import Processes
internal import ReaderBus
internal import Recordings

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
