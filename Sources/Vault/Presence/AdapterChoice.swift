package import Fingerprint
import VaultStore

/// Which of fprintd and libfprint this store uses where its settings leave the choice to it.
extension OwnerPresence {
  /// Changes the adapter that `auto` means in this store, after the passcode (the recovery key where none is set),
  /// since polkit decides who may enrol a finger through fprintd. The adapter is recorded with the first finger and
  /// changed only by this call, so that items stay usable when fingers are enrolled in the desktop's settings later, or
  /// fprintd is installed or removed.
  ///
  /// No set is changed, and bound items stay with their reader. Only if a configuration replaces the machine's own
  /// fprintd by another, its current fingers are taken over here.
  ///
  /// - Parameter adapter: nil drops the recorded adapter: the next enrolment records one.
  package func use(_ adapter: ReaderAdapter?, _ context: Context) async throws(VaultError) {
    try await passcodes.authorizeChange(context)
    try passcodes.store.commit { change in change.authority.adapter = adapter }
    if adapter?.sharesFingers == true { try await fprintd.accept(context) }
  }
}
