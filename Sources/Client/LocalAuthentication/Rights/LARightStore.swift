internal import Executors
internal import KeySchemes
public import KeychainServices
internal import SecretModel
internal import Whorl

/// The rights that the program has saved (LARightStore.h, macOS 13).
///
/// A right is two items in the program's own access group: a P-256 key made in the vault, which never leaves it, and
/// the secret. Both have the right's requirement as their access control. Saving and removing never ask.
public final class LARightStore: NSObject, Sendable {
  /// The only store.
  public class var shared: LARightStore { sharedStore }
  private static let sharedStore = LARightStore()

  private override init() {}

  /// Finds a right. Throws `errSecItemNotFound` if there is none, or its fingers have changed.
  public func right(forIdentifier identifier: String) async throws -> LAPersistedRight {
    try await Self.run { () throws(VaultError) in try await Self.find(identifier) }
  }

  /// The same for a completion handler.
  @preconcurrency
  public func right(
    forIdentifier identifier: String, completion handler: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
  ) {
    Self.run(handler) { () throws(VaultError) in try await Self.find(identifier) }
  }

  /// Saves a right with a new key.
  ///
  /// Identifiers are unique, as on Apple's pages: throws `errSecDuplicateItem` if a right has this one already, unless
  /// the fingers of that right have changed.
  public func saveRight(_ right: LARight, identifier: String) async throws -> LAPersistedRight {
    let access = right.authorization.access
    return try await Self.run { () throws(VaultError) in try await Self.save(access, identifier, nil) }
  }

  /// The same for a completion handler.
  @preconcurrency
  public func saveRight(
    _ right: LARight, identifier: String,
    completion handler: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
  ) {
    let access = right.authorization.access
    Self.run(handler) { () throws(VaultError) in try await Self.save(access, identifier, nil) }
  }

  /// Saves a right with a new key and a secret, under an identifier as for ``saveRight(_:identifier:)``.
  public func saveRight(_ right: LARight, identifier: String, secret: Data) async throws -> LAPersistedRight {
    let access = right.authorization.access
    return try await Self.run { () throws(VaultError) in try await Self.save(access, identifier, secret) }
  }

  /// The same for a completion handler.
  @preconcurrency
  public func saveRight(
    _ right: LARight, identifier: String, secret: Data,
    completion handler: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
  ) {
    let access = right.authorization.access
    Self.run(handler) { () throws(VaultError) in try await Self.save(access, identifier, secret) }
  }

  /// Removes a right with its key and its secret, and ends its authorization.
  public func removeRight(_ right: LAPersistedRight) async throws {
    try await outcome(of: { removeRight(right, completion: $0) })
  }

  /// The same for a completion handler.
  @preconcurrency
  public func removeRight(_ right: LAPersistedRight, completion handler: @escaping @Sendable ((any Error)?) -> Void) {
    right.authorization.deauthorize()
    let ids = [right.anchor, right.keyItem]
    Self.run({ (_: Int?, error) in handler(error) }) { () throws(VaultError) in
      try await SecretStore.shared().delete(ItemSearch(ids: ids, synchronizable: .any, states: [.living, .dead]))
    }
  }

  /// Removes a right with its key and its secret. Throws `errSecItemNotFound` if there is none.
  public func removeRight(forIdentifier identifier: String) async throws {
    try await outcome(of: { removeRight(forIdentifier: identifier, completion: $0) })
  }

  /// The same for a completion handler.
  @preconcurrency
  public func removeRight(
    forIdentifier identifier: String, completion handler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    Self.run({ (_: Int?, error) in handler(error) }) { () throws(VaultError) in
      try await Self.remove(Self.attributes(identifier))
    }
  }

  /// Removes every right of the program.
  public func removeAllRights() async throws { try await outcome(of: { removeAllRights(completion: $0) }) }

  /// The same for a completion handler.
  @preconcurrency
  public func removeAllRights(completion handler: @escaping @Sendable ((any Error)?) -> Void) {
    Self.run({ (_: Int?, error) in handler(error) }) { () async throws(VaultError) in
      do throws(VaultError) {
        return try await Self.remove([Self.kind: .text("right")])
      } catch .itemGone {
        return 0
      }
    }
  }

  // MARK: The items

  /// Marks the items of rights, and is hidden from programs.
  private static let kind = AttributeName(rawValue: "whorl.kind")
  /// The identifier of a right, on both of its items.
  private static let name = AttributeName(rawValue: "whorl.right")
  private static let service = "whorl.right"

  private static func attributes(_ identifier: String) -> [AttributeName: AttributeValue] {
    [kind: .text("right"), name: .text(identifier)]
  }

  private static func items(
    _ itemClass: ItemClass, _ identifier: String, states: Set<Item.State> = [.living]
  ) async throws(VaultError) -> [Item] {
    try await SecretStore.shared().items(
      ItemSearch(itemClass, attributes(identifier), groups: .named([AccessGroup.own]), states: states))
  }

  private static func find(_ identifier: String) async throws(VaultError) -> LAPersistedRight {
    guard let anchor = try await items(.genericPassword, identifier).first,
      let key = try await items(.key, identifier).first,
      // Another program of the user may have stored these items: check that they require a proof, both the same.
      !anchor.access.flags.isDisjoint(with: [.userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode]),
      key.access.flags == anchor.access.flags.union(.privateKeyUsage),
      let right = LAPersistedRight(anchor: anchor, key: key)
    else { throw .itemGone }
    return right
  }

  private static func save(
    _ access: AccessControl, _ identifier: String, _ secret: Data?
  ) async throws(VaultError) -> LAPersistedRight {
    guard !identifier.isEmpty else { throw .invalidRequest("a right needs an identifier") }
    let store = try SecretStore.shared()
    guard try await items(.genericPassword, identifier).isEmpty else { throw .duplicateItem }
    // Delete the keys of a right whose fingers have changed, or that was saved in part. Its other item is replaced.
    try await store.delete(try await items(.key, identifier, states: [.living, .dead]).map(\.id))
    let shared = attributes(identifier)
    var keyAttributes = shared
    keyAttributes[.applicationTag] = .bytes(Array("\(service).\(identifier)".utf8))
    let key = try await store.addKey(
      NewItem(.key, keyAttributes, access: access), from: .generated(.ec(.p256)))
    do throws(VaultError) {
      let named = shared.merging([.service: .text(service), .account: .text(identifier)]) { $1 }
      let anchor = try await store.add(
        NewItem(.genericPassword, named, access: access), secret: RightSecret.bytes(secret).copy())
      guard let right = LAPersistedRight(anchor: anchor, key: key) else {
        throw .internalError("the item is not a key")
      }
      return right
    } catch {
      try? await store.delete([key.id])
      throw error
    }
  }

  @discardableResult
  private static func remove(_ attributes: [AttributeName: AttributeValue]) async throws(VaultError) -> Int {
    let store = try SecretStore.shared()
    var found: [ItemID] = []
    for itemClass in [ItemClass.genericPassword, .key] {
      found += try await store.items(
        ItemSearch(itemClass, attributes, groups: .named([AccessGroup.own]), states: [.living, .dead])
      ).map(\.id)
    }
    guard !found.isEmpty else { throw .itemGone }
    try await store.delete(found)
    return found.count
  }

  // MARK: Answers

  private static func run<Value: Sendable>(
    _ call: @escaping @Sendable () async throws(VaultError) -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      run({ value, error in
        if let value { continuation.resume(returning: value) }
        if let error { continuation.resume(throwing: error) }
      }) { () async throws(VaultError) in try await call() }
    }
  }

  private static func run<Value: Sendable>(
    _ handler: @escaping @Sendable (Value?, (any Error)?) -> Void,
    _ call: @escaping @Sendable () async throws(VaultError) -> Value
  ) {
    Task(executorPreference: BackgroundThread.shared) {
      do throws(VaultError) {
        let value = try await call()
        reply { handler(value, nil) }
      } catch {
        reply { handler(nil, error.rightError) }
      }
    }
  }
}
