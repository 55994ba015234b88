package import Glibc
internal import Primitives
internal import Prompts

/// The terminal on which a client runs in the foreground, and which the person who started it reads.
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
  /// - Returns: nil if there is none, if the process is in the background, or if none of its standard descriptors is
  ///   that terminal.
  package init?(of process: pid_t) {
    guard let device = ProcessStatus(of: process)?.foregroundTerminal else { return nil }
    for descriptor in 0...2 {
      let link = "/proc/\(process)/fd/\(descriptor)"
      var status = stat()
      guard stat(link, &status) == 0, Self.isTerminal(status), status.st_rdev == device else { continue }
      var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
      // Writes at most the buffer's size, without a terminator.
      let count = readlink(link, &buffer, buffer.count)
      guard count > 0 else { continue }
      let path = String(decoding: buffer.prefix(count), as: UTF8.self)
      // In another mount namespace the path may lead to another terminal.
      guard FileIdentity(at: path) == FileIdentity(status) else { continue }
      (self.path, self.process, self.device) = (path, process, device)
      return
    }
    return nil
  }

  /// The terminal of a process or else of the nearest of its ancestors in the same job that has one: git reads what gpg
  /// writes, and has the terminal itself.
  package init?(ofTheJobOf process: pid_t) {
    guard let group = ProcessStatus(of: process)?.group else { return nil }
    var next = process
    while let status = ProcessStatus(of: next), status.group == group, status.parent != next {
      if let terminal = ClientTerminal(of: next) {
        self = terminal
        return
      }
      next = status.parent
    }
    return nil
  }

  /// The foreground process group, if it has only the client, its ancestors and its descendants; else nil. Another
  /// program, as in `ssh host | sudo tee file`, may itself prompt on the terminal.
  var foregroundGroup: pid_t? {
    // Group 1, that of a container's first process, cannot be signalled: kill(2) takes -1 for all processes.
    guard let client = ProcessStatus(of: process), client.foregroundTerminal == device, client.group > 1 else {
      return nil
    }
    let ancestors = ProcessStatus.ancestors(of: process)
    for other in ProcessStatus.processes where other != process && !ancestors.contains(other) {
      guard ProcessStatus(of: other)?.group == client.group else { continue }
      guard ProcessStatus.ancestors(of: other).contains(process) else { return nil }
    }
    return client.group
  }

  /// Opens it; the caller closes the descriptor.
  ///
  /// - Parameter access: `O_WRONLY` or `O_RDWR`.
  /// - Returns: nil if it is another terminal now, or belongs to another user.
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

  /// Writes a line. Does nothing if the terminal belongs to another user.
  package func write(_ line: String) {
    guard let terminal = opened(O_WRONLY) else { return }
    defer { close(terminal) }
    // The program may have put the terminal into a mode in which a line feed does not return to the first column.
    let bytes = Array("\(Visible.text(line))\r\n".utf8)
    _ = Glibc.write(terminal, bytes, bytes.count)
  }

  private static func isTerminal(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFCHR }
}
