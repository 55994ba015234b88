import CLinux
import Glibc
import Synchronization
import Whorl

/// Ctrl-C and its kin. They are blocked in every thread and taken by the main one, which does nothing but wait for
/// them, so that no handler runs in the middle of anything: it puts the terminal back, asks the running call to cancel,
/// and ends the process itself if that takes too long.
enum Interruption {
  private struct State {
    var happened = false
    var cancel: (@Sendable () -> Void)?
    var command: String?
  }

  private static let state = Mutex(State())
  /// How the program was started; a program it becomes gets it back.
  private static let before = Mutex((mask: sigset_t(), ignoresPipe: false))

  /// How long a cancelled call may take to end by itself; the promise is a second for all of it.
  private static let graceMilliseconds: Int32 = 700

  static var happened: Bool { state.withLock { $0.happened } }

  /// Takes over the signals. Called before any other thread exists, since a mask is inherited.
  static func begin() {
    var set = endings()
    sigaddset(&set, SIGTSTP)
    var mask = sigset_t()
    pthread_sigmask(SIG_BLOCK, &set, &mask)
    // A closed pipe is an error of the write, not the end of the process.
    var pipe = sigaction()
    sigaction(SIGPIPE, nil, &pipe)
    let ignoresPipe = unsafeBitCast(pipe.__sigaction_handler.sa_handler, to: Int.self) == 1
    signal(SIGPIPE, SIG_IGN)
    before.withLock { $0 = (mask, ignoresPipe) }
  }

  /// Waits for signals in the main thread, for the rest of the process's life. An asynchronous `main` would not do:
  /// it parks this thread with every signal let through.
  static func serve() -> Never {
    var set = endings()
    sigaddset(&set, SIGTSTP)
    while true {
      var number: Int32 = 0
      guard sigwait(&set, &number) == 0 else { continue }
      guard number == SIGTSTP else { ended() }
      // Ctrl-Z: the shell gets its terminal back as it was, and a hidden prompt stays hidden afterwards.
      Terminal.pause()
      raise(SIGSTOP)
      Terminal.resume()
    }
  }

  /// The words the line of a cancelled command starts with.
  static func name(_ command: String) {
    state.withLock { $0.command = command }
  }

  /// What to do when a signal comes; nil when there is nothing to cancel any more.
  static func onSignal(_ cancel: (@Sendable () -> Void)?) {
    let late = state.withLock { state in
      state.cancel = cancel
      return state.happened
    }
    if late { cancel?() }
  }

  /// Gives the next program of this process the signals as this one got them.
  static func undo() {
    var (mask, ignoresPipe) = before.withLock { $0 }
    pthread_sigmask(SIG_SETMASK, &mask, nil)
    if !ignoresPipe { signal(SIGPIPE, SIG_DFL) }
  }

  private static func endings() -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] { sigaddset(&set, number) }
    return set
  }

  private static func ended() -> Never {
    let (cancel, command) = state.withLock { state in
      state.happened = true
      return (state.cancel, state.command)
    }
    Terminal.leave()
    if let cancel {
      cancel()
      // A second signal cuts the waiting short. Normally the process ends in here, from the thread that runs the call.
      var set = endings()
      whorl_wait_for_signal(&set, graceMilliseconds)
    }
    StandardError.write(Failure.cancelled.line(command: command) + "\n")
    _exit(ExitStatus.refused.rawValue)
  }
}
