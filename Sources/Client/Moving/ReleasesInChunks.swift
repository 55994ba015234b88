// Items on their way out of a store: released in parts, the keys that cannot leave it, and why something stays.

package import Primitives
package import SecretModel

/// Reads the secrets of many items, with few of them in memory at a time.
package struct ReleasesInChunks {
  private let store: any VaultService
  private let asking: Asking

  /// The maximum number of items whose secrets are in memory at a time.
  private static let chunk = 500
  /// The maximum size of their secrets, in bytes; one item may have more.
  private static let size = 2 << 20

  private typealias Answer = Result<[ReleasedItem], VaultError>

  /// - Parameter asking: how to authenticate: with at most one touch and one passcode, if the context keeps evidence.
  package init(store: any VaultService, asking: Asking) { (self.store, self.asking) = (store, asking) }

  /// Passes each item with its secret to `body`, in the order of the ids, or the error that concerns it alone. The next
  /// secrets are read while `body` uses the previous ones.
  ///
  /// - Throws: errors of an authentication and of the store, and what `body` throws.
  package func read(
    _ ids: [ItemID], _ body: (Int, Result<ReleasedItem, VaultError>) async throws(VaultError) -> Void
  ) async throws(VaultError) {
    var (place, count) = (0, Self.chunk)
    var running = request(ids, 0, count)
    while let call = running {
      running = nil
      switch await call.value {
      case .success(let released):
        guard (1...min(count, ids.count - place)).contains(released.count) else {
          throw .internalError("the vault released \(released.count) items")
        }
        let first = place
        (place, count) = (place + released.count, Self.chunk)
        running = request(ids, place, count)
        do throws(VaultError) {
          for (offset, item) in released.enumerated() { try await body(first + offset, .success(item)) }
        } catch {
          _ = await running?.value
          throw error
        }
      case .failure(let error):
        guard error.concernsOneItem else { throw error }
        if min(count, ids.count - place) > 1 {
          // One of the items cannot be read. Halve the range until only that item is left.
          count = min(count, ids.count - place) / 2
        } else {
          try await body(place, .failure(error))
          (place, count) = (place + 1, Self.chunk)
        }
        running = request(ids, place, count)
      }
    }
  }

  /// Requests the next secrets; nil after the last.
  private func request(_ ids: [ItemID], _ place: Int, _ count: Int) -> Task<Answer, Never>? {
    guard place < ids.count else { return nil }
    let (store, asking, wanted) = (store, asking, Array(ids[place...].prefix(count)))
    return Task(executorPreference: BackgroundThread.shared) {
      do throws(VaultError) {
        return .success(try await store.secrets(of: wanted, upTo: Self.size, asking))
      } catch {
        return .failure(error)
      }
    }
  }
}

extension VaultService {
  /// Releases a passkey's secret for another store or a file, as a ``MovingPasskey``, after the proof that its access
  /// control requires. Returns an error that concerns this passkey alone.
  func export(_ passkey: Item, _ asking: Asking) async throws(VaultError) -> Result<ReleasedItem, VaultError> {
    do throws(VaultError) {
      return .success(ReleasedItem(passkey, secret: try await useKey(passkey.id, .export, asking)))
    } catch {
      guard error.concernsOneItem else { throw error }
      return .failure(error)
    }
  }
}

extension VaultError {
  /// Whether the error concerns one item, so that others may still be read.
  fileprivate var concernsOneItem: Bool {
    switch self {
    case .itemGone, .itemInvalidated, .itemDamaged, .differentReader: true
    default: false
    }
  }
}

/// The key pair of a store. Other machines encrypt their exports for this store to its public key.
///
/// It is an item like others: the private half is its secret, which a finger or the passcode releases, and the public
/// half is an attribute, which can be read without asking. It is made when it is first needed.
package struct StoreKey: Sendable {
  /// The access group of the item.
  static let accessGroup = "org.whorl.key"
  private static let attributes: [AttributeName: AttributeValue] = [
    .service: .text("whorl key"), .accessGroup: .text(accessGroup),
  ]

  private let store: any VaultService

  package init(of store: any VaultService) { self.store = store }

  /// The public half. Makes the pair if it does not exist.
  ///
  /// - Parameter makePair: makes a key pair, in a private vault.
  package func publicKey(
    _ makePair: () async throws(VaultError) -> EncryptedFile.KeyPair
  ) async throws(VaultError) -> AgePublicKey {
    if let item = try await item() { return try Self.publicKey(in: item) }
    let pair = try await makePair()
    var item = NewItem(.genericPassword, Self.attributes, access: AccessControl(.presence))
    item.attributes[.publicKey] = .bytes(pair.publicKey.bytes)
    switch try await store.bringIn(item, secret: pair.privateKey.copy()) {
    case .added: return pair.publicKey
    case .alreadyThere:
      // Another program has made one at the same time.
      guard let item = try await self.item() else { throw .itemGone }
      return try Self.publicKey(in: item)
    }
  }

  /// The private half, after a touch or the passcode.
  ///
  /// - Throws: `itemGone` if the store has no key; errors of an authentication.
  package func privateKey(_ asking: Asking) async throws(VaultError) -> SharedSecret {
    guard let item = try await item(), let released = try await store.secrets(.ids([item.id]), asking).first else {
      throw .itemGone
    }
    return SharedSecret(released.secret.copy())
  }

  private func item() async throws(VaultError) -> Item? {
    try await store.allItems(
      ItemSearch(.genericPassword, [.service: .text("whorl key")], groups: .named([Self.accessGroup]))
    ).first
  }

  private static func publicKey(in item: Item) throws(VaultError) -> AgePublicKey {
    guard case .bytes(let bytes)? = item.attributes[.publicKey], let key = AgePublicKey(bytes: bytes) else {
      throw .itemDamaged(item.name)
    }
    return key
  }
}

/// The reason why an item cannot be copied to another store.
package enum MoveObstacle: Sendable, Hashable {
  /// The fingers or the passcode that it was bound to are gone.
  case dead
  /// Its row cannot be read.
  case damaged
  /// It is a private key, which never leaves its store.
  case neverLeaves
  /// It has an application password, which would be needed to encrypt the copy.
  case applicationPassword
  /// It needs a finger, and the other store has none enrolled.
  case noFinger
  /// It needs a finger of the store that it is in, and none can be used there.
  case fingerThere
  /// It was changed after the other store got an item with the same attributes.
  case changedSince
  /// It belongs to the logins of this machine.
  case ofThisMachine
  /// Reading it failed.
  case unreadable(VaultError)

  /// The obstacle in the item itself; nil if its secret can be read and copied.
  init?(in item: Item) {
    switch item.state {
    case .dead: self = .dead
    case .damaged: self = .damaged
    case .living where item.access.flags.contains(.privateKeyUsage): self = .neverLeaves
    case .living where item.access.applicationPassword: self = .applicationPassword
    case .living: return nil
    }
  }

  /// The obstacle of an item in one of Whorl's internal groups. Such items are neither exported nor imported, nor copied
  /// out of another store's backup: what comes from somebody else could contain a key pair or a keyring's secret that its
  /// author knows, and choices of the login that nobody here has made.
  init?(ofGroup attributes: [AttributeName: AttributeValue]) {
    switch attributes[.accessGroup] {
    case .text(StoreKey.accessGroup)?: self = .neverLeaves
    case .text(LoginItem.accessGroup)?: self = .ofThisMachine
    default: return nil
    }
  }
}

/// An item that is not copied.
package struct StayingItem: Sendable {
  package let item: Item
  package let obstacle: MoveObstacle
}
