// What a new or changed item is protected with.

import Keys
import Presence
import Primitives
import SecretModel
import VaultStore
import VaultSync

/// Determines the protection of new items. Looks up only once what several items need.
struct NewProtections {
  private let fingers: CurrentFingers
  private let passcodes: Passcodes
  private var passcodeIsSet: Bool?
  private var boundSet: StoredSet?
  private var hasFinger = false

  init(fingers: CurrentFingers, passcodes: Passcodes) {
    self.fingers = fingers
    self.passcodes = passcodes
  }

  /// - Parameter password: returns the application password; called if the item is to have one.
  /// - Throws: `passcodeNotSet`, `notEnrolled`, or the reason why the current fingers cannot be determined.
  mutating func protection(
    of item: NewItem, password: () async throws(VaultError) -> SharedSecret
  ) async throws(VaultError) -> ItemProtection {
    var protection = ItemProtection(access: item.access, accessibility: item.accessibility)
    let requirement = protection.requirement
    if item.accessibility == .passcodeSet || requirement.mentions(.passcode) { try requirePasscode() }
    if item.access.applicationPassword {
      protection.password = try await passcodes.stretchNew(try await password())
    }
    if requirement.mentions(.boundFinger) {
      let set = if let boundSet { boundSet } else { try await fingers.setForBinding() }
      boundSet = set
      protection.bound = set
    }
    if requirement.mentions(.finger), protection.bound == nil, !requirement.mentions(.passcodeGate), !hasFinger {
      _ = try await fingers.anyEnrolled()
      hasFinger = true
    }
    return protection
  }

  private mutating func requirePasscode() throws(VaultError) {
    let isSet = if let passcodeIsSet { passcodeIsSet } else { try passcodes.isSet }
    passcodeIsSet = isSet
    guard isSet else { throw .passcodeNotSet }
  }
}

/// The protection that an item is to be stored with.
package struct ItemProtection {
  var access: AccessControl
  var accessibility: Accessibility
  /// The set to bind to, if the access control has a bound finger.
  var bound: StoredSet?
  /// The application password; nil without one.
  var password: StretchedPasscode?

  var requirement: Requirement { Requirement(access) }
}

extension StoreTransaction {
  /// The public keys of this machine for the secrets of shared items. Makes what is missing: a key for what needs the
  /// passcode, once one is set.
  ///
  /// - Parameter known: those that the other machines know; nil for a new circle. Before the first unlock, those
  ///   stay.
  func newLocks(after known: MemberLocks?, tier: VaultStatus.Tier) throws -> MemberLocks {
    var classes: [Accessibility: AgePublicKey] = [:]
    for accessibility in Accessibility.allCases {
      do {
        guard let bytes = try circleClassPublicKey(accessibility) else { continue }
        guard let key = AgePublicKey(bytes: bytes) else { throw VaultError.internalError("a class has no public key") }
        classes[accessibility] = key
      } catch VaultError.notUnlocked {
        classes[accessibility] = try known?.recipient(of: accessibility)
      }
    }
    return MemberLocks(classes: classes, passcode: try passcodeLock(known), tier: tier)
  }

  private func passcodeLock(_ known: MemberLocks?) throws -> AgePublicKey? {
    guard let publicKey = try passcodePublicKey() else { return nil }
    if try hasCirclePasscodeKey(), let lock = try known?.passcodeRecipient { return lock }
    let key: SecretBytes
    do { key = try Random.key() } catch { throw VaultError(cause: error) }
    try putCirclePasscodeKey(key, for: publicKey)
    return try EncryptedFile.KeyPair(privateKey: SharedSecret(key)).publicKey
  }
}

/// Checks the application passwords of items, after the rest of their access control is satisfied. Before that, nobody
/// can guess passwords or make the vault run scrypt.
struct ApplicationPasswords {
  let store: Store
  /// The queue that runs scrypt on passwords.
  let scrypt: ScryptQueue

  /// How long evidence stays valid while the passwords of its request are checked, in nanoseconds.
  private static let checkingTime: UInt64 = 60_000_000_000

  /// The items with the keys of their application passwords. Each try is counted as wrong before it is made.
  func unlocked(_ wanted: [WantedItem], _ evidence: inout Evidence) async throws(VaultError) -> [WantedItem] {
    guard evidence.passwords.contains(where: { $0 != nil }) else { return wanted }
    let shownFactors = try evidence.current()
    // Others can have the reader while scrypt runs.
    evidence.giveReaderBack()
    var wanted = wanted
    let shown = store.clock.now()
    let turn = try await scrypt.turn(for: store.owner)
    for (index, password) in evidence.passwords.enumerated() {
      guard let password, let derivation = wanted[index].row.derivation else { continue }
      let count = Guessable.applicationPassword(item: wanted[index].row.id)
      try store.commit(charge: true) { change in try change.charge(count) }
      wanted[index].password = try await turn.stretch(password, .init(encoded: derivation), store.floor)
      let item = wanted[index]
      try store.read { snapshot in _ = try snapshot.release([item], shownFactors) }
      try store.commit(items: true) { change in change.authority[count] = Tries() }
    }
    guard store.clock.now() &- shown <= Self.checkingTime else {
      throw .busy("it took too long to check the application password")
    }
    return wanted
  }
}
