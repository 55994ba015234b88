import Presence
import SecureMemory
import VaultStore

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
