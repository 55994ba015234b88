internal import Glibc
internal import Processes
internal import SDBus
internal import SecretModel

/// The questions to logind, each answered from what it says now.
struct Logind: Sendable {
  static let name = "org.freedesktop.login1"
  static let path = "/org/freedesktop/login1"
  static let manager = "org.freedesktop.login1.Manager"
  static let prepareForSleep = "PrepareForSleep"

  let service: BusService

  /// The session that this program belongs to, or else its user's display session: desktops start their programs
  /// outside of the session, under the user's service manager. Nil where there is neither.
  ///
  /// The process must be pinned: logind is asked by its number.
  func session(of caller: Caller, _ process: PinnedProcess) async throws(BusError) -> LoginSession? {
    let own = try await object("GetSessionByPID", UInt32(process.id), missing: "NoSessionForPID")
    // Only now is it certain that the number still meant this process.
    guard process.isRunning else { throw .disconnected }
    if let own, let session = try await session(at: own), !session.isOfServices { return session }
    guard let user = try await properties(ofUser: caller.user) else { return nil }
    guard let display = user["Display"]?.asStructure, display.count == 2, let path = display[1].asObjectPath else {
      throw .malformed
    }
    return path == "/" ? nil : try await session(at: path)
  }

  /// All sessions of a user.
  func sessions(of user: UInt32) async throws(BusError) -> [LoginSession] {
    guard let listed = try await properties(ofUser: user)?["Sessions"] else { return [] }
    guard let entries = listed.asArray else { throw .malformed }
    var sessions: [LoginSession] = []
    for entry in entries {
      guard let members = entry.asStructure, members.count == 2, let path = members[1].asObjectPath else {
        throw .malformed
      }
      if let session = try await session(at: path) { sessions.append(session) }
    }
    return sessions
  }

  /// A property of the manager that is true or false.
  func flag(_ name: String) async throws(BusError) -> Bool {
    let answer = try await service.call(
      Self.path, "org.freedesktop.DBus.Properties", "Get", [.string(Self.manager), .string(name)])
    guard let value = answer.first?.asVariant?.asBoolean else { throw .malformed }
    return value
  }

  /// A lock that the machine waits for before it sleeps, until it is closed.
  func sleepLock() async throws(BusError) -> BusDescriptor {
    let answer = try await service.call(
      Self.path, Self.manager, "Inhibit",
      [.string("sleep"), .string("Whorl"), .string("Keys and the fingerprint reader are put away"), .string("delay")])
    guard let lock = answer.first?.asDescriptor else { throw .malformed }
    return lock
  }

  private func properties(ofUser user: UInt32) async throws(BusError) -> [String: BusValue]? {
    guard let path = try await object("GetUser", user, missing: "NoSuchUser") else { return nil }
    return try await all(of: path, "User")
  }

  private func session(at path: String) async throws(BusError) -> LoginSession? {
    guard let properties = try await all(of: path, "Session") else { return nil }
    guard let session = LoginSession(properties) else { throw .malformed }
    return session
  }

  /// Nil where logind answers with the error that there is none.
  private func object(_ method: String, _ number: UInt32, missing: String) async throws(BusError) -> String? {
    do throws(BusError) {
      guard let path = try await service.call(Self.path, Self.manager, method, [.uint32(number)]).first?.asObjectPath
      else { throw .malformed }
      return path
    } catch .remote(let name, _, _) where name == "\(Self.name).\(missing)" {
      return nil
    }
  }

  /// All properties; nil where the object has gone since its path was given.
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
