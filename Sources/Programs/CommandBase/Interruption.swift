// This process: its restrictions, its end by a signal, and its password agent.

import CLinux
import Glibc
internal import Primitives
package import Processes
internal import Prompts
package import Settings
import Synchronization

/// Handles Ctrl-C and similar signals. They are blocked in every thread, and the main thread only waits for them, so
/// that no handler interrupts other code. It restores the terminal, cancels the running call, and ends the process if
/// that takes too long. The process ends by the signal itself, so that the script around it ends as well.
package enum Interruption {
  private struct State {
    /// The first signal that this process received.
    var received: Int32?
    /// The signal that ended a command of this process.
    var followed: Int32?
    var cancel: (@Sendable () -> Void)?
    var report = FailureReport()
    var foreground: ForegroundCommand?
  }

  private static let state = Mutex(State())
  /// The signal settings from the start, to be restored for another program.
  private static let before = Mutex((mask: sigset_t(), ignoresPipe: false))

  /// How long a cancelled call may take to end by itself. The whole process should end within a second.
  private static let graceMilliseconds: Int32 = 700

  package static var happened: Bool { state.withLock { $0.received != nil } }

  /// Blocks the signals. Call it before any other thread exists, since threads inherit the mask.
  package static func begin() {
    var set = EndingSignals.heard
    sigaddset(&set, SIGTSTP)
    var mask = sigset_t()
    pthread_sigmask(SIG_BLOCK, &set, &mask)
    // A write to a closed pipe returns an error and does not end the process.
    let ignoresPipe = EndingSignals.isIgnored(SIGPIPE)
    signal(SIGPIPE, SIG_IGN)
    before.withLock { $0 = (mask, ignoresPipe) }
  }

  /// Waits for signals in the main thread, for the rest of the process's life. An asynchronous `main` cannot be used:
  /// it suspends this thread with all signals unblocked.
  package static func serve() -> Never {
    var set = EndingSignals.heard
    sigaddset(&set, SIGTSTP)
    while true {
      let signal = ReceivedSignal.next(of: set)
      guard signal.number == SIGTSTP else {
        guard let command = state.withLock({ $0.foreground }) else { ended(by: signal.number) }
        command.pass(on: signal)
        continue
      }
      // Ctrl-Z: restore the terminal for the shell, and turn echo off again afterwards.
      Terminal.pause()
      raise(SIGSTOP)
      Terminal.resume()
    }
  }

  /// Sets the form in which a cancelled command is reported.
  package static func report(as report: FailureReport) {
    state.withLock { $0.report = report }
  }

  /// Sets the closure to call on a signal; nil if there is nothing to cancel any more.
  package static func onSignal(_ cancel: (@Sendable () -> Void)?) {
    let late = state.withLock { state in
      state.cancel = cancel
      return state.received != nil
    }
    if late { cancel?() }
  }

  /// Starts a command at the terminal, and passes signals to it from then on, in place of ending the process. Both are
  /// one step, so that no signal ends this process alone.
  package static func start<Problem: Error>(
    _ start: () throws(Problem) -> ForegroundCommand
  ) throws(Problem) -> ForegroundCommand {
    let started: Result<ForegroundCommand, Problem> = state.withLock { state in
      // This process is about to end.
      while state.received != nil { pause() }
      do throws(Problem) {
        let command = try start()
        state.foreground = command
        return .success(command)
      } catch {
        return .failure(error)
      }
    }
    return try started.get()
  }

  /// Notes that the command has ended.
  package static func hasEnded() { state.withLock { $0.foreground = nil } }

  /// Makes this process end by the signal that has ended its command.
  package static func follow(_ signal: Int32) { state.withLock { $0.followed = signal } }

  /// Whether a signal has ended a command of this process.
  package static var isFollowing: Bool { state.withLock { $0.followed != nil } }

  /// Ends the process with the status, or by the signal that was received meanwhile.
  package static func end(with status: Int32) -> Never {
    let (received, followed) = state.withLock { ($0.received, $0.followed) }
    if received != nil { Unfinished.ofThisProgram.undoAll() }
    if let signal = received ?? followed { EndingSignals.die(of: signal) }
    exit(status)
  }

  /// Adds what to say just before a signal ends the process. What has to be removed then is made with `Unfinished`.
  package static func atEnd(_ action: @escaping @Sendable () -> Void) {
    _ = Unfinished.ofThisProgram.make({}, undo: { _ in action() })
  }

  /// Restores the signal settings for the next program of this process.
  package static func undo() {
    var (mask, ignoresPipe) = before.withLock { $0 }
    pthread_sigmask(SIG_SETMASK, &mask, nil)
    if !ignoresPipe { signal(SIGPIPE, SIG_DFL) }
  }

  private static func ended(by signal: Int32) -> Never {
    let (cancel, report) = state.withLock { state in
      state.received = signal
      return (state.cancel, state.report)
    }
    Terminal.leave()
    if let cancel {
      cancel()
      // A second signal ends the wait. Normally the thread that runs the call ends the process before.
      var set = EndingSignals.heard
      whorl_wait_for_signal(&set, graceMilliseconds)
    }
    Unfinished.ofThisProgram.undoAll()
    report.tell(.cancelled)
    EndingSignals.die(of: signal)
  }
}

/// polkit's agent for terminals (`pkttyagent`). It asks for a password if the service has polkit ask and no desktop's
/// agent runs.
package struct PasswordAgent: Sendable {
  private static let path = "/usr/bin/pkttyagent"
  /// How long it may take to register with polkit.
  private static let startMilliseconds: Int32 = 2_000

  private let child: ChildProcess
  private let entry: Unfinished.Entry

  /// Runs a call during which polkit may ask for a password, at this terminal if there is no desktop.
  package static func during<Answer>(_ call: () async throws(Failure) -> Answer) async throws(Failure) -> Answer {
    guard let agent = PasswordAgent() else { return try await call() }
    let result: Result<Answer, Failure>
    do throws(Failure) {
      result = .success(try await call())
    } catch {
      result = .failure(error)
    }
    await agent.end()
    return try result.get()
  }

  /// Starts the agent for this process. Nil without a terminal, or if the program is not installed.
  package init?() {
    let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    guard terminal >= 0 else { return nil }
    close(terminal)
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else { return nil }
    defer { close(ends[0]) }
    // `--notify-fd 0`: the agent closes descriptor 0, which it does not read, when it is ready.
    let input = ends[1]
    let started = try? Unfinished.ofThisProgram.start {
      try ChildProcess(
        HelperProgram(at: Self.path),
        arguments: [Self.path, "--process", "\(getpid())", "--fallback", "--notify-fd", "0"],
        environment: ["LC_ALL=C.UTF-8"], standardInput: input, keepsTerminal: true)
    }
    close(input)
    guard let started else { return nil }
    var ready = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
    poll(&ready, 1, Self.startMilliseconds)
    (child, entry) = started
  }

  /// Ends the agent and waits until it is gone.
  package func end() async {
    _ = await child.end(grace: .zero).value
    Unfinished.ofThisProgram.forget(entry)
  }
}

/// The restrictions that a command undoes for programs that it executes.
package typealias Hardening = Processes.Hardening
