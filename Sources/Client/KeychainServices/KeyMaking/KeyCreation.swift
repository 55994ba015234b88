// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

public import Foundation
internal import KeySchemes
internal import Keys
internal import SecretModel
internal import SecureMemory
internal import Whorl

/// Makes a new private key.
///
/// - Parameters:
///   - parameters: `kSecAttrKeyType` (a curve over a prime field with 256, 384 or 521 bits, RSA with 2048 to 4096) and
///     `kSecAttrKeySizeInBits`; and, here or in `kSecPrivateKeyAttrs`, `kSecAttrIsPermanent`, which stores it, with the
///     attributes of the stored key. `kSecAttrTokenIDSecureEnclave` makes a P-256 key that is only used in the vault. A
///     key with a constrained access control must be permanent, since nothing protects it outside the store.
///   - error: the reason if the result is nil; the caller releases it.
///
/// Never asks for anything.
@discardableResult
public func SecKeyCreateRandomKey(
  _ parameters: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
  value(error) { () throws(KeychainFailure) in try newKey(parameters) }
}

/// Makes a new key pair; the older form of ``SecKeyCreateRandomKey(_:_:)``.
@discardableResult
public func SecKeyGeneratePair(
  _ parameters: CFDictionary, _ publicKey: UnsafeMutablePointer<SecKey?>?, _ privateKey: UnsafeMutablePointer<SecKey?>?
) -> OSStatus {
  status { () throws(KeychainFailure) in
    let key = try newKey(parameters)
    privateKey?.pointee = key
    publicKey?.pointee = SecKeyCopyPublicKey(key)
  }
}

/// Reads a key.
///
/// - Parameters:
///   - keyData: for RSA PKCS #1, or for a public key also SubjectPublicKeyInfo, the content of "PUBLIC KEY" files; for
///     a curve X9.63, `04 ‖ X ‖ Y` and for a private key `‖ K`.
///   - attributes: `kSecAttrKeyType` and `kSecAttrKeyClass`.
///   - error: the reason if the result is nil; the caller releases it.
@discardableResult
public func SecKeyCreateWithData(
  _ keyData: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
  value(error) { () throws(KeychainFailure) in
    let query = try KeychainQuery(attributes, assuming: .key)
    guard query.itemClass == .key, case .text(let type)? = query.attributes[.keyType],
      let family = KeyAttributes.family(of: type)
    else { throw KeychainFailure(errSecParam, "kSecAttrKeyType is not a known type") }
    guard query.attributes[.tokenID] == nil else {
      throw KeychainFailure(errSecUnimplemented, "a key of the secure enclave cannot be made from given bytes")
    }
    do throws(KeysError) {
      switch query.attributes[.keyClass] {
      case .text("0"): return SecKey(try PublicKey(brought: Array(keyData as Data), family: family))
      case .text("1"):
        let secret = SecretBytes(keyData as Data)
        // The primes of an RSA key are not tested: it takes half a second, and Apple's call does not do it either.
        let key =
          switch family {
          case .ec, .ed25519: try PrivateKey(external: secret, family: family)
          case .rsa: try PrivateKey(stored: secret, family: family)
          }
        return SecKey(key, staysInVault: false)
      default: throw KeysError.badParameters("kSecAttrKeyClass is neither public nor private")
      }
    } catch {
      throw KeychainFailure(error)
    }
  }
}

private func newKey(_ parameters: CFDictionary) throws(KeychainFailure) -> SecKey {
  let request = try KeyRequest(parameters)
  let key = try generate(request.algorithm)
  let publicKey = key.publicKey
  if request.publicKey.isPermanent {
    _ = try request.publicKey.query.store(SecKey(publicKey))
  }
  let made = SecKey(key, staysInVault: request.staysInVault, isOfSecureEnclave: request.isOfSecureEnclave)
  return request.privateKey.isPermanent ? try request.privateKey.query.store(made) : made
}

private func generate(_ algorithm: KeyAlgorithm) throws(KeychainFailure) -> PrivateKey {
  do throws(KeysError) {
    return try PrivateKey.generate(algorithm)
  } catch {
    throw KeychainFailure(error)
  }
}

extension KeychainQuery {
  /// Stores a key with this query's attributes, and returns the stored key.
  fileprivate func store(_ key: SecKey) throws(KeychainFailure) -> SecKey {
    var query = self
    query.key = key
    let (item, secret) = try query.newItem()
    let (context, reason) = (context, reason)
    let added = try call { store throws(VaultError) in
      try await store.add(item, secret: secret.copy(), using: context)
    }
    return SecKey(added, context: context, reason: reason)
  }
}
