/// What a user's login sessions allow, taken together: what ``SecretModel/Accessibility/whenUnlocked`` follows.
package enum SessionState: Sendable, Hashable {
  /// A session is unlocked. Those at a seat decide; where there are none, a session from elsewhere counts as unlocked.
  case unlocked
  /// Every session at a seat is locked.
  case locked
  /// The machine is about to sleep, or sleeps.
  case sleeping
  /// The user has no session.
  case absent
  /// logind cannot be asked, or answers nonsense. Treat it as ``locked``.
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
