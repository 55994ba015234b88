/// What the login sessions of a machine allow: the vault asks before it arms a reader, while one is armed, and before it
/// releases what follows the session's lock. A private vault has ``NoSessionGate``.
package protocol SessionGate: Sendable {
  /// Why nobody may be asked for a finger on behalf of this program now; nil where somebody may.
  func refusal(for caller: Caller) async -> SessionRefusal?
  /// Returns when nobody may be asked any more on behalf of this program, with the reason. Cancelling the task ends it
  /// with any value.
  func untilRefused(for caller: Caller) async -> SessionRefusal
  /// Whether a session of this user is unlocked now: what ``Accessibility/whenUnlocked`` follows. Runs where it is called:
  /// every release of such an item asks.
  nonisolated(nonsending) func isUnlocked(_ user: UInt32) async -> Bool
}

/// Why the state of a login session forbids to ask for a finger.
public enum SessionRefusal: String, Sendable, Hashable, CaseIterable {
  /// The program belongs to no login session, and its user has none at the machine.
  case noSession = "no-session"
  /// The session came over the network.
  case remote = "remote"
  /// Another session is in the foreground of the seat.
  case inactive = "inactive"
  /// The screen is locked.
  case locked = "locked"
  /// The lid is closed, and the only reader is inside.
  case lidClosed = "lid-closed"
  /// The machine is about to sleep.
  case sleeping = "sleeping"
  /// The administrator's polkit rules forbid it.
  case notPermitted = "not-permitted"
  /// logind or polkit cannot be asked.
  case unknown = "unknown"
}

/// For a vault that serves one program of its own user, whose sessions it does not know: nothing is refused.
package struct NoSessionGate: SessionGate {
  package init() {}

  package func refusal(for caller: Caller) async -> SessionRefusal? { nil }

  package func untilRefused(for caller: Caller) async -> SessionRefusal {
    // Nothing ever changes: the wait ends when the task is cancelled.
    let (changes, source) = AsyncStream.makeStream(of: Void.self)
    for await _ in changes {}
    withExtendedLifetime(source) {}
    return .unknown
  }

  package nonisolated(nonsending) func isUnlocked(_ user: UInt32) async -> Bool { true }
}
