internal import CLinux
internal import Executors
internal import Glibc
package import SecureMemory
internal import Synchronization

/// A helper program that runs as a child of this process, from its start until it is reaped.
///
/// The child is reaped as soon as it ends, for whatever reason.
///
/// The child is signalled and reaped only by its pidfd. Another part of the program may reap all children, after which
/// the process number may be reused.
package final class ChildProcess: Sendable {
  let handle: ProcessHandle
  /// How the child ended. Nil until it has been reaped.
  private let outcome = Mutex<ProcessHandle.Reaping?>(nil)
  private let ending = Mutex<Task<String, Never>?>(nil)

  /// Starts a helper program with the standard descriptors and `descriptors` alone, and with default signal
  /// dispositions.
  ///
  /// - Parameters:
  ///   - arguments: all of them, with the program's own name.
  ///   - environment: the environment without the secrets, as `NAME=value`.
  ///   - secrets: the rest of the environment, each as `NAME=value` and a NUL.
  ///   - descriptors: further descriptors that stay open in the child, under the same numbers.
  ///   - standardInput: the descriptor that becomes the child's descriptor 0. It stays the caller's.
  ///   - standardOutput: the same for the child's descriptor 1; nil: `/dev/null`.
  ///   - keepsTerminal: whether the child stays in this process's session and keeps its terminal. In a session of its
  ///     own it gets no Ctrl-C and cannot use the terminal.
  ///   - showsDiagnostics: whether the child writes to this process's standard error, or to `/dev/null`.
  package init(
    _ program: HelperProgram, arguments: [String], environment: [String], secrets: [SharedSecret] = [],
    descriptors: [Int32] = [], standardInput: Int32, standardOutput: Int32? = nil, keepsTerminal: Bool = false,
    showsDiagnostics: Bool = false
  ) throws(ChildStartError) {
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_adddup2(&actions, standardInput, 0)
    if let standardOutput {
      posix_spawn_file_actions_adddup2(&actions, standardOutput, 1)
    } else {
      posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    }
    if !showsDiagnostics { posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) }
    // dup2 of a descriptor to itself clears its close-on-exec flag.
    for kept in descriptors { posix_spawn_file_actions_adddup2(&actions, kept, kept) }
    // Close every other descriptor, close-on-exec or not. The program's own must stay open until it is executed, and is
    // close-on-exec.
    let open = Set(descriptors + [program.descriptor])
    let highest = open.max() ?? program.descriptor
    for other in 3..<highest where !open.contains(other) { posix_spawn_file_actions_addclose(&actions, other) }
    posix_spawn_file_actions_addclosefrom_np(&actions, highest + 1)
    var none = sigset_t()
    var all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    let session = keepsTerminal ? 0 : whorl_spawn_in_own_session
    posix_spawnattr_setflags(&attributes, Int16(session | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    // strdup: the copies are ours until the child has its own
    let arguments = arguments.map { strdup($0) }
    let environment = environment.map { strdup($0) }
    defer { for string in arguments + environment { free(string) } }
    var pid: pid_t = 0
    // The pointers stay valid after these calls, as long as `secrets` exists.
    let lent = secrets.map { secret in
      secret.bytes.withUnsafeBytes {
        UnsafeMutableRawPointer(mutating: $0.baseAddress)?.assumingMemoryBound(to: CChar.self)
      }
    }
    let failure = withExtendedLifetime((program, secrets)) {
      posix_spawn(
        &pid, program.executionPath, &actions, &attributes, arguments + [nil], environment + lent + [nil])
    }
    guard failure == 0 else { throw ChildStartError(code: failure) }
    // Another part of the program may have reaped the child already, and the number may have been reused by a process
    // that is no child of ours.
    guard let handle = ProcessHandle(pid), handle.isOwnChild else { throw ChildStartError(code: ECHILD) }
    self.handle = handle
    handle.onEnd { _ = self.reap() }
  }

  /// Whether the child has ended.
  package var hasEnded: Bool { handle.hasEnded }

  /// Whether the child has ended by itself with exit status 0.
  package var hasSucceeded: Bool {
    if case .exited(0)? = outcome.withLock({ $0 }) { true } else { false }
  }

  /// Waits for the child to end by itself: sends SIGTERM after `grace`, and SIGKILL 300 ms later.
  ///
  /// The first call sets the grace. Later calls wait for the same end.
  ///
  /// - Returns: How the child ended, for people: "exit status 0", "killed by signal 6 (Aborted)".
  package func end(grace: Duration) -> Task<String, Never> {
    ending.withLock { ending in
      if let ending { return ending }
      let task = Task(executorPreference: BackgroundThread.shared) { await self.endedAnyway(grace) }
      ending = task
      return task
    }
  }

  private func endedAnyway(_ grace: Duration) async -> String {
    if await handle.ended(within: grace) { return reap() }
    handle.signal(SIGTERM)
    if await handle.ended(within: .milliseconds(300)) { return reap() }
    handle.signal(SIGKILL)
    // Only a process in uninterruptible sleep survives SIGKILL. Do not wait for it any longer.
    return await handle.ended(within: .seconds(5)) ? reap() : "unkillable"
  }

  private func reap() -> String {
    let reaping = outcome.withLock { outcome in
      let reaping = outcome ?? handle.reap()
      outcome = reaping
      return reaping
    }
    switch reaping {
    case .exited(let status): return "exit status \(status)"
    // strsignal: the words are libc's (transfer none)
    case .killed(let signal):
      return "killed by signal \(signal)" + (strsignal(signal).map { " (\(String(cString: $0)))" } ?? "")
    case .running, .notOurs: return "end unknown"
    }
  }
}

/// Why `posix_spawn` started nothing.
package struct ChildStartError: Error {
  /// An errno.
  package let code: Int32
  package var words: String { String(cString: strerror(code)) }
}
