internal import CLinux
internal import Glibc

/// Restrictions that a user's program applies to itself at its start, and that can be undone for the programs that it
/// executes.
package struct Hardening: Sendable {
  private let coreLimit: rlimit
  private let mask: mode_t

  /// Disables core files, tracing by other programs of the same user, and access for group and others to new files.
  package init() {
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
  package func undo() {
    var limit = coreLimit
    whorl_set_core_limit(&limit)
    umask(mask)
  }

  /// Runs a closure with the limits from before, which a child inherits.
  package func undone<Value>(_ body: () throws(ChildStartError) -> Value) throws(ChildStartError) -> Value {
    var none = coreLimit
    none.rlim_cur = 0
    undo()
    defer {
      umask(0o077)
      whorl_set_core_limit(&none)
    }
    return try body()
  }
}
