internal import CLinux
internal import Glibc

/// What the process gives up before it does anything else.
enum Hardening {
  /// Leaves the process without core files, without inspection by other programs of the same user, without new
  /// privileges, and with new files that only their owner can use.
  static func apply() {
    // All borrow the limit for the call.
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    whorl_set_core_limit(&none)
    whorl_refuse_inspection()
    whorl_set_no_new_privileges()
    // Linux 6.6 and later.
    whorl_refuse_new_executable_memory()
    umask(0o077)
    // The program is executed through a descriptor, whose number the kernel took for its name.
    whorl_name_process("whorld")
  }
}

/// The signals that ask the process to end.
///
/// They are blocked in every thread and taken by the main one, so that a change that is being made is not cut off.
struct EndingSignals {
  private var signals = sigset_t()

  /// Call this before any other thread exists, because threads inherit the mask.
  init() {
    sigemptyset(&signals)
    for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] { sigaddset(&signals, number) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    // A write to a closed socket is an error of the write, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
  }

  /// Returns when one of the signals has come.
  func wait() {
    var signals = signals
    var number: Int32 = 0
    while sigwait(&signals, &number) != 0 {}
  }
}
