internal import Glibc
internal import Processes
internal import SDBus
internal import SecretModel

/// Queries to logind. No answer is cached.
struct Logind: Sendable {
  static let name = "org.freedesktop.login1"
  static let path = "/org/freedesktop/login1"
  static let manager = "org.freedesktop.login1.Manager"
  static let prepareForSleep = "PrepareForSleep"
  /// Stands for the lid among the objects that have changed. No user's state is read from it.
  private static let lid = "lid"

  /// The objects that a signal changes and that an answer about sessions may depend on; empty for other signals, such
  /// as that a program takes an inhibitor lock, which any program may do at any rate.
  static func objects(changedBy signal: BusSignal) -> Set<String> {
    switch (signal.interface, signal.member) {
    case (manager, prepareForSleep): return [path]
    case (manager, "SessionNew"), (manager, "SessionRemoved"), (manager, "UserNew"), (manager, "UserRemoved"):
      return signal.arguments.last?.asObjectPath.map { [$0] } ?? []
    case ("org.freedesktop.DBus.Properties", "PropertiesChanged") where signal.path == path:
      // Signalled by systemd 256 and later.
      return signal.arguments.count == 3 && signal.arguments[1].asDictionary?["LidClosed"] != nil ? [lid] : []
    case ("org.freedesktop.DBus.Properties", "PropertiesChanged"):
      return ["session", "user", "seat"].contains { signal.path.hasPrefix("\(path)/\($0)/") } ? [signal.path] : []
    default: return []
    }
  }

  let service: BusService

  /// The session of this program, or else its user's display session, since desktops start programs outside the
  /// session, under the user's service manager. Nil if there is neither.
  ///
  /// The process must be pinned, since logind identifies it by its number.
  func session(of caller: Caller, _ process: PinnedProcess) async throws(BusError) -> LoginSession? {
    let own = try await object("GetSessionByPID", .uint32(UInt32(process.id)), missing: "NoSessionForPID")
    // The process still runs, so the number meant this process during the call.
    guard process.isRunning else { throw .disconnected }
    if let own, let session = try await session(at: own), !session.isOfServices { return session }
    guard let user = try await properties(ofUser: caller.user) else { return nil }
    return try await displaySession(in: user)
  }

  /// Where a login program runs, or the agent that it works for.
  ///
  /// The system starts polkit's helper for an agent, whose session counts then. A helper that runs in a session itself is
  /// judged by its own, since the program that started it has chosen whom it is connected to.
  func place(of program: LoginProgram, _ process: PinnedProcess, seat: String) async throws(BusError) -> LoginPlace {
    let own = try await place(of: process, seat: seat)
    guard case .outside = own, !program.isGreeter, !program.isLocker, let agent = program.agent else { return own }
    guard let pinned = PinnedProcess(agent) else { throw .disconnected }
    return try await place(of: pinned, seat: seat)
  }

  /// Where a program runs. The session is looked up by the process, since the user is often root.
  ///
  /// The process must be pinned, as in ``session(of:_:)``.
  ///
  /// - Parameter seat: the seat that the reader belongs to.
  func place(of process: PinnedProcess, seat: String) async throws(BusError) -> LoginPlace {
    let number = BusValue.uint32(UInt32(process.id))
    let own = try await object("GetSessionByPID", number, missing: "NoSessionForPID")
    let owner = try await object("GetUserByPID", number, missing: "NoUserForPID")
    guard process.isRunning else { throw .disconnected }
    if let own, let place = try await ownedSession(at: own), !place.session.isOfServices { return .inside(place) }
    guard let owner else { return .outside(foreground: try await foreground(of: seat)) }
    guard let user = try await all(of: owner, "User"), let path = try path(in: user["Display"]) else {
      return .inside(nil)
    }
    return .inside(try await ownedSession(at: path))
  }

  private func displaySession(in user: [String: BusValue]) async throws(BusError) -> LoginSession? {
    guard let path = try path(in: user["Display"]) else { return nil }
    return try await session(at: path)
  }

  /// The session in the foreground of a seat; nil if there is none, or no such seat.
  private func foreground(of seat: String) async throws(BusError) -> LoginPlace.OwnedSession? {
    guard let seat = try await object("GetSeat", .string(seat), missing: "NoSuchSeat"),
      let properties = try await all(of: seat, "Seat"), let path = try path(in: properties["ActiveSession"])
    else { return nil }
    return try await ownedSession(at: path)
  }

  /// The path in a pair of a name and a path; nil if it refers to no object.
  private func path(in reference: BusValue?) throws(BusError) -> String? {
    guard let members = reference?.asStructure, members.count == 2, let path = members[1].asObjectPath else {
      throw .malformed
    }
    return path == "/" ? nil : path
  }

  /// The session of this name and its user; nil if there is none.
  func session(named name: String) async throws(BusError) -> LoginPlace.OwnedSession? {
    guard let path = try await object("GetSession", .string(name), missing: "NoSuchSession") else { return nil }
    return try await ownedSession(at: path)
  }

  private func ownedSession(at path: String) async throws(BusError) -> LoginPlace.OwnedSession? {
    guard let properties = try await all(of: path, "Session") else { return nil }
    guard let session = LoginSession(properties),
      let user = properties["User"]?.asStructure?.first?.asIdentifier(UInt32.self)
    else {
      throw .malformed
    }
    return LoginPlace.OwnedSession(session: session, user: user)
  }

  /// All sessions of a user, and the paths of the objects that the answer was read from.
  func sessions(of user: UInt32) async throws(BusError) -> (sessions: [LoginSession], objects: Set<String>) {
    guard let own = try await object("GetUser", .uint32(user), missing: "NoSuchUser"),
      let listed = try await all(of: own, "User")?["Sessions"]
    else { return ([], []) }
    guard let entries = listed.asArray else { throw .malformed }
    var sessions: [LoginSession] = []
    var objects: Set<String> = [own]
    for entry in entries {
      guard let members = entry.asStructure, members.count == 2, let path = members[1].asObjectPath else {
        throw .malformed
      }
      objects.insert(path)
      if let session = try await session(at: path) { sessions.append(session) }
    }
    return (sessions, objects)
  }

  /// A Boolean property of the manager.
  func flag(_ name: String) async throws(BusError) -> Bool {
    let answer = try await service.call(
      Self.path, "org.freedesktop.DBus.Properties", "Get", [.string(Self.manager), .string(name)])
    guard let value = answer.first?.asVariant?.asBoolean else { throw .malformed }
    return value
  }

  /// A lock that delays sleep until it is closed.
  func sleepLock() async throws(BusError) -> BusDescriptor {
    let answer = try await service.call(
      Self.path, Self.manager, "Inhibit",
      [
        .string("sleep"), .string("Whorl"), .string("Keys are locked and the fingerprint reader is closed"),
        .string("delay"),
      ])
    guard let lock = answer.first?.asDescriptor else { throw .malformed }
    return lock
  }

  private func properties(ofUser user: UInt32) async throws(BusError) -> [String: BusValue]? {
    guard let path = try await object("GetUser", .uint32(user), missing: "NoSuchUser") else { return nil }
    return try await all(of: path, "User")
  }

  private func session(at path: String) async throws(BusError) -> LoginSession? {
    guard let properties = try await all(of: path, "Session") else { return nil }
    guard let session = LoginSession(properties) else { throw .malformed }
    return session
  }

  /// The object that a method returns; nil if logind answers with the error `missing`.
  private func object(_ method: String, _ argument: BusValue, missing: String) async throws(BusError) -> String? {
    do throws(BusError) {
      guard let path = try await service.call(Self.path, Self.manager, method, [argument]).first?.asObjectPath
      else { throw .malformed }
      return path
    } catch .remote(let name, _, _) where name == "\(Self.name).\(missing)" {
      return nil
    }
  }

  /// All properties; nil if the object no longer exists.
  private func all(of path: String, _ interface: String) async throws(BusError) -> [String: BusValue]? {
    do throws(BusError) {
      let answer = try await service.call(
        path, "org.freedesktop.DBus.Properties", "GetAll", [.string("\(Self.name).\(interface)")])
      guard let properties = answer.first?.asDictionary else { throw .malformed }
      return properties
    } catch .remote(name: "org.freedesktop.DBus.Error.UnknownObject", _, _) {
      return nil
    }
  }
}
