internal import Fingerprint
internal import Glibc
internal import ReaderBus
internal import Recordings

/// The command that starts a reader process: every word of it, and its whole environment.
struct ReaderCommand: Sendable, Equatable {
  var arguments: [String]
  /// `NAME=value`
  var environment: [String]

  private static let replayer = "/usr/bin/umockdev-run"
  private static let recorder = "/usr/bin/umockdev-record"

  init(
    program: String, selection: ReaderSelection, fprintd: FprintdPlace = .system, trace: ReaderTrace? = nil,
    systemBus: String? = nil
  ) throws(ReaderError) {
    var reader = [program, "--reader", selection.description] + (systemBus.map { ["--system-bus", $0] } ?? [])
    if fprintd != .system {
      reader += ["--fprintd-bus", fprintd.bus, "--fprintd-templates", fprintd.templates]
    }
    // A crash ends the process at once: the runtime's own report would print registers and start another program.
    environment = ["SWIFT_BACKTRACE=enable=no"]
    environment += selection.readerEnvironment.map { "\($0.name)=\($0.value)" }
    if let trace {
      guard access(Self.recorder, X_OK) == 0 else {
        throw .cannotStart("recording needs \(Self.recorder) (package umockdev)")
      }
      arguments = [Self.recorder, "-i", "\(trace.node)=\(trace.log)", "--"] + reader + ["--traced", "yes"]
      return
    }
    guard case .replay(let folder) = selection else {
      arguments = reader
      return
    }
    guard access(Self.replayer, X_OK) == 0 else {
      throw .cannotStart("a recording needs \(Self.replayer) (package umockdev)")
    }
    do throws(RecordingError) {
      arguments = [Self.replayer] + (try RecordingFolder(folder).replayArguments) + ["--"] + reader
    } catch {
      throw .cannotStart("no recording in \(folder): \(error.path) \(error.problem)")
    }
  }
}

/// Has the traffic of a reader process with a device logged, by `umockdev-record`.
package struct ReaderTrace: Sendable, Equatable {
  /// The device's node.
  package var node: String
  /// The file that the log goes to.
  package var log: String

  package init(node: String, log: String) {
    self.node = node
    self.log = log
  }
}
