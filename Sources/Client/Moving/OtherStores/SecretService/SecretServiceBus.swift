internal import Primitives
internal import SDBus
internal import VaultBus

/// Calls of the Secret Service, all to the one program that had its name at the beginning.
final class SecretServiceBus: Sendable {
  static let path = "/org/freedesktop/secrets"
  static let malformed = ImportError.unavailable("the Secret Service does not answer as it should")

  static let name = "org.freedesktop.secrets"
  private static let interface = "org.freedesktop.Secret"
  /// The longest wait for an answer that needs no person.
  static let limit = Duration.seconds(30)

  let connection: BusConnection
  /// The unique name of the service.
  let owner: String
  private let signals: SecretServiceSignals

  /// Connects, and makes the bus start the service if it does not run.
  init(_ address: String) async throws(ImportError) {
    let signals = SecretServiceSignals()
    self.signals = signals
    var limits = BusLimits()
    limits.secrets = SharedSecret.self
    do throws(BusError) {
      connection = try BusConnection(
        busAddress: address, limits: limits, handlers: .init(signal: { signals.add($0) }, closed: { signals.end() }))
      // Ask for the owner first: the bus can only start a service that has a service file, but another program may have
      // the name.
      if try await connection.owner(of: Self.name) == nil {
        // 0: no flags
        _ = try await connection.call(
          MessageBus.target, "StartServiceByName", [.string(Self.name), .uint32(0)], within: Self.limit)
      }
      guard let owner = try await connection.owner(of: Self.name) else { throw .disconnected }
      self.owner = owner
    } catch {
      throw .unavailable("there is no Secret Service on the bus of this session (\(error.words))")
    }
  }

  deinit { connection.close() }

  /// A call of the service's own object.
  func service(_ member: String, _ arguments: [BusValue]) async throws(ImportError) -> [BusValue] {
    try await call(Self.path, "\(Self.interface).Service", member, arguments)
  }

  private func call(
    _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue]
  ) async throws(ImportError) -> [BusValue] {
    let target = BusTarget(destination: owner, path: path, interface: interface)
    do throws(BusError) {
      return try await connection.call(target, member, arguments, within: Self.limit)
    } catch {
      throw .unavailable("the Secret Service: \(error.words)")
    }
  }

  /// All properties of an object's interface, such as `Item`.
  func properties(_ path: String, _ interface: String) async throws(ImportError) -> [String: BusValue] {
    let answer = try await call(
      path, "org.freedesktop.DBus.Properties", "GetAll", [.string("\(Self.interface).\(interface)")])
    guard case .dictionary(let properties)? = answer.first else { throw Self.malformed }
    return properties
  }

  /// A property that is a list of objects.
  func paths(_ path: String, _ interface: String, _ property: String) async throws(ImportError) -> [String] {
    guard case .array(_, let values)? = try await properties(path, interface)[property] else { throw Self.malformed }
    return values.compactMap { if case .objectPath(let path) = $0 { path } else { nil } }
  }

  /// The collection with this alias; nil if there is none.
  func collection(called alias: String) async throws(ImportError) -> String? {
    guard case .objectPath(let path)? = try await service("ReadAlias", [.string(alias)]).first else {
      throw Self.malformed
    }
    return path == "/" ? nil : path
  }

  /// Opens a collection or an item, with the service's prompt if needed. False if the person dismissed it.
  func unlock(_ path: String) async throws(ImportError) -> Bool {
    let answer = try await service("Unlock", [.array(of: "o", [.objectPath(path)])])
    guard answer.count == 2, case .objectPath(let prompt) = answer[1] else { throw Self.malformed }
    // "/" stands for no prompt.
    return prompt == "/" ? true : try await show(prompt) != nil
  }

  /// Opens a collection of GNOME Keyring with its password, as its own program for passwords does. False if the password
  /// is wrong.
  func unlock(_ path: String, with password: SharedSecret, in session: String) async throws(ImportError) -> Bool {
    let target = BusTarget(
      destination: owner, path: Self.path, interface: "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface")
    do throws(BusError) {
      _ = try await connection.call(
        target, "UnlockWithMasterPassword",
        [.objectPath(path), Self.structure(Secret(value: password, contentType: "text/plain"), session)],
        within: Self.limit)
      return true
    } catch .remote("org.gnome.keyring.Error.Denied", _, _) {
      return false
    } catch {
      throw .unavailable("the Secret Service: \(error.words)")
    }
  }

  /// The name of a collection's keyring, of which the path has the characters other than letters and digits as `_` and two
  /// digits.
  func keyring(at path: String) -> String {
    var name: [UInt8] = []
    var rest = Array((path.split(separator: "/").last ?? "").utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "_"), let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
        name.append(value)
        rest = rest.dropFirst(2)
      } else {
        name.append(byte)
      }
    }
    return String(decoding: name, as: UTF8.self)
  }

  /// Shows a prompt of the service. Returns its result, or nil if the person dismissed it.
  private func show(_ prompt: String) async throws(ImportError) -> BusValue? {
    let target = BusTarget(destination: owner, path: prompt, interface: "\(Self.interface).Prompt")
    do throws(BusError) {
      try await connection.subscribe(to: "Completed", of: target)
    } catch {
      throw .unavailable("the Secret Service: \(error.words)")
    }
    // An empty window: the prompt belongs to no window of this program.
    _ = try await call(prompt, target.interface, "Prompt", [.string("")])
    guard let completed = await signals.first(from: owner, path: prompt) else {
      throw .unavailable("the Secret Service ended")
    }
    guard completed.arguments.count == 2, completed.arguments[0].asBoolean == false else { return nil }
    return completed.arguments[1].asVariant ?? completed.arguments[1]
  }

  // MARK: Changes

  /// Makes a collection, for which the service may ask for a password.
  ///
  /// - Returns: its path.
  /// - Throws: `unreadable` if the service refuses.
  func create(collection label: String) async throws(ImportError) -> String {
    try await made(
      Self.path, "Service", "CreateCollection",
      [.dictionary(["\(Self.interface).Collection.Label": .string(label)]), .string("")])
  }

  /// Stores a new item in a collection.
  ///
  /// - Returns: its path.
  /// - Throws: `unreadable` if the service refuses it.
  func create(
    item label: String, _ attributes: [String: String], _ secret: Secret, in collection: String, session: String
  ) async throws(ImportError) -> String {
    let properties: [String: BusValue] = [
      "\(Self.interface).Item.Label": .string(label), "\(Self.interface).Item.Attributes": .texts(attributes),
    ]
    // false: an item with the same attributes stays
    return try await made(
      collection, "Collection", "CreateItem",
      [.dictionary(properties), Self.structure(secret, session), .boolean(false)])
  }

  /// Makes a call that creates an object, and shows the prompt if the service answers with one.
  private func made(
    _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue]
  ) async throws(ImportError) -> String {
    let answer = try await change(path, "\(Self.interface).\(interface)", member, arguments)
    guard answer.count == 2, let object = answer[0].asObjectPath, let prompt = answer[1].asObjectPath else {
      throw Self.malformed
    }
    if object != "/" { return object }
    guard let path = try await show(prompt)?.asObjectPath, path != "/" else {
      throw .unreadable("was not created: its prompt was closed without an answer")
    }
    return path
  }

  /// Gives an item another secret.
  ///
  /// - Throws: `unreadable` if the service refuses it.
  func set(_ secret: Secret, of item: String, session: String) async throws(ImportError) {
    _ = try await change(item, "\(Self.interface).Item", "SetSecret", [Self.structure(secret, session)])
  }

  /// Gives an item another label.
  ///
  /// - Throws: `unreadable` if the service refuses it.
  func set(label: String, of item: String) async throws(ImportError) {
    _ = try await change(
      item, "org.freedesktop.DBus.Properties", "Set",
      [.string("\(Self.interface).Item"), .string("Label"), .variant(.string(label))])
  }

  /// Removes an item, for which the service may show a prompt.
  ///
  /// - Throws: `unreadable` if the service refuses.
  func delete(_ item: String) async throws(ImportError) {
    let answer = try await change(item, "\(Self.interface).Item", "Delete", [])
    guard let prompt = answer.first?.asObjectPath else { throw Self.malformed }
    guard prompt != "/" else { return }
    guard try await show(prompt) != nil else {
      throw .unreadable("was not removed: its prompt was closed without an answer")
    }
  }

  private static func structure(_ secret: Secret, _ session: String) -> BusValue {
    .structure([
      .objectPath(session), .bytes([]), .secret(BusSecret(secret.value)), .string(secret.contentType),
    ])
  }

  /// A call that changes one object. A refusal is not taken to apply to other objects.
  private func change(
    _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue]
  ) async throws(ImportError) -> [BusValue] {
    let target = BusTarget(destination: owner, path: path, interface: interface)
    do throws(BusError) {
      return try await connection.call(target, member, arguments, within: Self.limit)
    } catch .remote(_, let message, _) {
      throw .unreadable("was refused: \(message)")
    } catch {
      throw .unavailable("the Secret Service: \(error.words)")
    }
  }

  // MARK: Secrets

  struct Secret: Sendable {
    let value: SharedSecret
    let contentType: String
  }

  /// The secret of an item that is not locked, in a session `plain`.
  func secret(of item: String, in session: String) async throws(ImportError) -> Secret {
    let target = BusTarget(destination: owner, path: item, interface: "\(Self.interface).Item")
    let answer: [BusValue]
    do throws(BusError) {
      answer = try await connection.call(target, "GetSecret", [.objectPath(session)], within: Self.limit)
    } catch .remote(_, let message, _) {
      // Only this item is refused.
      throw .unreadable("is not given out: \(message)")
    } catch {
      throw .unavailable("the Secret Service: \(error.words)")
    }
    guard case .structure(let parts)? = answer.first, parts.count == 4, let value = parts[2].asSecret as? SharedSecret,
      case .string(let contentType) = parts[3]
    else {
      throw Self.malformed
    }
    return Secret(value: value, contentType: contentType)
  }
}
