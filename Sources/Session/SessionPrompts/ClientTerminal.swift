package import Glibc
internal import Whorl

/// The terminal on which a client runs in the foreground. The person who started the client reads what is written
/// there.
///
/// Any other program of the user can write to the same terminal.
package struct ClientTerminal: Sendable, Hashable {
  package let path: String
  /// The process of the client.
  private let process: pid_t
  /// The number of the terminal's device.
  private let device: dev_t

  /// The controlling terminal of a process, as the kernel reports it.
  ///
  /// - Returns: nil where there is none, where the process is in the background, and where none of the process's
  ///   standard descriptors is that terminal.
  package init?(of process: pid_t) {
    guard let device = Self.foregroundTerminal(of: process) else { return nil }
    for descriptor in 0...2 {
      let link = "/proc/\(process)/fd/\(descriptor)"
      var status = stat()
      guard stat(link, &status) == 0, Self.isTerminal(status), status.st_rdev == device else { continue }
      var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
      // Writes at most the buffer's size, without a terminator.
      let count = readlink(link, &buffer, buffer.count)
      guard count > 0 else { continue }
      let path = String(decoding: buffer.prefix(count), as: UTF8.self)
      var here = stat()
      // In another mount namespace the path may lead to another terminal.
      guard stat(path, &here) == 0, here.st_dev == status.st_dev, here.st_ino == status.st_ino else { continue }
      (self.path, self.process, self.device) = (path, process, device)
      return
    }
    return nil
  }

  /// Whether the client is still in the foreground of this terminal.
  var isForeground: Bool { Self.foregroundTerminal(of: process) == device }

  /// Opens it; the caller closes the descriptor.
  ///
  /// - Parameter access: `O_WRONLY` or `O_RDWR`.
  /// - Returns: nil where it is another terminal now, or belongs to another user.
  func opened(_ access: Int32) -> Int32? {
    // O_NONBLOCK: do not wait for a terminal whose output is stopped. O_NOCTTY: do not make it the controlling
    // terminal.
    let terminal = open(path, access | O_NOCTTY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
    guard terminal >= 0 else { return nil }
    var status = stat()
    guard fstat(terminal, &status) == 0, Self.isTerminal(status), status.st_rdev == device,
      status.st_uid == geteuid()
    else {
      close(terminal)
      return nil
    }
    return terminal
  }

  /// Writes a line. Does nothing where the terminal belongs to another user.
  package func write(_ line: String) {
    guard let terminal = opened(O_WRONLY) else { return }
    defer { close(terminal) }
    // The program may have put the terminal into a mode in which a line feed does not return to the first column.
    let bytes = Array("\(Visible.text(line))\r\n".utf8)
    _ = Glibc.write(terminal, bytes, bytes.count)
  }

  private static func isTerminal(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFCHR }

  /// The device number of the terminal whose foreground process group the process belongs to (proc_pid_stat(5)).
  private static func foregroundTerminal(of process: pid_t) -> dev_t? {
    guard let bytes = try? SmallFile.read("/proc/\(process)/stat", limit: 4_096) else { return nil }
    // The name in parentheses may hold anything. After it: state, parent, process group, session, terminal, foreground.
    let fields = String(decoding: bytes, as: UTF8.self).split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 5, let group = Int32(fields[2]), let terminal = UInt64(fields[4]), terminal != 0,
      Int32(fields[5]) == group
    else { return nil }
    return dev_t(terminal)
  }
}
