/// Decides by the machine's login sessions. The vault calls it before and while a reader is armed, and before it
/// releases items that need an unlocked session. A private vault uses ``NoSessionGate``.
package protocol SessionGate: Sendable {
  /// Why no finger may be asked for now, for this program; nil if one may.
  ///
  /// - Parameter place: where the reader is.
  func refusal(for caller: Caller, at place: ReaderPlace) async -> SessionRefusal?
  /// Why the state of this program's login session, or the lid, allows no finger; nil if both allow one. Rules of the
  /// machine for single programs are not asked.
  func sessionRefusal(for caller: Caller, at place: ReaderPlace) async -> SessionRefusal?
  /// Waits until ``sessionRefusal(for:at:)``, for a reader under the lid, differs from `known`, or the task is
  /// cancelled.
  func sessionChange(from known: SessionRefusal?, for caller: Caller) async
  /// Waits until no finger may be asked for any more, for this program, and returns the reason. After a cancel the
  /// result has no meaning.
  func untilRefused(for caller: Caller) async -> SessionRefusal
  /// Whether a session of this user is unlocked now, for ``Accessibility/whenUnlocked``. Runs on the caller's executor,
  /// since every release of such an item calls it.
  nonisolated(nonsending) func isUnlocked(_ user: UInt32) async -> Bool
}

/// Whether a reader can be touched while the lid is closed.
package enum ReaderPlace: Sendable, Hashable {
  /// It can, or its place is not known.
  case inReach
  /// It cannot: it is built in and the only reader of its adapter.
  case underLid
}

/// Why the state of a login session does not allow to ask for a finger.
public enum SessionRefusal: String, Sendable, Hashable, CaseIterable {
  /// The program belongs to no login session, and its user has none at the machine.
  case noSession = "no-session"
  /// The session is remote.
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

/// Refuses nothing. For a private vault, which serves one program of its own user and ignores sessions.
package struct NoSessionGate: SessionGate {
  package init() {}

  package func refusal(for caller: Caller, at place: ReaderPlace) async -> SessionRefusal? { nil }

  package func sessionRefusal(for caller: Caller, at place: ReaderPlace) async -> SessionRefusal? { nil }

  package func sessionChange(from known: SessionRefusal?, for caller: Caller) async { await untilCancelled() }

  package func untilRefused(for caller: Caller) async -> SessionRefusal {
    await untilCancelled()
    return .unknown
  }

  private func untilCancelled() async {
    let (changes, source) = AsyncStream.makeStream(of: Void.self)
    for await _ in changes {}
    withExtendedLifetime(source) {}
  }

  package nonisolated(nonsending) func isUnlocked(_ user: UInt32) async -> Bool { true }
}
