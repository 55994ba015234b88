/// Lets a client notice that its user may be able to authenticate in another way than before. Values of different
/// connections cannot be compared.
package struct Surroundings: Sendable, Hashable {
  /// Grows when the fingers, the passcode, a lockout or the store's lock changes, when the sessions are locked, and when a
  /// USB device is plugged in or pulled out.
  package var changes: Int
  /// How often the store was locked, or all sessions of the user were, or the machine was about to sleep.
  package var locks: Int
  /// Why the state of the caller's login session, or the lid, allows no finger; nil if both allow one.
  package var refusal: SessionRefusal?

  package init(changes: Int, locks: Int, refusal: SessionRefusal?) {
    self.changes = changes
    self.locks = locks
    self.refusal = refusal
  }
}
