import CLinux
import Glibc

/// Hardens the process before anything else, and undoes that before another program is executed.
struct Hardening: Sendable {
  private let coreLimit: rlimit
  private let mask: mode_t

  /// Disables core files, tracing by other programs of the same user, and access for group and others to new files.
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

  /// Restores the limits for the next program of this process. `execve` itself permits tracing again.
  func undo() {
    var limit = coreLimit
    whorl_set_core_limit(&limit)
    umask(mask)
  }
}
