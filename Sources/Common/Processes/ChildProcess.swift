internal import CLinux
internal import Executors
internal import Glibc
internal import Synchronization

/// A helper program that runs as a child of this process, from its start until it is reaped.
///
/// The child is reaped as soon as it ends, whoever or whatever ended it.
///
/// The child is signalled and reaped by its pidfd alone: a program that reaps all its children, whoever started them,
/// makes the process number free for another process.
package final class ChildProcess: Sendable {
  let handle: ProcessHandle
  /// How the child ended, in words. Nil until it has been reaped.
  private let outcome = Mutex<String?>(nil)
  private let ending = Mutex<Task<String, Never>?>(nil)

  /// Starts a helper program, with no descriptors but the standard ones, and with the signals
  /// in their default state.
  ///
  /// The child writes its standard output to `/dev/null`.
  ///
  /// - Parameters:
  ///   - arguments: all of them, with the program's own name.
  ///   - environment: all of it, as `NAME=value`.
  ///   - standardInput: the descriptor that becomes the child's descriptor 0. It stays the caller's.
  ///   - keepsTerminal: whether the child stays in this process's session, and so has its terminal. In a session of its own
  ///     it gets no Ctrl-C and can neither read nor write there.
  ///   - showsDiagnostics: whether the child writes to this process's standard error, or to `/dev/null`.
  package init(
    _ program: HelperProgram, arguments: [String], environment: [String], standardInput: Int32,
    keepsTerminal: Bool = false, showsDiagnostics: Bool = false
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
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    if !showsDiagnostics { posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) }
    // Close every other descriptor, marked close-on-exec or not. The program's own has to stay open until it is
    // executed and is marked.
    for other in 3..<program.descriptor { posix_spawn_file_actions_addclose(&actions, other) }
    posix_spawn_file_actions_addclosefrom_np(&actions, program.descriptor + 1)
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
    let failure = withExtendedLifetime(program) {
      posix_spawn(&pid, program.executionPath, &actions, &attributes, arguments + [nil], environment + [nil])
    }
    guard failure == 0 else { throw ChildStartError(code: failure) }
    // A program that reaps all its children may have reaped this one already, and the number may be another process's
    // by now. That one is no child of ours.
    guard let handle = ProcessHandle(pid), handle.isOwnChild else { throw ChildStartError(code: ECHILD) }
    self.handle = handle
    handle.onEnd { _ = self.reap() }
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
    // Only a process in an uninterruptible sleep survives SIGKILL. Do not wait for that one any longer.
    return await handle.ended(within: .seconds(5)) ? reap() : "unkillable"
  }

  private func reap() -> String {
    outcome.withLock { outcome in
      if let outcome { return outcome }
      let words =
        switch handle.reap() {
        case .exited(let status): "exit status \(status)"
        // strsignal: the words are libc's (transfer none)
        case .killed(let signal):
          "killed by signal \(signal)" + (strsignal(signal).map { " (\(String(cString: $0)))" } ?? "")
        case .running, .notOurs: "end unknown"
        }
      outcome = words
      return words
    }
  }
}

/// Why `posix_spawn` started nothing.
package struct ChildStartError: Error {
  /// An errno.
  package let code: Int32
  package var words: String { String(cString: strerror(code)) }
}
