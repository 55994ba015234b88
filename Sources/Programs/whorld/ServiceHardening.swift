internal import CLinux
internal import Glibc

/// Hardens the process before anything else.
enum ServiceHardening {
  /// Disables core files, inspection by other programs of the same user, new privileges, and access for group and
  /// others to new files.
  static func apply() {
    // All borrow the limit for the call.
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    whorl_set_core_limit(&none)
    whorl_refuse_inspection()
    whorl_set_no_new_privileges()
    // Linux 6.6 and later.
    whorl_refuse_new_executable_memory()
    umask(0o077)
    // The program is executed through a descriptor, so the kernel named it after the descriptor's number.
    whorl_name_process("whorld")
  }
}
