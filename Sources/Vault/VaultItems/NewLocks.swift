import Keys
import SecretModel
import SecureMemory
import VaultStore
import VaultSync

extension StoreTransaction {
  /// The public keys of this machine for the secrets of shared items. Makes what is missing: a key for what needs the
  /// passcode, once one is set.
  ///
  /// - Parameter known: those that the other machines know; nil for a new circle. Of a class that is closed now, its key
  ///   stays.
  func newLocks(after known: MemberLocks?, tier: VaultStatus.Tier) throws -> MemberLocks {
    var classes: [Accessibility: AgePublicKey] = [:]
    for accessibility in Accessibility.allCases {
      do {
        guard let key = try circleClassKey(accessibility) else { continue }
        classes[accessibility] = try EncryptedFile.KeyPair(privateKey: SharedSecret(key)).publicKey
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
