// Rights that are kept, with their secrets.

internal import Foundation
public import KeychainServices
internal import Primitives
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

/// A right of ``LARightStore``, with a key and perhaps a secret that can be used only while it is authorized
/// (LAPersistedRight.h, macOS 13).
public final class LAPersistedRight: LARight, @unchecked Sendable {
  // Unchecked, like its superclass; its own values never change.

  /// The key that was made when the right was saved.
  public let key: LAPrivateKey
  /// The secret that the right was saved with.
  public let secret: LASecret
  /// The item that holds the secret, by which the right is found.
  let anchor: ItemID
  /// The item of the key.
  let keyItem: ItemID

  /// Nil for items that are no right.
  init?(anchor: Item, key: Item) {
    let authorization = RightAuthorization(anchor.access, item: key.id)
    let proof = RightProof(authorization)
    guard let privateKey = LAPrivateKey(key, proof) else { return nil }
    self.key = privateKey
    self.anchor = anchor.id
    keyItem = key.id
    secret = LASecret(anchor.id, proof)
    super.init(authorization)
  }
}

/// The secret of a saved right (LASecret.h, macOS 13). Can be read only while the right is authorized.
public final class LASecret: NSObject, Sendable {
  private let id: ItemID
  private let proof: RightProof

  init(_ id: ItemID, _ proof: RightProof) {
    self.id = id
    self.proof = proof
  }

  /// The data that the right was saved with.
  ///
  /// Throws an ``LAError`` if the right is not authorized, and `errSecItemNotFound` for a right that was saved without
  /// a secret.
  public var rawData: Data { get async throws { try await KeyWork.run { try self.data() } } }

  /// The same for a completion handler.
  @preconcurrency
  public func loadData(completion handler: @escaping @Sendable (Data?, (any Error)?) -> Void) {
    KeyWork.run(handler) { try self.data() }
  }

  private func data() throws -> Data {
    let id = id
    do {
      return try proof.use { context in
        let data: Result<Data?, VaultError> = blocking { () async throws(VaultError) in
          let released = try await SecretStore.shared().secrets(of: [id], using: context)
          return RightSecret.data(released[0].secret)
        }
        guard let data = try data.get() else { throw VaultError.itemGone }
        return data
      }
    } catch let error as VaultError {
      throw error.rightError
    }
  }
}

/// The stored form of a saved right's secret: a byte that is 1 if there is a secret, and the secret.
enum RightSecret {
  static func bytes(_ secret: Data?) -> SharedSecret {
    var bytes = SecretBytes(count: (secret?.count ?? 0) + 1)
    // Both borrowed for the call.
    bytes.withUnsafeMutableBytes { room in
      room[0] = secret == nil ? 0 : 1
      secret?.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: room[1...]).copyMemory(from: $0) }
    }
    return SharedSecret(bytes)
  }

  /// Nil if the right has no secret.
  static func data(_ kept: borrowing SecretBytes) -> Data? {
    // Copies the borrowed bytes.
    kept.withUnsafeBytes { $0.first == 1 ? Data($0.dropFirst()) : nil }
  }
}
