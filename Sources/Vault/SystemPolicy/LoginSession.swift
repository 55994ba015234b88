internal import SDBus
internal import SecretModel

/// What logind knows of one session (org.freedesktop.login1(5)).
struct LoginSession: Sendable, Hashable {
  let kind: String
  /// `opening`, `online`, `active` or `closing`.
  let state: String
  let isRemote: Bool
  /// Empty for a session at no seat.
  let seat: String
  /// What the session's own screen lock has said.
  let isLocked: Bool

  /// Nil where a property is missing or of another type.
  init?(_ properties: [String: BusValue]) {
    guard let kind = properties["Class"]?.asString, let state = properties["State"]?.asString,
      let isRemote = properties["Remote"]?.asBoolean, let isLocked = properties["LockedHint"]?.asBoolean,
      let seat = properties["Seat"]?.asStructure, seat.count == 2, let seatName = seat[0].asString
    else { return nil }
    self.kind = kind
    self.state = state
    self.isRemote = isRemote
    self.seat = seatName
    self.isLocked = isLocked
  }

  /// Whether a person has logged in here, and has not logged out. Greeters, lock screens and cron jobs are no such
  /// sessions.
  var isOfPerson: Bool { kind.hasPrefix("user") && state != "closing" }

  /// Whether this stands for a user's services (`user@UID.service`), which belong to no session of a person.
  var isOfServices: Bool { kind.hasPrefix("manager") }

  /// Why nobody may be asked for a finger on behalf of this session, at the reader's seat.
  func refusal(at reader: String) -> SessionRefusal? {
    if isRemote { return .remote }
    guard isOfPerson, seat == reader else { return .noSession }
    guard state == "active" else { return .inactive }
    return isLocked ? .locked : nil
  }
}
