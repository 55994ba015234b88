package import Fingerprint
import VaultStore

/// The choice between fprintd and libfprint for a store whose settings leave it open.
extension OwnerPresence {
  /// Changes the adapter that `auto` means in this store. Asks for the passcode (the recovery key if none is set),
  /// since with fprintd, polkit decides who may enrol fingers. The adapter is recorded with the first finger and
  /// changed only by this call, so that items stay usable when fingers are enrolled in the desktop's settings later, or
  /// fprintd is installed or removed.
  ///
  /// Changes no set, and bound items stay with their reader. The exception is a configuration that replaces the
  /// machine's own fprintd: then that fprintd's current fingers are taken over.
  ///
  /// - Parameter adapter: nil drops the recorded adapter: the next enrolment records one.
  package func use(_ adapter: ReaderAdapter?, _ context: Context) async throws(VaultError) {
    try await passcodes.authorizeChange(context)
    try passcodes.store.commit { change in change.authority.adapter = adapter }
    if adapter?.sharesFingers == true { try await fprintd.accept(context) }
  }
}
