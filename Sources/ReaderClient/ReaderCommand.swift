internal import Fingerprint
internal import Glibc
internal import ReaderBus

/// The command that starts a reader process: every word of it, and its whole environment.
struct ReaderCommand: Sendable, Equatable {
  var arguments: [String]
  /// `NAME=value`
  var environment: [String]

  private static let replayer = "/usr/bin/umockdev-run"

  init(program: String, selection: ReaderSelection, fprintd: FprintdPlace = .system, systemBus: String? = nil)
    throws(ReaderError)
  {
    var reader = [program, "--reader", selection.description] + (systemBus.map { ["--system-bus", $0] } ?? [])
    if fprintd != .system {
      reader += ["--fprintd-bus", fprintd.bus, "--fprintd-templates", fprintd.templates]
    }
    // A crash ends the process at once: the runtime's own report would print registers and start another program.
    environment = ["SWIFT_BACKTRACE=enable=no"]
    environment += selection.readerEnvironment.map { "\($0.name)=\($0.value)" }
    guard case .replay(let folder) = selection else {
      arguments = reader
      return
    }
    guard access(Self.replayer, X_OK) == 0 else {
      throw .cannotStart("a recording needs \(Self.replayer) (package umockdev)")
    }
    let device = try Self.devicePath(ofRecording: folder)
    arguments = [Self.replayer, "-d", "\(folder)/device"]
    let traffic = "\(folder)/custom.pcapng"
    if access(traffic, R_OK) == 0 { arguments += ["-p", "/sys\(device)=\(traffic)"] }
    arguments += ["--"] + reader
  }

  /// The device's path in sysfs: what the first line of `device`, `P: /devices/…`, says.
  private static func devicePath(ofRecording folder: String) throws(ReaderError) -> String {
    let path = "\(folder)/device"
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .cannotStart("no recording in \(folder): \(String(cString: strerror(errno)))") }
    defer { close(descriptor) }
    let start = [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, count in
      count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
    }
    let line = String(decoding: start.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    guard line.hasPrefix("P: /") else { throw .cannotStart("\(path) is no recorded device") }
    return String(line.dropFirst(3))
  }
}
