import KeySchemes
import Keys
import SecureMemory

extension Vault {
  /// Uses a private key, after what its access control asks for. It is unwrapped for this one use and wiped.
  func useKey(_ id: ItemID, _ use: KeyUse, _ request: Request) async throws(VaultError) -> SecretBytes {
    await followSessions()
    let wanted = try store.read { moment in
      let wanted = try moment.wanted(.ids([id]), Shown())
      for item in wanted { try moment.requireOpen(item) }
      return wanted
    }
    guard let item = wanted.first, item.record.itemClass == .key, let family = item.record.keyFamily else {
      throw .invalidRequest("this item is not a private key")
    }
    if case .export = use { try item.requireReleasable() }
    let answer = try await authorized(wanted, request) { wanted, evidence throws(VaultError) in
      let key = try self.store.read { moment in try moment.release(wanted, evidence)[0] }
      return SecretBox(try Self.use(key.secret, family, use))
    }
    return answer.secret.copy()
  }

  private static func use(_ stored: borrowing SecretBytes, _ family: KeyFamily, _ use: KeyUse) throws(VaultError)
    -> SecretBytes
  {
    do {
      return try use.answer(of: stored, family)
    } catch .badParameters(let why) {
      throw .invalidRequest(why)
    } catch .authenticationFailed {
      throw .invalidRequest("the ciphertext was not made for this key")
    } catch {
      throw VaultError(keys: error)
    }
  }
}

extension KeyUse {
  fileprivate func answer(of stored: borrowing SecretBytes, _ family: KeyFamily) throws(KeysError) -> SecretBytes {
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
  /// The family of a private key's algorithm, under Apple's `kSecAttrKeyType`; nil for what is none.
  var keyFamily: KeyFamily? {
    guard attributes[.keyClass] == .text(Self.privateKeyClass) else { return nil }
    switch attributes[.keyType] {
    case .text("73"): return .ec
    case .text("42"): return .rsa
    default: return nil
    }
  }

  /// `kSecAttrKeyClassPrivate`
  private static let privateKeyClass = "1"
}
