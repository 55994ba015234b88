// swift-format-ignore-file: AlwaysUseLowerCamelCase

// The names are Apple's.

public import Foundation
internal import Keys
internal import Primitives
internal import SecretModel
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
          case .ec, .ed25519, .x25519: try PrivateKey(external: secret, family: family)
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

/// The parameters of a new key, parsed.
struct KeyRequest {
  /// Whether and how one half of the pair is stored.
  struct Half {
    var isPermanent: Bool
    var query: KeychainQuery
  }

  let algorithm: KeyAlgorithm
  let staysInVault: Bool
  let isOfSecureEnclave: Bool
  let privateKey: Half
  let publicKey: Half

  init(_ parameters: CFDictionary) throws(KeychainFailure) {
    let common = NSMutableDictionary()
    var own: [String: NSDictionary] = [:]
    for (key, value) in parameters {
      guard let key = key as? String else { throw .parameter }
      switch key {
      case "private", "public":
        guard let values = parameters.object(forKey: key as NSString) as? NSDictionary else { throw .parameter }
        own[key] = values
      default: common.setObject(value, forKey: key as NSString)
      }
    }
    let shared = try KeychainQuery(common, assuming: .key)
    algorithm = try Self.algorithm(shared.attributes)
    var privateHalf = try Self.half(common, own["private"])
    // Attributes for both halves are stored with the private key alone.
    var publicHalf = try Self.half(NSDictionary(), own["public"])
    let access = privateHalf.query.accessControl?.access ?? .none
    switch privateHalf.query.attributes[.tokenID] {
    case nil: isOfSecureEnclave = false
    case .text("com.apple.setoken"):
      guard algorithm == .ec(.p256) else {
        throw KeychainFailure(errSecParam, "a key of the secure enclave is a P-256 key")
      }
      isOfSecureEnclave = true
    default: throw KeychainFailure(errSecParam, "there is no such token")
    }
    staysInVault = isOfSecureEnclave || access.flags.contains(.privateKeyUsage)
    // Outside the store an access control cannot protect the key.
    guard privateHalf.isPermanent || !access.isConstrained else {
      throw KeychainFailure(errSecUnimplemented, "a key whose use needs a prompt has to be permanent")
    }
    for name in [AttributeName.keyType, .keySizeInBits, .keyClass] {
      privateHalf.query.attributes[name] = nil
      publicHalf.query.attributes[name] = nil
    }
    publicHalf.query.attributes[.tokenID] = nil
    privateKey = privateHalf
    publicKey = publicHalf
  }

  private static func half(_ common: NSDictionary, _ own: NSDictionary?) throws(KeychainFailure) -> Half {
    let all = NSMutableDictionary()
    for part in [common, own ?? NSDictionary()] {
      for (key, value) in part {
        guard let key = key as? String else { throw .parameter }
        all.setObject(value, forKey: key as NSString)
      }
    }
    let query = try KeychainQuery(all, assuming: .key)
    return Half(isPermanent: query.attributes[.isPermanent] == .number(1), query: query)
  }

  private static func algorithm(_ attributes: [AttributeName: AttributeValue]) throws(KeychainFailure) -> KeyAlgorithm {
    guard case .text(let type)? = attributes[.keyType], let family = KeyAttributes.family(of: type) else {
      throw KeychainFailure(errSecParam, "kSecAttrKeyType is not a known type")
    }
    var bits: Int64?
    if case .number(let number)? = attributes[.keySizeInBits] { bits = number }
    let algorithm: KeyAlgorithm? =
      switch (family, bits) {
      case (.ec, 256), (.ec, nil): .ec(.p256)
      case (.ec, 384): .ec(.p384)
      case (.ec, 521): .ec(.p521)
      case (.rsa, nil): .rsa(bits: 2048)
      case (.rsa, let bits?): .rsa(bits: Int(clamping: bits))
      default: nil
      }
    guard let algorithm, algorithm.isSupported else {
      throw KeychainFailure(errSecParam, "keys of this size are not supported")
    }
    return algorithm
  }
}
