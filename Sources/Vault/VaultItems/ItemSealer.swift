import GRDB
import Keys
import Presence
import Primitives
import VaultStore

/// Seals and opens the secrets of items in a snapshot of a store.
struct ItemSealer {
  let snapshot: StoreSnapshot
  private let keys: ItemKeys

  private var store: OpenedStore { snapshot.store }

  init(_ snapshot: StoreSnapshot, _ keys: ItemKeys) {
    self.snapshot = snapshot
    self.keys = keys
  }

  /// Seals a secret under a new item key, and that key once for each alternative of the access control. Fills the row's
  /// boxes and returns the secret's box.
  ///
  /// Asks for nothing: the passcode's layer is sealed for an X25519 public key, whose private half can only be derived
  /// with the passcode. Wrappings in `closed` stay closed.
  func fill(
    _ row: inout ItemRow, _ record: ItemRecord, _ requirement: Requirement,
    closed: Set<Set<Requirement.Factor>> = [], secret: borrowing SecretBytes,
    bound: StoredSet?, password: SharedSecret?, accessibility: Accessibility
  ) throws -> [UInt8] {
    try store.seal(record, into: &row)
    let aad = row.secretAAD(store.keys.databaseID, record)
    guard let classKey = try self.keys.classKey(accessibility) else { throw VaultError.passcodeNotSet }
    do {
      let itemKey = try Random.key()
      var wrappings: [Wrapping] = []
      for keys in requirement.wrappings {
        guard !closed.contains(keys) else {
          wrappings.append(.closed(keys))
          continue
        }
        var parts = WrappingParts(classKey: classKey.bytes)
        if keys.contains(.boundFinger) {
          guard let bound else { throw VaultError.notEnrolled }
          parts.add(setKey: try self.keys.setKey(of: bound).bytes)
        }
        if let password { parts.add(applicationPassword: password.bytes) }
        let place = Wrapping.aad(aad, keys)
        var wrapping = Wrapping(
          keys: keys, box: try AEAD.seal(itemKey, key: try parts.key(place), aad: place))
        if keys.contains(.passcode) {
          try wrapping.addPasscodeLayer(for: self.keys.publicKeyOfPasscode(), place: place)
        }
        wrappings.append(wrapping)
      }
      row.itemKey = Wrapping.encode(wrappings)
      return try AEAD.seal(secret, key: itemKey, aad: aad)
    } catch let error as KeysError {
      throw VaultError(cause: error)
    }
  }

  /// Opens an item's secret through one wrapping; `passcode` is the passcode key, for a wrapping with the passcode's
  /// layer. Throws `wrong` if the wrapping does not open under `parts`. A layer or secret that does not open is
  /// damaged.
  func open(
    _ row: ItemRow, _ record: ItemRecord, _ keys: Set<Requirement.Factor>, under parts: borrowing WrappingParts,
    passcode: SharedSecret?, otherwise wrong: VaultError
  ) throws -> SecretBytes {
    guard let requirement = row.accessControl.map(Requirement.init), let boxes = row.itemKey,
      let wrapping = Wrapping.decode(boxes, requirement)?.first(where: { $0.keys == keys }),
      let secret = try Row.fetchOne(
        snapshot.db.cachedStatement(sql: "SELECT secret FROM item WHERE row = ?"), arguments: [row.row])?
        .optionalBytes(0)
    else { throw VaultError.itemDamaged(record.name) }
    let aad = row.secretAAD(store.keys.databaseID, record)
    let place = Wrapping.aad(aad, keys)
    var box = wrapping.box
    if keys.contains(.passcode) {
      guard let passcode else { throw VaultError.touchRefused }
      do {
        let privateKey = try DerivedPair.passcode.privateKey(of: passcode.bytes, store.keys.databaseID)
        box = try wrapping.openedPasscodeLayer(with: privateKey, place: place)
      } catch {
        throw VaultError.itemDamaged(record.name)
      }
    }
    let key: SecretBytes
    do {
      key = try AEAD.open(box, key: try parts.key(place), aad: place)
    } catch .authenticationFailed {
      throw wrong
    } catch {
      throw VaultError(cause: error)
    }
    do {
      return try AEAD.open(secret, key: key, aad: aad)
    } catch .authenticationFailed {
      throw VaultError.itemDamaged(record.name)
    } catch {
      throw VaultError(cause: error)
    }
  }
}

/// The keys that the items of one transaction are wrapped under. Each is unwrapped once, for many items.
final class ItemKeys {
  private let snapshot: StoreSnapshot
  private var classKeys: [Accessibility: SharedSecret] = [:]
  private var setKeys: [[UInt8]: SharedSecret] = [:]
  private var passcodePublicKey: [UInt8]?
  private var knownSets: [StoredSet]?

  init(_ snapshot: StoreSnapshot) { self.snapshot = snapshot }

  /// Nil for `passcode-set` while no passcode is set.
  ///
  /// - Throws: `notUnlocked` while the class is closed.
  func classKey(_ accessibility: Accessibility) throws -> SharedSecret? {
    if let known = classKeys[accessibility] { return known }
    guard let key = try snapshot.classKey(accessibility) else { return nil }
    let box = SharedSecret(key)
    classKeys[accessibility] = box
    return box
  }

  func setKey(of set: StoredSet) throws -> SharedSecret {
    if let known = setKeys[set.digest] { return known }
    let key = SharedSecret(try snapshot.setKey(of: set))
    setKeys[set.digest] = key
    return key
  }

  /// The set with this generation; nil if there is none that verifies.
  func set(of generation: [UInt8]?) throws -> StoredSet? {
    let sets = try knownSets ?? snapshot.sets()
    knownSets = sets
    return sets.first { $0.set.generation == generation }
  }

  /// The public half of the passcode's pair.
  ///
  /// - Throws: `passcodeNotSet`.
  func publicKeyOfPasscode() throws -> [UInt8] {
    guard let key = try passcodePublicKey ?? snapshot.passcodePublicKey() else { throw VaultError.passcodeNotSet }
    passcodePublicKey = key
    return key
  }
}
