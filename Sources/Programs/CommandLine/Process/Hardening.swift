import CLinux
import Glibc

/// What the program does to itself before anything else, and takes back for a program it becomes.
struct Hardening: Sendable {
  private let coreLimit: rlimit
  private let mask: mode_t

  /// No core file, no tracing by other programs of the same user, nothing for group and world on new files.
  init() {
    // All borrow the limit for the call.
    var limit = rlimit()
    whorl_get_core_limit(&limit)
    coreLimit = limit
    limit.rlim_cur = 0
    whorl_set_core_limit(&limit)
    whorl_refuse_inspection()
    mask = umask(0o077)
  }

  /// Gives the next program of this process the limits this one was started with. That it can be traced again comes
  /// with `execve`.
  func undo() {
    var limit = coreLimit
    whorl_set_core_limit(&limit)
    umask(mask)
  }
}
