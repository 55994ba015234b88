// Processes: programs that this one starts or talks to, and what it does at its own start. Begin with `ChildProcess`.
// `HelperProgram.swift` finds a program, `PathWalk.swift` checks who could have put it there, `ProcessHandle.swift` keeps
// hold of a running one, `ForegroundCommand.swift` runs a person's own command at the terminal, and `Hardening.swift`
// restricts this process. `Confinement` has what the processes of readers and of vaults give up for good.

internal import CLinux
internal import Glibc
package import Primitives
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
  /// Nil for a child that outlives this process.
  private let lifeline: Lifeline?

  /// Starts a helper program with only the standard descriptors and `descriptors`, and with default signal
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
  ///   - standardError: the descriptor that becomes the child's descriptor 2 instead.
  ///   - bounds: what the child may use. A child with bounds is killed when this process ends, for whatever reason.
  package init(
    _ program: HelperProgram, arguments: [String], environment: [String], secrets: [SharedSecret] = [],
    descriptors: [Int32] = [], standardInput: Int32, standardOutput: Int32? = nil, keepsTerminal: Bool = false,
    showsDiagnostics: Bool = false, standardError: Int32? = nil, bounds: ChildBounds? = nil
  ) throws(ChildStartError) {
    let lifeline = try bounds.map { (_) throws(ChildStartError) in try Lifeline() }
    // strdup: the copies are ours until the child has its own
    let environment = environment.map { strdup($0) }
    defer { for string in environment { free(string) } }
    // The pointers stay valid after these calls, as long as `secrets` exists.
    let lent = secrets.map { secret in
      secret.bytes.withUnsafeBytes {
        UnsafeMutableRawPointer(mutating: $0.baseAddress)?.assumingMemoryBound(to: CChar.self)
      }
    }
    defer { withExtendedLifetime((program, secrets)) {} }
    let kept = descriptors + (lifeline.map { [$0.childEnd] } ?? [])
    let pid: Int32
    if let bounds {
      pid = try bounds.start(
        program, arguments, environment: environment + lent + [nil],
        given: [(standardInput, 0), (standardOutput, 1), (standardError ?? (showsDiagnostics ? 2 : nil), 2)]
          + kept.map { ($0, $0) },
        inOwnSession: !keepsTerminal)
    } else {
      var start = ChildStart(inOwnSession: !keepsTerminal)
      start.give(standardInput, as: 0)
      if let standardOutput { start.give(standardOutput, as: 1) } else { start.open("/dev/null", O_WRONLY, as: 1) }
      if let standardError {
        start.give(standardError, as: 2)
      } else if !showsDiagnostics {
        start.open("/dev/null", O_WRONLY, as: 2)
      }
      for kept in kept { start.give(kept, as: kept) }
      // Close every other descriptor, close-on-exec or not. The program's own must stay open until it is executed, and is
      // close-on-exec.
      let open = Set(kept + [program.descriptor])
      let highest = open.max() ?? program.descriptor
      for other in 3..<highest where !open.contains(other) { start.close(other) }
      start.closeAll(from: highest + 1)
      pid = try start.start(.path(program.executionPath), arguments, environment: environment + lent + [nil])
    }
    // Another part of the program may have reaped the child already, and the number may have been reused by a process
    // that is not our child.
    guard let handle = ProcessHandle(pid), handle.isOwnChild else { throw ChildStartError(code: ECHILD) }
    self.handle = handle
    self.lifeline = lifeline
    do throws(ChildStartError) {
      try lifeline?.tie(pid)
    } catch {
      handle.signal(SIGKILL)
      handle.onEnd { _ = handle.reap() }
      throw error
    }
    handle.onEnd { _ = self.reap() }
  }

  /// Calls the closure on the bus loop when the child has ended, with how it ended, for people.
  package func onEnd(_ body: @escaping @Sendable (String) -> Void) { handle.onEnd { body(self.reap()) } }

  /// Whether the child has ended.
  package var hasEnded: Bool { handle.hasEnded }

  /// Whether the child has ended by itself with exit status 0.
  package var hasSucceeded: Bool {
    if case .exited(0)? = outcome.withLock({ $0 }) { true } else { false }
  }

  /// The exit status of a child that has ended by itself; nil for every other.
  package var exitStatus: Int32? {
    if case .exited(let status)? = outcome.withLock({ $0 }) { status } else { nil }
  }

  /// The signal that has ended the child; nil for every other end.
  package var endingSignal: Int32? {
    if case .killed(let signal)? = outcome.withLock({ $0 }) { signal } else { nil }
  }

  /// Kills the child at once.
  package func kill() { handle.signal(SIGKILL) }

  /// Kills the child, and blocks until it has ended: what it would still write is written then.
  package func killAndWait() {
    kill()
    handle.waitForEnd(milliseconds: 2_000)
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

/// What a child process, and each program that it starts, may use.
package struct ChildBounds: Sendable {
  /// The memory that a process has for itself alone, in bytes (RLIMIT_DATA). Beyond it, the process gets no more memory.
  private let memory: UInt64
  /// The time that a process computes, in seconds (RLIMIT_CPU). Beyond it, SIGXCPU ends the process.
  private let processorTime: UInt64
  /// The longest file that a process may write, in bytes (RLIMIT_FSIZE). Beyond it, SIGXFSZ ends the process.
  private let fileSize: UInt64

  package init(memory: UInt64, processorTime: UInt64, fileSize: UInt64) {
    (self.memory, self.processorTime, self.fileSize) = (memory, processorTime, fileSize)
  }

  /// Starts a program within the bounds, with default signal dispositions. posix_spawn cannot do this, and limits that
  /// are set afterwards do not reach what the program has started before.
  ///
  /// - Parameters:
  ///   - given: descriptors of this process, nil for `/dev/null`, and their numbers in the program. It gets no others.
  ///   - environment: pointers to `NAME=value` and a NUL each, which stay the caller's, and nil at the end.
  /// - Returns: the number of the process.
  func start(
    _ program: HelperProgram, _ arguments: [String], environment: [UnsafeMutablePointer<CChar>?],
    given: [(descriptor: Int32?, number: Int32)], inOwnSession: Bool
  ) throws(ChildStartError) -> Int32 {
    // strdup: the copies are ours until the process has its own
    let words = arguments.map { strdup($0) }
    let path = strdup(program.executionPath)
    defer { for string in words + [path] { free(string) } }
    let opened = open("/dev/null", O_WRONLY | O_CLOEXEC)
    // Above the standard streams, which are replaced one after another.
    let null = fcntl(opened, F_DUPFD_CLOEXEC, 3)
    close(opened)
    defer { close(null) }
    let (descriptors, numbers) = (given.map { $0.descriptor ?? null }, given.map(\.number))
    // Borrows all pointers for the call.
    let process = (words + [nil]).withUnsafeBufferPointer { words in
      environment.withUnsafeBufferPointer { environment in
        descriptors.withUnsafeBufferPointer { descriptors in
          numbers.withUnsafeBufferPointer { numbers in
            var start = whorl_bounded_start(
              path: path, arguments: words.baseAddress, environment: environment.baseAddress,
              descriptors: descriptors.baseAddress, numbers: numbers.baseAddress, count: Int32(given.count),
              program: program.descriptor, in_own_session: inOwnSession, memory: memory,
              processor_time: processorTime, file_size: fileSize)
            return whorl_start_bounded(&start)
          }
        }
      }
    }
    guard process > 0 else { throw ChildStartError(code: errno) }
    return process
  }
}

/// A pair of sockets, one end in this process and one in a child, which the kernel kills when this process's end is
/// closed: at the latest when this process ends, even if it is killed.
final class Lifeline: Sendable {
  private let ownEnd: Int32
  /// The child gets a copy of it.
  let childEnd: Int32

  init() throws(ChildStartError) {
    var ends: [Int32] = [-1, -1]
    // Both descriptors are ours.
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw ChildStartError(code: errno)
    }
    (ownEnd, childEnd) = (ends[0], ends[1])
  }

  deinit {
    close(ownEnd)
    close(childEnd)
  }

  /// Ties the child to this process.
  func tie(_ child: Int32) throws(ChildStartError) {
    guard whorl_kill_on_hangup(childEnd, child) == 0 else { throw ChildStartError(code: errno) }
  }
}

extension Unfinished {
  /// Starts a helper program that is killed if a signal ends this one.
  package func start<Problem: Error>(
    _ start: () throws(Problem) -> ChildProcess
  ) throws(Problem) -> (value: ChildProcess, entry: Entry) {
    try make(start) { $0.killAndWait() }
  }
}
