import CLinux
import Glibc
import Processes
import Synchronization
internal import TerminalLines

/// Handles Ctrl-C and similar signals. They are blocked in every thread, and the main thread only waits for them, so
/// that no handler interrupts other code. It restores the terminal, cancels the running call, and ends the process if
/// that takes too long. The process ends by the signal itself, so that the script around it ends as well.
enum Interruption {
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

  static var happened: Bool { state.withLock { $0.received != nil } }

  /// Blocks the signals. Call it before any other thread exists, since threads inherit the mask.
  static func begin() {
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
  static func serve() -> Never {
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
  static func report(as report: FailureReport) {
    state.withLock { $0.report = report }
  }

  /// Sets the closure to call on a signal; nil if there is nothing to cancel any more.
  static func onSignal(_ cancel: (@Sendable () -> Void)?) {
    let late = state.withLock { state in
      state.cancel = cancel
      return state.received != nil
    }
    if late { cancel?() }
  }

  /// Starts a command at the terminal, and passes signals to it from then on, in place of ending the process. Both are
  /// one step, so that no signal ends this process alone.
  static func start<Problem: Error>(
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
  static func hasEnded() { state.withLock { $0.foreground = nil } }

  /// Makes this process end by the signal that has ended its command.
  static func follow(_ signal: Int32) { state.withLock { $0.followed = signal } }

  /// Whether a signal has ended a command of this process.
  static var isFollowing: Bool { state.withLock { $0.followed != nil } }

  /// Ends the process with the status, or by the signal that was received meanwhile.
  static func end(with status: ExitStatus) -> Never {
    let (received, followed) = state.withLock { ($0.received, $0.followed) }
    if received != nil { Unfinished.ofThisProgram.undoAll() }
    if let signal = received ?? followed { EndingSignals.die(of: signal) }
    exit(status.rawValue)
  }

  /// Adds what to say just before a signal ends the process. What has to be removed then is made with `Unfinished`.
  static func atEnd(_ action: @escaping @Sendable () -> Void) {
    _ = Unfinished.ofThisProgram.make({}, undo: { _ in action() })
  }

  /// Restores the signal settings for the next program of this process.
  static func undo() {
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
