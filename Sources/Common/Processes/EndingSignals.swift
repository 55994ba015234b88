package import CLinux
internal import Glibc

/// The signals by which a person or the system ends a program.
package enum EndingSignals {
  /// Those that this process was not started to ignore. nohup(1), for example, starts a program with SIGHUP ignored.
  /// sigwait(3) returns a blocked signal even if it is ignored, so a program that waits for signals waits for these.
  package static let heard: sigset_t = {
    var set = sigset_t()
    sigemptyset(&set)
    for number in all where !isIgnored(number) { sigaddset(&set, number) }
    return set
  }()

  static let all = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

  /// Whether this process ignores the signal now.
  package static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    sigaction(number, nil, &action)
    // SIG_IGN (bits/signum-generic.h)
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }

  /// Ends this process by the signal that it has received, once it has cleaned up. With an exit status instead, a shell
  /// would take the signal for handled, and a script would go on after Ctrl-C.
  package static func die(of number: Int32) -> Never {
    signal(number, SIG_DFL)
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, number)
    // It is pending in this thread until it is unblocked, so that no thread that waits for signals takes it.
    raise(number)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    _exit(128 + number)
  }
}

/// A signal that this process has received.
package struct ReceivedSignal: Sendable {
  package let number: Int32
  /// Whether the kernel sent it for the terminal, such as at Ctrl-C. Every process in the terminal's foreground then
  /// receives one.
  package let isFromTerminal: Bool

  /// Waits for one of the signals, which are blocked in every thread.
  package static func next(of set: sigset_t) -> ReceivedSignal {
    var set = set
    var information = siginfo_t()
    while true {
      let number = sigwaitinfo(&set, &information)
      // SI_KERNEL (bits/siginfo-consts.h)
      if number > 0 { return ReceivedSignal(number: number, isFromTerminal: information.si_code == 0x80) }
    }
  }
}

/// Holds back the signals that end this process: every thread blocks them, and the main thread waits for them.
package struct HeldEndingSignals: Sendable {
  private let signals = EndingSignals.heard

  /// Call this before any other thread exists, because threads inherit the mask.
  package init() {
    var signals = signals
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    // A write to a closed socket returns an error and does not end the process.
    signal(SIGPIPE, SIG_IGN)
  }

  /// Waits for one of them.
  @discardableResult
  package func wait() -> ReceivedSignal { ReceivedSignal.next(of: signals) }
}
