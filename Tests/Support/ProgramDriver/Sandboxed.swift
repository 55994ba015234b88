package import Glibc

/// Runs programs in a mount namespace of the user's own, with another file mounted over an installed program, as
/// sandboxes do.
package enum Sandboxed {
  /// The words that run a program with this file mounted over the installed program's path.
  package static func command(_ file: String, over path: String, _ arguments: [String]) -> [String] {
    ["-rm", "/bin/sh", "-c", #"mount --bind "$1" "$0" && shift && exec "$0" "$@""#, path, file] + arguments
  }

  /// Whether this machine allows users this. If not, prints that a test is skipped.
  package static func isPossible() async throws -> Bool {
    let tried = try await Invocation(
      program: "/usr/bin/unshare", arguments: command("/bin/true", over: "/usr/bin/env", [])
    ).run()
    guard tried.status != 0 else { return true }
    print("skipped: no mount namespace for this user: \(tried.diagnostics)")
    return false
  }

  /// Runs a copy of `sleep` that is mounted over this path, while `body` runs. Does nothing where this is not possible.
  package static func with(over path: String, _ body: (pid_t) async throws -> Void) async throws {
    guard try await isPossible() else { return }
    try await withFolder { folder in
      let copy = "\(folder)/copy"
      try writeFile(copy, readFile("/bin/sleep"))
      chmod(copy, 0o755)
      let running = try Invocation(program: "/usr/bin/unshare", arguments: command(copy, over: path, ["600"])).start()
      startThread { _ = running.finish { _, _ in } }
      defer { running.signal(SIGKILL) }
      var isRunning = false
      for _ in 0..<2_000 where !isRunning {
        try await Task.sleep(for: .milliseconds(5))
        isRunning = processes(with: "\(path)\u{0}600\u{0}").contains(running.pid)
      }
      guard isRunning else { throw SystemFailure("the sandboxed program") }
      try await body(running.pid)
    }
  }

  /// Runs a copy of `sleep` in this mount namespace, while `body` runs. It was opened in another one, where it is mounted
  /// over this path, so the kernel says that it is there. Does nothing where this is not possible.
  ///
  /// - Parameter removing: whether the copy is removed before.
  package static func smuggled(
    over path: String, removing: Bool, _ body: (pid_t) async throws -> Void
  ) async throws {
    guard try await isPossible() else { return }
    try await withFolder { folder in
      let copy = "\(folder)/copy"
      try writeFile(copy, readFile("/bin/sleep"))
      chmod(copy, 0o755)
      let running = try Invocation(
        program: "/usr/bin/python3", arguments: ["-c", smuggler, path, copy, removing ? "removed" : "kept", opener]
      ).start()
      startThread { _ = running.finish { _, _ in } }
      defer { running.signal(SIGKILL) }
      var isRunning = false
      for _ in 0..<2_000 where !isRunning {
        try await Task.sleep(for: .milliseconds(5))
        isRunning = processes(with: "sleep\u{0}600\u{0}").contains(running.pid)
      }
      guard isRunning else { throw SystemFailure("the smuggled program") }
      try await body(running.pid)
    }
  }

  /// Executes the file that its child has opened. The child stays until this process has ended, since its mounts end with
  /// it.
  private static let smuggler = """
    import os, socket, subprocess, sys
    path, copy, removing, opener = sys.argv[1:]
    here, there = socket.socketpair()
    mount = 'mount --bind "$1" "$0" && exec /usr/bin/python3 -c "$2" "$0" "$3"'
    subprocess.Popen(
        ['/usr/bin/unshare', '-rm', '/bin/sh', '-c', mount, path, copy, opener, str(there.fileno())],
        pass_fds=[there.fileno()])
    there.close()
    _, descriptors, _, _ = socket.recv_fds(here, 1, 1)
    os.set_inheritable(here.fileno(), True)
    if removing == 'removed': os.unlink(copy)
    os.execve(descriptors[0], ['sleep', '600'], {})
    """

  /// Opens the file at a path, and passes the descriptor on.
  private static let opener = """
    import os, socket, sys
    end = socket.socket(fileno=int(sys.argv[2]))
    socket.send_fds(end, [b'x'], [os.open(sys.argv[1], os.O_RDONLY)])
    end.recv(1)
    """
}
