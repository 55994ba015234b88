import Keys
import Primitives
package import SecretModel
import VaultStore

/// The public keys of a member of a circle: of a machine, and of its recovery key.
package struct Member: Codable, Sendable, Hashable {
  /// Verifies the machine's signatures (Ed25519).
  package let signingKey: JSONBytes
  private let encrypt: String
  private let recover: String
  /// The salt with which the private half of ``recovery`` is derived from the recovery key of the machine's store.
  package let salt: JSONBytes
  package let locks: MemberLocks

  private enum CodingKeys: String, CodingKey {
    case signingKey = "sign"
    case encrypt, salt, locks
    case recover = "recovery"
  }

  package init(_ keys: MemberKeys, recovery: AgePublicKey, salt: [UInt8], _ locks: MemberLocks) {
    signingKey = JSONBytes(keys.signingKey)
    encrypt = keys.encryption.publicKey.description
    recover = recovery.description
    self.salt = JSONBytes(salt)
    self.locks = locks
  }

  /// A digest of the machine's keys, which never change.
  package var id: MemberID {
    get throws(VaultError) {
      var keys = CanonicalEncoding()
      keys.append(tag: 1, "whorl-sync member")
      keys.append(tag: 2, signingKey.bytes)
      keys.append(tag: 3, encrypt)
      let digest = Digest.sha256(keys.bytes).prefix(MemberID.byteCount)
      guard let id = MemberID(Hexadecimal.text(of: digest)) else { throw .internalError("a member has no identifier") }
      return id
    }
  }

  /// The machine's public key for files.
  package var recipient: AgePublicKey { get throws(VaultError) { try AgePublicKey(ofMember: encrypt) } }

  /// The recovery key's public key for files.
  package var recovery: AgePublicKey { get throws(VaultError) { try AgePublicKey(ofMember: recover) } }

  /// Whether something is encrypted to another key than before. Keys that are given up do not count.
  package func hasNewKeys(since old: Member) -> Bool { recover != old.recover || locks.hasNewKeys(since: old.locks) }

  /// Refuses a member with a key that nothing can be encrypted to.
  ///
  /// - Throws: `fileUnreadable`.
  package func check() throws(VaultError) {
    _ = try recipient
    _ = try recovery
    for accessibility in Accessibility.allCases { _ = try locks.recipient(of: accessibility) }
    _ = try locks.passcodeRecipient
  }
}

/// The public keys of a machine for the secrets of shared items, and how well its store protects the private halves.
package struct MemberLocks: Codable, Sendable, Hashable {
  /// A key for each class of items that the machine's store has a key for.
  private var classes: [String: String]
  /// For items that need the passcode; nil on a machine without one.
  private var passcode: String?
  /// Where the root key of its store is kept.
  package private(set) var tier: String

  package init(classes: [Accessibility: AgePublicKey], passcode: AgePublicKey?, tier: VaultStatus.Tier) {
    self.classes = Dictionary(uniqueKeysWithValues: classes.map { ($0.key.rawValue, $0.value.description) })
    self.passcode = passcode?.description
    self.tier = tier.rawValue
  }

  package var hasPasscode: Bool { passcode != nil }

  fileprivate func hasNewKeys(since old: MemberLocks) -> Bool {
    classes.contains { old.classes[$0.key] != $0.value } || (passcode != nil && passcode != old.passcode)
  }

  package func recipient(of accessibility: Accessibility) throws(VaultError) -> AgePublicKey? {
    guard let text = classes[accessibility.rawValue] else { return nil }
    return try AgePublicKey(ofMember: text)
  }

  package var passcodeRecipient: AgePublicKey? {
    get throws(VaultError) {
      guard let passcode else { return nil }
      return try AgePublicKey(ofMember: passcode)
    }
  }
}

extension [Member] {
  /// The keys that the first layer of a file is encrypted to: the machines' in their order, then the recovery keys'.
  package var recipients: [AgePublicKey] {
    get throws(VaultError) {
      var recipients: [AgePublicKey] = []
      for member in self { recipients.append(try member.recipient) }
      return recipients + (try recoveryKeys)
    }
  }

  /// The keys for the secrets of a class, and then the recovery keys.
  func recipients(of accessibility: Accessibility) throws(VaultError) -> [AgePublicKey] {
    var recipients: [AgePublicKey] = []
    for member in self {
      if let key = try member.locks.recipient(of: accessibility) { recipients.append(key) }
    }
    return recipients + (try recoveryKeys)
  }

  /// The keys for secrets that need the passcode, and then the recovery keys.
  var passcodeRecipients: [AgePublicKey] {
    get throws(VaultError) {
      var recipients: [AgePublicKey] = []
      for member in self {
        if let key = try member.locks.passcodeRecipient { recipients.append(key) }
      }
      return recipients + (try recoveryKeys)
    }
  }

  private var recoveryKeys: [AgePublicKey] {
    get throws(VaultError) {
      var keys: [AgePublicKey] = []
      for member in self { keys.append(try member.recovery) }
      return keys
    }
  }
}

extension AgePublicKey {
  fileprivate init(ofMember text: String) throws(VaultError) {
    guard let key = AgePublicKey(parsing: text) else { throw .fileUnreadable("a member has no public key") }
    self = key
  }
}
