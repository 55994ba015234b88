import CommandBase
import Glibc
internal import Primitives
import Processes
import ReaderClient
import SecretModel
import Settings

/// A recording that is being made: a folder beside its final place, which is removed if the recording fails.
struct RecordingInTheMaking {
  /// The temporary folder, whose files may still contain serial numbers.
  let folder: String
  private let directory: String
  private static let recorder = "/usr/bin/umockdev-record"
  /// How long it may take to describe a device. It takes less than a second.
  private static let describingLimit = Duration.seconds(30)

  init(_ directory: String) throws(Failure) {
    var name = directory
    while name.count > 1, name.hasSuffix("/") { name.removeLast() }
    self.directory = name
    folder = "\(name).partial"
    var status = stat()
    guard lstat(name, &status) != 0 else {
      throw Failure(.exists, "\(name) exists already", advice: "name another folder")
    }
    let made = folder
    // It is finished under another name.
    _ = try Unfinished.ofThisProgram.make { () throws(Failure) in
      guard mkdir(made, 0o700) == 0 else { throw Self.failure(RecordingError(made)) }
    } undo: { _ in
      try? Folder.remove(made)
    }
  }

  /// The log of the traffic.
  var log: String { "\(folder)/capture.ioctl" }

  /// Has `umockdev-record` describe the device. Returns the serial numbers in the description.
  func describe(_ device: USBDevice) async throws(Failure) -> SerialNumbers {
    let path = "\(folder)/device"
    let recorder = try start(describing: device, to: path)
    _ = await recorder.value.end(grace: Self.describingLimit).value
    Unfinished.ofThisProgram.forget(recorder.entry)
    guard recorder.value.hasSucceeded else {
      throw Failure(
        .inputOutput, "\(Self.recorder) could not describe \(device.node)",
        advice: "attach the reader anew, and try again")
    }
    do throws(RecordingError) {
      let text = try readFile(path, limit: 4 << 20)
      let numbers = SerialNumbers(in: text)
      try put(numbers.blanked(description: text), "device")
      return numbers
    } catch {
      throw Self.failure(error)
    }
  }

  private func start(
    describing device: USBDevice, to path: String
  ) throws(Failure) -> (value: ChildProcess, entry: Unfinished.Entry) {
    // Both return a new descriptor, of which the child gets a copy.
    let (input, output) = (
      open("/dev/null", O_RDONLY | O_CLOEXEC), open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    )
    defer { for descriptor in [input, output] where descriptor >= 0 { close(descriptor) } }
    guard input >= 0, output >= 0 else { throw Self.failure(RecordingError(path)) }
    do {
      // An empty environment, as for the reader.
      return try Unfinished.ofThisProgram.start {
        try ChildProcess(
          HelperProgram(at: Self.recorder), arguments: [Self.recorder, device.node], environment: [],
          standardInput: input, standardOutput: output, showsDiagnostics: true)
      }
    } catch {
      throw Failure(
        .unavailable, "\(Self.recorder) cannot be started", advice: "install umockdev; 'make setup' does")
    }
  }

  /// Blanks the serial numbers in the log.
  func blank(_ numbers: SerialNumbers) throws(Failure) {
    do throws(RecordingError) {
      try put(numbers.blanked(ioctls: try readFile(log, limit: 256 << 20)), "capture.ioctl")
    } catch {
      throw Self.failure(error)
    }
  }

  /// Copies a recording made by other means, without serial numbers and packets of other devices.
  func copy(_ from: String) throws(Failure) {
    do throws(RecordingError) {
      let recorded = try RecordingFolder(from)
      guard let traffic = recorded.traffic else { throw RecordingError(path: from, problem: "has no traffic") }
      let description = try readFile(recorded.description, limit: 4 << 20)
      let numbers = SerialNumbers(in: description)
      var bytes = try readFile(traffic.path, limit: 256 << 20)
      switch traffic {
      case .packets:
        guard let address = recorded.address else { throw RecordingError(path: from, problem: "is of no USB device") }
        bytes = numbers.blanked(packets: try PacketCapture.only(bus: address.bus, device: address.device, in: bytes))
      case .ioctls: bytes = numbers.blanked(ioctls: bytes)
      }
      try put(numbers.blanked(description: description), "device")
      try put(bytes, traffic.name)
    } catch {
      throw Self.failure(error)
    }
  }

  func note(_ note: RecordingNote) throws(Failure) {
    let text = try JSON.text(note) + "\n"
    do throws(RecordingError) { try put(Array(text.utf8), RecordingNote.file) } catch { throw Self.failure(error) }
  }

  /// Moves it to its final place. A recording with a fingerprint stays private to the user.
  func finish(holdsFingerprint: Bool) throws(Failure) {
    if !holdsFingerprint {
      for name in ["device", "capture.ioctl", "capture.pcapng", RecordingNote.file] {
        chmod("\(folder)/\(name)", 0o644)
      }
      chmod(folder, 0o755)
    }
    guard rename(folder, directory) == 0 else { throw Self.failure(RecordingError(folder)) }
  }

  func giveUp() {
    for name in ["device", "capture.ioctl", "capture.pcapng", RecordingNote.file] { unlink("\(folder)/\(name)") }
    rmdir(folder)
  }

  private func put(_ bytes: [UInt8], _ name: String) throws(RecordingError) {
    let path = "\(folder)/\(name)"
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw RecordingError(path) }
    defer { close(file) }
    var written = 0
    while written < bytes.count {
      // write: reads as many bytes as it is told
      let count = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress.map { $0 + written }, $0.count - written) }
      guard count > 0 || errno == EINTR else { throw RecordingError(path) }
      written += max(0, count)
    }
  }

  private static func failure(_ error: RecordingError) -> Failure {
    Failure(
      .inputOutput, "\(error.path) \(error.problem)", name: "errSecIO", advice: Explanation.advice(onFileError: 0))
  }
}

extension RecordingError {
  /// The error for `errno` at a path.
  fileprivate init(_ path: String) {
    self.init(path: path, problem: "cannot be made: \(String(cString: strerror(errno)))")
  }
}
