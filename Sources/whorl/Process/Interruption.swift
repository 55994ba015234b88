import CLinux
import Glibc
import Synchronization

/// Ctrl-C and its kin. They are blocked in every thread and taken by one that waits for them, so that no handler runs
/// in the middle of anything: it puts the terminal back, asks the running call to cancel, and ends the process itself
/// if that takes too long.
enum Interruption {
  private struct State {
    var happened = false
    var cancel: (@Sendable () -> Void)?
    var command: String?
  }

  private static let state = Mutex(State())
  /// The mask the program was started with; a program it becomes gets it back.
  private static let maskBefore = Mutex(sigset_t())

  /// Becomes readable at the first signal and stays so: whoever waits for a descriptor waits for this one too.
  static let descriptor: Int32 = eventfd(0, Int32(EFD_CLOEXEC))

  /// How long a cancelled call may take to end by itself; the promise is a second for all of it.
  private static let graceMilliseconds: Int32 = 700

  static var happened: Bool { state.withLock { $0.happened } }

  /// Takes over the signals. Called before any other thread exists, since a mask is inherited.
  static func begin() {
    var set = endings()
    sigaddset(&set, SIGTSTP)
    var before = sigset_t()
    pthread_sigmask(SIG_BLOCK, &set, &before)
    maskBefore.withLock { $0 = before }
    // A closed pipe is an error of the write, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    var thread = pthread_t()
    // Takes no argument and returns nothing that would have to be freed; the thread lives as long as the process.
    if pthread_create(&thread, nil, waitForSignals, nil) == 0 { pthread_detach(thread) }
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
    var mask = maskBefore.withLock { $0 }
    pthread_sigmask(SIG_SETMASK, &mask, nil)
    signal(SIGPIPE, SIG_DFL)
  }

  fileprivate static func endings() -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] { sigaddset(&set, number) }
    return set
  }

  fileprivate static func ended() -> Never {
    Terminal.restore()
    let (cancel, command) = state.withLock { state in
      state.happened = true
      return (state.cancel, state.command)
    }
    eventfd_write(descriptor, 1)
    if let cancel {
      cancel()
      // A second signal cuts the waiting short. The process normally ends in here, from its main thread.
      var set = endings()
      whorl_wait_for_signal(&set, graceMilliseconds)
    }
    StandardError.write(Failure.cancelled.line(command: command) + "\n")
    _exit(ExitStatus.refused.rawValue)
  }
}

private nonisolated func waitForSignals(_: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  var set = Interruption.endings()
  sigaddset(&set, SIGTSTP)
  while true {
    var number: Int32 = 0
    guard sigwait(&set, &number) == 0 else { continue }
    guard number == SIGTSTP else { Interruption.ended() }
    // Ctrl-Z: the shell gets its terminal back as it was, and a hidden prompt stays hidden afterwards.
    Terminal.restore(forNow: true)
    raise(SIGSTOP)
    Terminal.hideAgain()
  }
}
