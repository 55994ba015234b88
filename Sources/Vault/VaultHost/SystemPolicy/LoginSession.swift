internal import SDBus
internal import SecretModel

/// The properties of a session in logind (org.freedesktop.login1(5)).
struct LoginSession: Sendable, Hashable {
  let kind: String
  /// `opening`, `online`, `active` or `closing`.
  let state: String
  let isRemote: Bool
  /// Empty for a session without a seat.
  let seat: String
  /// Whether the session's screen lock has reported that it is locked.
  let isLocked: Bool

  /// Nil if a property is missing or of another type.
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

  /// Whether this is the session of a person who has logged in and not out. Greeters, lock screens and cron jobs are
  /// not.
  var isOfPerson: Bool { kind.hasPrefix("user") && state != "closing" }

  /// Whether this is a local login of a person: only such a login may open secrets. Other classes that begin with
  /// `user` are for lighter uses, such as jobs.
  var isLocalLogin: Bool { kind == "user" && !isRemote && state != "closing" }

  /// Whether this is the session of a user's service manager (`user@UID.service`) and not of a login.
  var isOfServices: Bool { kind.hasPrefix("manager") }

  /// Whether this is the session of a login screen.
  var isOfGreeter: Bool { kind == "greeter" }

  /// Why no finger may be asked for, for this session at the reader's seat; nil if one may.
  func refusal(at reader: String) -> SessionRefusal? { refusalToUnlock(at: reader) ?? (isLocked ? .locked : nil) }

  /// The same for the program that unlocks it. Not every lock screen reports that it is locked, and any program of the user
  /// can say so: this decides nothing.
  func refusalToUnlock(at reader: String) -> SessionRefusal? {
    if isRemote { return .remote }
    guard isOfPerson, seat == reader else { return .noSession }
    return state == "active" ? nil : .inactive
  }
}
