internal import Glibc
package import Primitives
package import Processes

/// A running pinentry, with which this program talks line by line.
package final class PinentryProcess: Sendable {
  private static let lineLimit = 4_096

  private let socket: Int32
  private let child: ChildProcess
  /// It would stay on the screen after a signal has ended this program, since it does not read from it while it asks.
  private let entry: Unfinished.Entry

  /// Starts it. Nil if that is not possible.
  ///
  /// - Parameter arguments: those after the program's own name.
  package init?(_ program: HelperProgram, arguments: [String] = [], environment: [String]) {
    var ends: [Int32] = [-1, -1]
    // The child gets a copy of the second end.
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else { return nil }
    let (own, childs) = (ends[0], ends[1])
    defer { close(childs) }
    do throws(ChildStartError) {
      (child, entry) = try Unfinished.ofThisProgram.start { () throws(ChildStartError) in
        try ChildProcess(
          program, arguments: [program.path] + arguments, environment: environment,
          // The program may be a script, which its interpreter opens through the descriptor's path.
          descriptors: [program.descriptor], standardInput: childs, standardOutput: childs)
      }
    } catch {
      close(own)
      return nil
    }
    socket = own
  }

  deinit {
    close(socket)
    Unfinished.ofThisProgram.forget(entry)
  }

  /// The next line that it writes, which may contain a secret; nil at its end. Blocks.
  package func line() -> SharedSecret? {
    try? SharedSecret(SecretBytes.readLine(from: socket, limit: Self.lineLimit))
  }

  /// Sends a line, and returns whether it could be sent.
  package func send(_ command: String) -> Bool {
    let line = Array("\(command)\n".utf8)
    // Borrows the bytes for the call.
    return Glibc.send(socket, line, line.count, Int32(MSG_NOSIGNAL)) == line.count
  }

  /// Sends a line that may contain a secret, and returns whether it could be sent.
  package func send(_ line: borrowing SecretBytes) -> Bool {
    do {
      try SecretBytes(joining: [], line, Array("\n".utf8)).write(to: socket)
      return true
    } catch {
      return false
    }
  }

  /// Ends the conversation: ``line()`` then returns nil.
  package func stop() { shutdown(socket, Int32(SHUT_RDWR)) }

  /// Ends the conversation, and then the program.
  package func end() async {
    stop()
    _ = await child.end(grace: .milliseconds(500)).value
    Unfinished.ofThisProgram.forget(entry)
  }
}
