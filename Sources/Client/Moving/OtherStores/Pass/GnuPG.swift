internal import CLinux
internal import Glibc
internal import Primitives
internal import Processes
internal import SecretModel

/// The user's `gpg`, with the user's keys and agent. Decrypted data is read through a pipe.
struct GnuPG: Sendable {
  private let program: HelperProgram
  private let environment: [String]

  /// The most that is read of a file, in bytes: gopass keeps the largest secret that a store takes in base64.
  private static let limit = NewItem.secretLimit * 3 / 2 + (64 << 10)

  /// The environment variables that gpg, its agent and the agent's prompt need.
  private static let passed = [
    "HOME", "PATH", "GNUPGHOME", "GPG_TTY", "TERM", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS", "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES",
  ]

  /// Finds `gpg` in `PATH`. Refuses one that anyone but root and the user could have put there.
  init(environment: [String]) throws(ImportError) {
    func value(_ name: String) -> String? {
      environment.first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
    }
    do throws(HelperProgram.NotFound) {
      program = try HelperProgram.first(named: "gpg", in: environment)
    } catch {
      throw .unavailable(error.problem)
    }
    var own = Self.passed.compactMap { name in value(name).map { "\(name)=\($0)" } }
    // Its standard input is the file, so it cannot find the terminal for the agent's prompt itself.
    if value("GPG_TTY") == nil, let terminal = Self.terminal { own.append("GPG_TTY=\(terminal)") }
    self.environment = own
  }

  private static var terminal: String? {
    var name = [CChar](repeating: 0, count: Int(PATH_MAX))
    for stream in STDIN_FILENO...STDERR_FILENO where ttyname_r(stream, &name, name.count) == 0 {
      return name.withUnsafeBufferPointer { $0.baseAddress.flatMap { String(validatingCString: $0) } }
    }
    return nil
  }

  /// The decrypted contents of a file.
  func decrypted(_ path: String) async throws(ImportError) -> SecretBytes {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { throw .unreadable("cannot be read: \(String(cString: strerror(errno)))") }
    defer { close(file) }
    let output = try Pipe()
    // A file in memory and not a pipe: gpg writes a line for each key that a file is encrypted to, which may be more than
    // a pipe takes before somebody reads it. Returns a new descriptor, which is closed here.
    let status = whorl_memory_file("gpg-status")
    guard status >= 0 else { throw .system("no memory for gpg: \(String(cString: strerror(errno)))") }
    defer { close(status) }
    let (child, entry): (ChildProcess, Unfinished.Entry)
    do throws(ChildStartError) {
      (child, entry) = try Unfinished.ofThisProgram.start { () throws(ChildStartError) in
        try ChildProcess(
          program,
          arguments: [
            // Not --quiet: that would suppress why it failed.
            program.path, "--batch", "--status-fd", "\(status)", "--enable-special-filenames", "--output",
            "-&\(output.writing)", "--decrypt", "--", "-",
          ],
          environment: environment, descriptors: [output.writing, status], standardInput: file,
          keepsTerminal: true)
      }
    } catch {
      throw .unavailable("\(program.path): \(error.words)")
    }
    defer { Unfinished.ofThisProgram.forget(entry) }
    output.closeWriting()
    let text: SharedSecret
    do throws(ReadError) {
      text = SharedSecret(try SecretBytes.read(from: output.reading, limit: Self.limit))
    } catch {
      _ = await child.end(grace: .zero).value
      guard case .tooLong = error else { throw .unreadable("cannot be decrypted: \(error)") }
      throw .unreadable("has more in it than the \(NewItem.secretLimit >> 20) MiB that a secret can have")
    }
    _ = await child.end(grace: .seconds(10)).value
    // gpg writes decrypted data before it has verified the whole file.
    guard child.hasSucceeded else {
      throw Self.failure(Self.end(of: status))
    }
    return text.copy()
  }

  /// The last lines of gpg's status, which are not secret. Those about an error come last.
  private static func end(of file: Int32) -> String {
    var bytes = [UInt8](repeating: 0, count: 64 << 10)
    let start = max(0, lseek(file, 0, SEEK_END) - off_t(bytes.count))
    // Writes at most the length of the array.
    let count = max(0, pread(file, &bytes, bytes.count, start))
    return String(decoding: bytes[..<count], as: UTF8.self)
  }

  /// The error that gpg's status lines (`--status-fd`) describe.
  private static func failure(_ status: String) -> ImportError {
    for line in status.split(separator: "\n") {
      let words = line.split(separator: " ").dropFirst()
      switch words.first {
      case "NO_SECKEY": return .unreadable("is encrypted for other keys than yours")
      case "NODATA": return .unreadable("is not a complete GnuPG file")
      case "ERROR":
        // The lower half of the code is the error, the upper half its source: GPG_ERR_CANCELED and
        // GPG_ERR_FULLY_CANCELED.
        guard let code = words.last.flatMap({ UInt32($0) }), [99, 198].contains(code & 0xFFFF) else { continue }
        return .declined("gpg's prompt")
      default: continue
      }
    }
    return .unreadable("cannot be decrypted: 'gpg --decrypt' on its file says why")
  }
}

/// A pipe to a child. Both ends are closed with it.
private final class Pipe {
  let reading: Int32
  private(set) var writing: Int32

  init() throws(ImportError) {
    var ends: [Int32] = [-1, -1]
    // Both ends are ours.
    guard pipe(&ends) == 0 else { throw .system("no pipe: \(String(cString: strerror(errno)))") }
    // A child's descriptors must not have the numbers of the standard streams.
    let copies = ends.map { end in
      defer { close(end) }
      return fcntl(end, F_DUPFD_CLOEXEC, 3)
    }
    (reading, writing) = (copies[0], copies[1])
    guard reading >= 0, writing >= 0 else { throw .system("no pipe: \(String(cString: strerror(errno)))") }
  }

  func closeWriting() {
    close(writing)
    writing = -1
  }

  deinit {
    close(reading)
    if writing >= 0 { close(writing) }
  }
}
