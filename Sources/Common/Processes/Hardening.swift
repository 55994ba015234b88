internal import CLinux
internal import Glibc

/// Restrictions that a user's program applies to itself at its start, and that can be undone for the programs that it
/// executes.
package struct Hardening: Sendable {
  private let coreLimit: rlimit
  private let fileLimit: rlimit
  private let raisedFileLimit: rlimit
  private let mask: mode_t

  /// Disables core files, tracing by other programs of the same user, and access for group and others to new files.
  ///
  /// - Parameter files: how many open files this program may need. Programs start with a limit of 1,024, which is not
  ///   raised for the programs that it executes: some use select(2), which knows no more.
  package init(files: Int = 0) {
    // All borrow the limit for the call.
    var limit = rlimit()
    whorl_get_core_limit(&limit)
    coreLimit = limit
    limit.rlim_cur = 0
    whorl_set_core_limit(&limit)
    whorl_refuse_inspection()
    mask = umask(0o077)
    var (before, raised) = (rlimit(), rlimit())
    whorl_get_file_limit(&before)
    raised = before
    raised.rlim_cur = max(before.rlim_cur, min(before.rlim_max, rlim_t(files)))
    whorl_set_file_limit(&raised)
    (fileLimit, raisedFileLimit) = (before, raised)
  }

  /// Restores the limits for the next program of this process. `execve` itself permits tracing again.
  package func undo() {
    var (limit, files) = (coreLimit, fileLimit)
    whorl_set_core_limit(&limit)
    whorl_set_file_limit(&files)
    umask(mask)
  }

  /// Runs a closure with the limits from before, which a child inherits.
  package func undone<Value>(_ body: () throws(ChildStartError) -> Value) throws(ChildStartError) -> Value {
    var (none, files) = (coreLimit, raisedFileLimit)
    none.rlim_cur = 0
    undo()
    defer {
      umask(0o077)
      whorl_set_core_limit(&none)
      whorl_set_file_limit(&files)
    }
    return try body()
  }
}
