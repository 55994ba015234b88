internal import CLinux
internal import Glibc
internal import Synchronization

/// A command that runs without a terminal, in a session of its own, while its output is read. It ends together with what
/// it has started, except for a program that has made a session of its own.
package final class UnattendedCommand: Sendable {
  private let process: Int32
  private let handle: Descriptor
  /// The process's number stays its own until it has been reaped, and so does the number of its group.
  private let isReaped = Mutex(false)

  /// How often output is still read after the command's end. One read takes as much as a pipe holds.
  private static let lastReads = 16
  /// How long each of them waits for more.
  private static let lastWait: Int32 = 100

  /// Starts it with `/dev/null` as its standard input, and with no other descriptor than its output.
  ///
  /// - Parameters:
  ///   - program: a path.
  ///   - arguments: all of them, with the program's own name.
  ///   - environment: pointers to `NAME=value` and a NUL each, which stay the caller's, and nil at the end.
  ///   - output: the descriptor of this process that becomes its standard output and its standard error.
  package init(
    _ program: String, _ arguments: [String], environment: UnsafePointer<UnsafeMutablePointer<CChar>?>, output: Int32
  ) throws(ChildStartError) {
    var start = ChildStart(inOwnSession: true)
    // If this program was started with SIGCHLD ignored, the kernel would keep no exit status for it.
    signal(SIGCHLD, SIG_DFL)
    start.open("/dev/null", O_RDONLY, as: STDIN_FILENO)
    start.give(output, as: STDOUT_FILENO)
    start.give(output, as: STDERR_FILENO)
    start.closeAll(from: STDERR_FILENO + 1)
    process = try start.start(.path(program), arguments, environment: environment)
    guard let opened = Descriptor(taking: whorl_open_process(process)) else {
      let code = errno
      kill(-process, SIGKILL)
      var status: Int32 = 0
      while waitpid(process, &status, 0) < 0, errno == EINTR {}
      throw ChildStartError(code: code)
    }
    handle = opened
  }

  /// Sends a signal to the command and to what it has started. Does nothing after its end.
  package func send(_ number: Int32) {
    isReaped.withLock { if !$0 { kill(-process, number) } }
  }

  /// Blocks until the command has ended.
  ///
  /// - Parameters:
  ///   - output: the other end of its output.
  ///   - take: called when there is output to read. Returns whether there is more to come.
  package func ending(reading output: Int32, _ take: (Int32) -> Bool) -> ForegroundCommand.Ending {
    var isOpen = true
    var hasEnded = false
    while !hasEnded {
      // A negative number is ignored.
      var entries = [
        pollfd(fd: handle.rawValue, events: Int16(POLLIN), revents: 0),
        pollfd(fd: isOpen ? output : -1, events: Int16(POLLIN), revents: 0),
      ]
      poll(&entries, 2, -1)
      if entries[1].revents != 0 { isOpen = take(output) }
      hasEnded = entries[0].revents != 0
    }
    send(SIGKILL)
    var rest = Self.lastReads
    while isOpen, rest > 0 {
      var entry = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, Self.lastWait) > 0 else { break }
      isOpen = take(output)
      rest -= 1
    }
    return isReaped.withLock { isReaped in
      isReaped = true
      var status: Int32 = 0
      while waitpid(process, &status, 0) < 0 {
        guard errno == EINTR else { return .exited(EXIT_FAILURE) }
      }
      let signal = status & 0x7F
      return signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
    }
  }
}
