import Keys
import Primitives
import ProgramDriver
import SDBus
import Synchronization
import Testing

/// A client that uses the Secret Service API directly, also for calls that programs do not make.
final class ServiceClient: Sendable {
  static let root = "/org/freedesktop/secrets"
  static let login = "\(root)/collection/login"

  let connection: BusConnection
  private let signals: Signals

  private final class Signals: Sendable {
    let all = Mutex<[BusSignal]>([])
  }

  init(_ bus: PrivateBus) async throws {
    let signals = Signals()
    self.signals = signals
    connection = try BusConnection(
      busAddress: bus.address, handlers: .init(signal: { signal in signals.all.withLock { $0.append(signal) } }))
    _ = try await connection.call(
      MessageBus.target, "AddMatch", [.string("type='signal',sender='org.freedesktop.secrets'")])
  }

  deinit { connection.close() }

  /// Calls a method of one of the API's interfaces, such as `Service`.
  @discardableResult
  func call(_ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = []) async throws(BusError)
    -> [BusValue]
  {
    try await connection.call(
      BusTarget(
        destination: "org.freedesktop.secrets", path: path,
        interface: interface.contains(".") ? interface : "org.freedesktop.Secret.\(interface)"), member, arguments)
  }

  /// The D-Bus name of a call's error; nil where it succeeds.
  func error(_ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = []) async -> String? {
    do throws(BusError) {
      try await call(path, interface, member, arguments)
      return nil
    } catch .remote(let name, _, _) {
      return name.split(separator: ".").last.map(String.init)
    } catch {
      return "\(error)"
    }
  }

  func property(_ path: String, _ interface: String, _ name: String) async throws -> BusValue {
    let answer = try await call(
      path, "org.freedesktop.DBus.Properties", "Get", [.string("org.freedesktop.Secret.\(interface)"), .string(name)])
    return try #require(answer.first?.asVariant)
  }

  func set(_ path: String, _ interface: String, _ name: String, _ value: BusValue) async throws {
    try await call(
      path, "org.freedesktop.DBus.Properties", "Set",
      [.string("org.freedesktop.Secret.\(interface)"), .string(name), .variant(value)])
  }

  /// Opens a session without encryption, and returns its path.
  func plainSession() async throws -> String {
    let answer = try await call(Self.root, "Service", "OpenSession", [.string("plain"), .variant(.string(""))])
    return try #require(answer.last?.asObjectPath)
  }

  /// Stores an item, and returns its path.
  @discardableResult
  func create(
    _ secret: String, in collection: String = login, label: String, _ attributes: [String: String],
    type: String = "text/plain", replace: Bool = false, session: String
  ) async throws(BusError) -> String {
    let answer = try await call(
      collection, "Collection", "CreateItem",
      [
        .dictionary([
          "org.freedesktop.Secret.Item.Label": .string(label),
          "org.freedesktop.Secret.Item.Attributes": .texts(attributes),
        ]),
        Self.structure(secret, type, session), .boolean(replace),
      ])
    return answer.first?.asObjectPath ?? ""
  }

  static func structure(_ secret: String, _ type: String, _ session: String) -> BusValue {
    .structure([.objectPath(session), .bytes([]), .bytes(Array(secret.utf8)), .string(type)])
  }

  /// The secret of an item and its content type.
  func secret(_ item: String, session: String) async throws(BusError) -> (text: String, type: String) {
    let parts = try await call(item, "Item", "GetSecret", [.objectPath(session)]).first?.asStructure ?? []
    guard parts.count == 4 else { throw .malformed }
    return (String(decoding: parts[2].asBytes ?? [], as: UTF8.self), parts[3].asString ?? "")
  }

  /// The items that a search finds, unlocked and locked.
  func search(_ attributes: [String: String]) async throws -> (unlocked: [String], locked: [String]) {
    let answer = try await call(Self.root, "Service", "SearchItems", [.texts(attributes)])
    let lists = answer.map { $0.asArray?.compactMap(\.asObjectPath) ?? [] }
    return (lists[0], lists[1])
  }

  /// What `Unlock` or `Lock` has done, and the path of the prompt.
  func change(_ member: String, _ paths: [String]) async throws -> (done: [String], prompt: String) {
    let answer = try await call(
      Self.root, "Service", member, [.array(of: "o", paths.map { .objectPath($0) })])
    return (answer[0].asArray?.compactMap(\.asObjectPath) ?? [], answer[1].asObjectPath ?? "")
  }

  /// Shows a prompt, and waits for its end: whether it was dismissed, and the paths of its result.
  func show(_ prompt: String) async throws -> (dismissed: Bool, paths: [String]) {
    try await call(prompt, "Prompt", "Prompt", [.string("")])
    return try await completed(prompt)
  }

  func completed(_ prompt: String) async throws -> (dismissed: Bool, paths: [String]) {
    let arguments = try await signal("Completed", of: prompt).arguments
    return (
      arguments[0].asBoolean == true, arguments[1].asVariant?.asArray?.compactMap(\.asObjectPath) ?? []
    )
  }

  /// Waits for `PropertiesChanged` with this property, and forgets it; fails after half a minute.
  func changed(_ property: String, of path: String) async throws -> BusValue {
    for _ in 0..<6_000 {
      let found: BusValue? = signals.all.withLock { all in
        for (place, signal) in all.enumerated() where signal.member == "PropertiesChanged" && signal.path == path {
          guard let value = signal.arguments[1].asDictionary?[property] else { continue }
          all.remove(at: place)
          return value
        }
        return nil
      }
      if let found { return found }
      try await Task.sleep(for: .milliseconds(5))
    }
    throw SystemFailure("\(path) has not told of \(property)", 110)
  }

  /// Whether a signal of an object has arrived that was not taken yet.
  func hasSignal(_ member: String, of path: String) -> Bool {
    signals.all.withLock { $0.contains { $0.member == member && $0.path == path } }
  }

  /// Waits for a signal of an object; fails after half a minute.
  @discardableResult
  func signal(_ member: String, of path: String) async throws -> BusSignal {
    for _ in 0..<6_000 {
      if let found = signals.all.withLock({ $0.first { $0.member == member && $0.path == path } }) { return found }
      try await Task.sleep(for: .milliseconds(5))
    }
    throw SystemFailure("no signal \(member)", 110)
  }
}
