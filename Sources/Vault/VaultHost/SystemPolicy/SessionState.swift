/// The state of all login sessions of a user, on which ``SecretModel/Accessibility/whenUnlocked`` depends.
package enum SessionState: Sendable, Hashable {
  /// A session at a seat is unlocked. Where the user has none at a seat, any other session counts as unlocked.
  case unlocked
  /// Every session at a seat is locked.
  case locked
  /// The machine is about to sleep, or sleeps.
  case sleeping
  /// The user has no session.
  case absent
  /// logind cannot be asked, or its answer is malformed. Treat it as ``locked``.
  case unknown

  init(of sessions: [LoginSession]) {
    let sessions = sessions.filter(\.isOfPerson)
    let seated = sessions.filter { !$0.seat.isEmpty }
    if seated.isEmpty {
      self = sessions.isEmpty ? .absent : .unlocked
    } else {
      self = seated.allSatisfy(\.isLocked) ? .locked : .unlocked
    }
  }
}
