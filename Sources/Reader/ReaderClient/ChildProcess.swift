internal import CLinux
internal import Executors
internal import Fingerprint
internal import Glibc
internal import Processes
internal import Synchronization

/// A child in a process group of its own, from its start until it is reaped.
///
/// The pid is used only while the child is not reaped yet, which the lock holds: it cannot have become another's.
final class ChildProcess: Sendable {
  private enum State {
    case running
    /// The value says how, for people.
    case ended(String)
  }

  private let pid: pid_t
  private let state = Mutex(State.running)
  private let ending = Mutex<Task<String, Never>?>(nil)

  /// Starts the command with the socket as its standard input; the socket stays the caller's.
  ///
  /// Call it on a thread that lives as long as the process: the child asks for a signal when the thread that started
  /// it ends.
  init(_ command: ReaderCommand, standardInput: Int32, showsDiagnostics: Bool) throws(ChildStartError) {
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
    // Whatever else this process or its libraries have open and forgot to mark. The program itself has to be open
    // until it is executed, and closes then.
    let program = command.program.descriptor
    for other in 3..<program { posix_spawn_file_actions_addclose(&actions, other) }
    posix_spawn_file_actions_addclosefrom_np(&actions, program + 1)
    var none = sigset_t()
    var all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    // A group of its own: Ctrl-C in the terminal is this program's to handle.
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    // strdup: the copies are ours until the child has its own
    let arguments = command.arguments.map { strdup($0) }
    let environment = command.environment.map { strdup($0) }
    defer { for string in arguments + environment { free(string) } }
    var pid: pid_t = 0
    let failure = withExtendedLifetime(command.program) {
      posix_spawn(&pid, command.program.executionPath, &actions, &attributes, arguments + [nil], environment + [nil])
    }
    guard failure == 0 else { throw ChildStartError(code: failure) }
    self.pid = pid
  }

  /// Ends the child if it does not end by itself within `grace`: SIGTERM to its group, and then SIGKILL. Who asks first
  /// sets the grace.
  ///
  /// - Returns: how it ended, for people: "exit status 0", "killed by signal 6 (Aborted)".
  func end(grace: Duration) -> Task<String, Never> {
    ending.withLock { ending in
      if let ending { return ending }
      let task = Task(executorPreference: BackgroundThread.shared) { await self.endedAnyway(grace) }
      ending = task
      return task
    }
  }

  private func endedAnyway(_ grace: Duration) async -> String {
    if let how = await ended(within: grace) { return how }
    signalGroup(SIGTERM)
    if let how = await ended(within: .milliseconds(300)) { return how }
    signalGroup(SIGKILL)
    // Only a process in an uninterruptible sleep survives this, and that one is not waited for any longer.
    return await ended(within: .seconds(5)) ?? "unkillable"
  }

  /// Polls: no descriptor tells of a child's end without a system call that Glibc does not export to Swift, and this
  /// happens once in a process's life, for a few milliseconds.
  private func ended(within limit: Duration) async -> String? {
    let deadline = ContinuousClock.now + limit
    while true {
      if let how = reap() { return how }
      guard ContinuousClock.now < deadline else { return nil }
      try? await Task.sleep(for: .milliseconds(2))
    }
  }

  private func signalGroup(_ signal: Int32) {
    state.withLock { if case .running = $0 { kill(-pid, signal) } }
  }

  private func reap() -> String? {
    state.withLock { state in
      if case .ended(let how) = state { return how }
      var status: Int32 = 0
      let result = waitpid(pid, &status, WNOHANG)
      if result == 0 { return nil }
      // Someone else in this process has reaped it, if not we.
      let how = result == pid ? Self.words(forStatus: status) : "end unknown"
      state = .ended(how)
      return how
    }
  }

  private static func words(forStatus status: Int32) -> String {
    let signal = status & 0x7F
    guard signal != 0 else { return "exit status \((status >> 8) & 0xFF)" }
    // strsignal: the words are libc's (transfer none)
    return "killed by signal \(signal)" + (strsignal(signal).map { " (\(String(cString: $0)))" } ?? "")
  }
}

/// Why `posix_spawn` started nothing.
struct ChildStartError: Error {
  /// An errno.
  let code: Int32
  var words: String { String(cString: strerror(code)) }
}
