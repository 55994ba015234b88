package import Glibc

/// Descriptors that a child would inherit from tests that run in parallel. Some libraries open them without
/// `FD_CLOEXEC`. For example, a TPM simulator serves no other client while a connection to it is open.
package enum InheritedDescriptors {
  /// Closes all descriptors in the child except the given ones.
  package static func close(_ actions: inout posix_spawn_file_actions_t, except given: Set<Int32> = []) {
    for other in Int32(3)..<512 where !given.contains(other) { posix_spawn_file_actions_addclose(&actions, other) }
  }
}
