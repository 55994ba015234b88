import KeySchemes
import Keys
import SecureMemory
import VaultStore

extension KeyUse {
  /// The result of using a stored private key.
  func answer(of stored: borrowing SecretBytes, _ family: KeyFamily) throws(VaultError) -> SecretBytes {
    do {
      return try result(of: stored, family)
    } catch .badParameters(let why) {
      throw .invalidRequest(why)
    } catch .authenticationFailed {
      throw .invalidRequest("the ciphertext was not made for this key")
    } catch {
      throw VaultError(cause: error)
    }
  }

  private func result(of stored: borrowing SecretBytes, _ family: KeyFamily) throws(KeysError) -> SecretBytes {
    switch self {
    case .sign(let data, let scheme):
      let key = try PrivateKey(stored: stored, family: family)
      let signature = try key.sign(data, scheme)
      return SecretBytes(copying: signature.span)
    case .decrypt(let ciphertext, let scheme):
      let key = try PrivateKey(stored: stored, family: family)
      return try key.decrypt(ciphertext, scheme)
    case .exchange(let peer, let scheme, let size, let sharedInfo):
      let key = try PrivateKey(stored: stored, family: family)
      return try key.exchange(
        with: PublicKey(external: peer, family: family), scheme, requestedSize: size, sharedInfo: sharedInfo)
    case .export: return stored.copy()
    }
  }
}

extension ItemRecord {
  /// The family of a private key's algorithm, from `kSecAttrKeyType`; nil if this is no private key. A passkey counts
  /// as one only for an export.
  func keyFamily(for use: KeyUse) -> KeyFamily? {
    if case .export = use, itemClass == .passkey, case .text(let word)? = attributes[.keyType] {
      return KeyAlgorithm(word: word)?.family
    }
    guard itemClass == .key else { return nil }
    guard attributes[.keyClass] == .text(Self.privateKeyClass) else { return nil }
    guard case .text(let type)? = attributes[.keyType] else { return nil }
    return KeyFamily(keyType: type)
  }

  /// `kSecAttrKeyClassPrivate`
  static let privateKeyClass = "1"
}
