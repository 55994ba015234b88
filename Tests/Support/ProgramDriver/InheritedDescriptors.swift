package import Glibc

/// What a child would inherit from this process: descriptors of tests that run beside the one that starts it, some of which
/// libraries open without `FD_CLOEXEC`. A TPM simulator, for one, serves nobody else while a connection is held.
package enum InheritedDescriptors {
  /// Closes them in the child, but for those that it is given.
  package static func close(_ actions: inout posix_spawn_file_actions_t, except given: Set<Int32> = []) {
    for other in Int32(3)..<512 where !given.contains(other) { posix_spawn_file_actions_addclose(&actions, other) }
  }
}
