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
}
