// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

public import Foundation
internal import KeySchemes
internal import Keys
internal import SecretModel
internal import SecureMemory
internal import Whorl

/// Signs. A key in the store is used there, after asking for what its access control requires.
///
/// - Returns: nil for an algorithm that does not fit the key, for data that is no digest of the right length, and for a
///   failed authentication. `error` is the reason (for a failed authentication an `LAError`), and the caller releases
///   it.
@discardableResult
public func SecKeyCreateSignature(
  _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ dataToSign: CFData,
  _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
  value(error) { () throws(KeychainFailure) in
    let scheme = try supported(algorithm.signatureScheme, by: key, isPrivate: true) { $0.supports($1) }
    let data = Array(dataToSign as Data)
    return try key.perform(.sign(data, scheme)) { privateKey throws(KeysError) in
      let signature = try privateKey.sign(data, scheme)
      return SecretBytes(copying: signature.span)
    }
  }
}

/// Whether a signature of this data was made with this key.
///
/// - Returns: false with `errSecVerifyFailed` where it was not, and false with `errSecParam` for an algorithm that does
///   not fit the key.
@discardableResult
public func SecKeyVerifySignature(
  _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ signedData: CFData, _ signature: CFData,
  _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> Bool {
  value(error) { () throws(KeychainFailure) in
    let scheme = try supported(algorithm.signatureScheme, by: key, isPrivate: false) { $0.supports($1) }
    do throws(KeysError) {
      guard let publicKey = key.publicKey,
        try publicKey.verify(Array(signature as Data), of: Array(signedData as Data), scheme)
      else { throw KeysError.authenticationFailed }
      return true
    } catch .authenticationFailed {
      throw KeychainFailure(errSecVerifyFailed)
    } catch {
      throw KeychainFailure(error)
    }
  } ?? false
}

/// Encrypts to a public key.
///
/// - Returns: nil, with `errSecParam`, for an algorithm that does not fit the key, and for a plaintext that is too
///   long.
@discardableResult
public func SecKeyCreateEncryptedData(
  _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ plaintext: CFData,
  _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
  value(error) { () throws(KeychainFailure) in
    let scheme = try supported(algorithm.encryptionScheme, by: key, isPrivate: false) { $0.supports($1) }
    guard let publicKey = key.publicKey else { throw .parameter }
    do throws(KeysError) {
      return NSData(data: Data(try publicKey.encrypt(SecretBytes(plaintext as Data), scheme)))
    } catch {
      throw KeychainFailure(error)
    }
  }
}

/// Decrypts with a private key. A key in the store is used there, after asking for what its access control requires.
///
/// - Returns: nil, with `errSecParam`, for data that was not encrypted to this key with this algorithm, and with an
///   `LAError` for a failed authentication.
@discardableResult
public func SecKeyCreateDecryptedData(
  _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ ciphertext: CFData,
  _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
  value(error) { () throws(KeychainFailure) in
    let scheme = try supported(algorithm.encryptionScheme, by: key, isPrivate: true) { $0.supports($1) }
    let data = Array(ciphertext as Data)
    return try key.perform(.decrypt(data, scheme)) { privateKey throws(KeysError) in
      try privateKey.decrypt(data, scheme)
    }
  }
}

/// Agrees on a secret with the owner of a public key. A key in the store is used there, after what its access control
/// asks for.
///
/// - Parameters:
///   - privateKey: a key of an elliptic curve.
///   - algorithm: one of `SecKeyAlgorithm`'s ECDH ones.
///   - publicKey: the other side's, on the same curve.
///   - parameters: for algorithms with a key derivation, ``SecKeyKeyExchangeParameter/requestedSize`` (by default the
///     length of a digest) and ``SecKeyKeyExchangeParameter/sharedInfo``.
///   - error: why there is no result.
/// - Returns: nil, with `errSecParam`, for keys that do not fit each other, and with an `LAError` for a failed
///   authentication.
@discardableResult
public func SecKeyCopyKeyExchangeResult(
  _ privateKey: SecKey, _ algorithm: SecKeyAlgorithm, _ publicKey: SecKey, _ parameters: CFDictionary,
  _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
  value(error) { () throws(KeychainFailure) in
    let scheme = try supported(algorithm.exchangeScheme?.scheme, by: privateKey, isPrivate: true) { $0.supports($1) }
    guard let peer = publicKey.publicKey, !publicKey.isPrivate, peer.algorithm == privateKey.publicKey?.algorithm else {
      throw KeychainFailure(errSecParam, "the two keys cannot be used together")
    }
    let size = try parameters.object(forKey: SecKeyKeyExchangeParameter.requestedSize.rawValue).map {
      value throws(KeychainFailure) -> Int in
      guard let size = value as? NSNumber else { throw .parameter }
      return size.intValue
    }
    let info = try parameters.object(forKey: SecKeyKeyExchangeParameter.sharedInfo.rawValue).map {
      value throws(KeychainFailure) -> [UInt8] in
      guard let info = value as? Data else { throw .parameter }
      return Array(info)
    }
    let (count, shared) = (size ?? algorithm.exchangeScheme?.hash?.count ?? 0, info ?? [])
    return try privateKey.perform(.exchange(with: peer.external, scheme, size: count, sharedInfo: shared)) {
      privateKey throws(KeysError) in
      try privateKey.exchange(with: peer, scheme, requestedSize: count, sharedInfo: shared)
    }
  }
}

/// Whether a key supports an operation with an algorithm.
@discardableResult
public func SecKeyIsAlgorithmSupported(
  _ key: SecKey, _ operation: SecKeyOperationType, _ algorithm: SecKeyAlgorithm
) -> Bool {
  guard let kind = key.publicKey?.algorithm else { return false }
  return switch operation {
  case .sign: key.isPrivate && algorithm.signatureScheme?.supports(kind) == true
  case .verify: !key.isPrivate && algorithm.signatureScheme?.supports(kind) == true
  case .encrypt: !key.isPrivate && algorithm.encryptionScheme?.supports(kind) == true
  case .decrypt: key.isPrivate && algorithm.encryptionScheme?.supports(kind) == true
  case .keyExchange: key.isPrivate && algorithm.exchangeScheme?.scheme.supports(kind) == true
  }
}

/// Returns the scheme. Throws if this half of the pair does not support it.
private func supported<Scheme>(
  _ scheme: Scheme?, by key: SecKey, isPrivate: Bool, _ supports: (Scheme, KeyAlgorithm) -> Bool
) throws(KeychainFailure) -> Scheme {
  guard let scheme, let kind = key.publicKey?.algorithm, key.isPrivate == isPrivate, supports(scheme, kind) else {
    throw KeychainFailure(errSecParam, "this key does not support this operation with this algorithm")
  }
  return scheme
}

extension SecKey {
  /// Uses a private key in this process or in the vault, depending on where it is.
  fileprivate func perform(
    _ use: KeyUse, inMemory: (borrowing PrivateKey) throws(KeysError) -> SecretBytes
  ) throws(KeychainFailure) -> NSData {
    switch place {
    case .publicKey: throw .parameter
    case .memory(let holder, _):
      return try holder.use(inMemory).data()
    case .store(let id, _, let context, let reason):
      return try call { store throws(VaultError) in
        SharedSecret(try await store.useKey(id, use, reason: reason, using: context))
      }.bytes.data()
    }
  }
}
