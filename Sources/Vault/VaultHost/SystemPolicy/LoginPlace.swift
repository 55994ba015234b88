internal import SecretModel

/// Where a login program runs, according to logind.
enum LoginPlace: Sendable, Hashable {
  /// In this session, or under the service manager of a user with this display session; nil if the user has none.
  case inside(OwnedSession?)
  /// In no session: the system has started the program. With the session in the foreground of the reader's seat.
  case outside(foreground: OwnedSession?)

  struct OwnedSession: Sendable, Hashable {
    let session: LoginSession
    /// The user of the session.
    let user: UInt32
  }

  /// Why no finger may be asked for, for this program; nil if one may.
  ///
  /// - Parameters:
  ///   - user: the user who logs in, or whose screen is unlocked.
  ///   - reader: the seat that the reader belongs to.
  func refusal(of program: LoginProgram, for user: UInt32, at reader: String) -> SessionRefusal? {
    guard program.seat.isEmpty || program.seat == reader else { return .inactive }
    switch self {
    case .inside(nil): return .noSession
    case .inside(let place?) where program.isLocker:
      return place.user == user ? place.session.refusalToUnlock(at: reader) : .noSession
    case .inside(let place?):
      let session = place.session
      guard session.isOfGreeter, program.isGreeter, !session.isRemote else { return session.refusal(at: reader) }
      return session.seat == reader && session.state == "active" ? nil : .inactive
    case .outside(let foreground):
      // For example polkit's helper when the system starts it and it does not say for which program it asks.
      guard program.isGreeter else { return .noSession }
      guard let foreground else { return Self.isVirtualConsole(program.terminal) ? nil : .noSession }
      return foreground.refusalOfGreeter(for: user)
    }
  }

  /// Whether the terminal is on the machine's own screen and keyboard. A serial line may lead anywhere.
  private static func isVirtualConsole(_ terminal: String) -> Bool {
    let name = terminal.hasPrefix("/dev/") ? terminal.dropFirst(5) : terminal[...]
    guard name.hasPrefix("tty"), let number = UInt8(name.dropFirst(3)) else { return false }
    return (1...63).contains(number)
  }
}

extension LoginPlace.OwnedSession {
  /// A greeter may ask while its own session is in the foreground, or the locked session of the user who unlocks it.
  fileprivate func refusalOfGreeter(for other: UInt32) -> SessionRefusal? {
    if session.isRemote { return .remote }
    if session.isOfGreeter { return nil }
    return session.isOfPerson && session.isLocked && user == other ? nil : .inactive
  }
}
