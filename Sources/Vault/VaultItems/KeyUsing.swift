// Private keys inside the vault: making them and using them.

import Keys
import Presence
package import Primitives
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
    case .oneTimeCode: throw .badParameters("a private key makes no one-time codes")
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

/// Generates private keys, and reads imported ones.
package enum KeyMaking {
  /// A key and the item that describes it.
  package struct Made: Sendable {
    package var item: NewItem
    package var secret: SharedSecret
  }

  /// Generating an RSA key takes a second or more, and testing the primes of an imported one half of that. So this
  /// never runs on the thread of the vaults, and at most two keys, one for each user, are worked on at a time.
  private static let turns = UserTurns(width: 2, waitingLimit: 64, what: "private keys wait to be made or read")

  /// - Parameter user: whose key it is.
  /// - Throws: `busy` if too many keys of the user wait, `cancelled` if the task was cancelled.
  package static func key(from source: KeySource, for item: NewItem, of user: UInt32) async throws(VaultError) -> Made {
    if case .passkey(let bytes) = source { return try brought(bytes, for: item) }
    guard item.itemClass == .key else { throw .invalidRequest("a private key is an item of class key") }
    let turn = try await turns.turn(for: user)
    let made = try await BlockingCall.run { () throws(VaultError) in try Self.made(from: source, for: item) }
    _ = consume turn
    guard !Task.isCancelled else { throw .cancelled }
    return made
  }

  /// Imports a passkey of another store or program.
  private static func brought(_ bytes: SharedSecret, for item: NewItem) throws(VaultError) -> Made {
    let passkey = Passkey(
      Item(
        id: ItemID(bytes: []), state: .living, itemClass: item.itemClass, attributes: item.attributes,
        access: item.access, accessibility: item.accessibility, created: 0, modified: 0))
    guard let passkey else { throw .invalidRequest("a passkey is an item of its own class, with all that it needs") }
    try passkey.check()
    do throws(KeysError) {
      let secret = try PasskeySecret.brought(bytes.bytes, passkey.algorithm, hasSecret: passkey.hasSecret)
      var item = item
      item.attributes[.publicKey] = .bytes(secret.privateKey.publicKey.external)
      return Made(item: item, secret: SharedSecret(try secret.bytes()))
    } catch .badParameters(let why) {
      throw .invalidRequest(why)
    } catch {
      throw VaultError(cause: error)
    }
  }

  private static func made(from source: KeySource, for item: NewItem) throws(VaultError) -> Made {
    do throws(KeysError) {
      let key =
        switch source {
        case .generated(let algorithm): try PrivateKey.generate(algorithm)
        case .ssh(let bytes): try PrivateKey(ssh: bytes.bytes)
        case .passkey: throw .badParameters("a passkey is an item of its own class")
        }
      let (publicKey, size) = (key.publicKey, AttributeValue.number(Int64(key.algorithm.bitCount)))
      var item = item
      item.access = AccessControl(unchecked: item.access.flags.union(.privateKeyUsage))
      item.attributes[.keyClass] = .text(ItemRecord.privateKeyClass)
      item.attributes[.keyType] = .text(key.algorithm.family.keyType)
      item.attributes[.keySizeInBits] = size
      item.attributes[.effectiveKeySize] = size
      item.attributes[.applicationLabel] = .bytes(publicKey.label)
      item.attributes[.publicKey] = .bytes(publicKey.external)
      if key.algorithm.sshName != nil { item.attributes[.sshPublicKey] = .bytes(try publicKey.ssh) }
      return Made(item: item, secret: SharedSecret(try key.external()))
    } catch .badParameters(let why) {
      throw .invalidRequest(why)
    } catch {
      throw VaultError(cause: error)
    }
  }
}
