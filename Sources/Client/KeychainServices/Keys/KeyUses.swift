// swift-format-ignore-file: AlwaysUseLowerCamelCase

// What is done with a key, by the calls with algorithms and by the older ones with padding.
//
// The names are Apple's.

public import Foundation
internal import Keys
internal import Primitives
internal import SecretModel
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

/// A padding, which older functions take in place of an algorithm. Empty for no padding.
public struct SecPadding: OptionSet, Sendable {
  /// Apple's number.
  public let rawValue: UInt32

  /// A padding by its number; the functions refuse unknown ones.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// 1: PKCS #1 v1.5.
  public static let PKCS1 = Self(rawValue: 1)
  /// 2: OAEP with SHA-1.
  public static let OAEP = Self(rawValue: 2)
  /// 4000 (hexadecimal): an ECDSA signature as `r ‖ s`.
  public static let sigRaw = Self(rawValue: 0x4000)
  /// 8000 (hexadecimal): PKCS #1 over a digest by MD2; refused.
  public static let PKCS1MD2 = Self(rawValue: 0x8000)
  /// 8001 (hexadecimal): PKCS #1 over a digest by MD5; refused.
  public static let PKCS1MD5 = Self(rawValue: 0x8001)
  /// 8002 (hexadecimal): PKCS #1 over a digest by SHA-1.
  public static let PKCS1SHA1 = Self(rawValue: 0x8002)
  /// 8003 (hexadecimal): PKCS #1 over a digest by SHA-224.
  public static let PKCS1SHA224 = Self(rawValue: 0x8003)
  /// 8004 (hexadecimal): PKCS #1 over a digest by SHA-256.
  public static let PKCS1SHA256 = Self(rawValue: 0x8004)
  /// 8005 (hexadecimal): PKCS #1 over a digest by SHA-384.
  public static let PKCS1SHA384 = Self(rawValue: 0x8005)
  /// 8006 (hexadecimal): PKCS #1 over a digest by SHA-512.
  public static let PKCS1SHA512 = Self(rawValue: 0x8006)
}

extension SecPadding {
  /// The signature algorithm of a padding, for an RSA key or a key on a curve; nil where it has none.
  func signatureAlgorithm(isRSA: Bool) -> SecKeyAlgorithm? {
    guard isRSA else { return self == .sigRaw ? .ecdsaSignatureDigestRFC4754 : .ecdsaSignatureDigestX962 }
    return switch self {
    case []: .rsaSignatureRaw
    case .PKCS1: .rsaSignatureDigestPKCS1v15Raw
    case .PKCS1SHA1: .rsaSignatureDigestPKCS1v15SHA1
    case .PKCS1SHA224: .rsaSignatureDigestPKCS1v15SHA224
    case .PKCS1SHA256: .rsaSignatureDigestPKCS1v15SHA256
    case .PKCS1SHA384: .rsaSignatureDigestPKCS1v15SHA384
    case .PKCS1SHA512: .rsaSignatureDigestPKCS1v15SHA512
    default: nil
    }
  }

  /// The encryption algorithm of a padding, which exists for RSA only; nil where it has none.
  var encryptionAlgorithm: SecKeyAlgorithm? {
    switch self {
    case []: .rsaEncryptionRaw
    case .PKCS1: .rsaEncryptionPKCS1
    case .OAEP: .rsaEncryptionOAEPSHA1
    default: nil
    }
  }
}

// The names are Apple's. Older forms of the functions above, with a padding in place of the algorithm, and
// the caller's memory in place of data.

/// Signs a digest. A key on a curve signs with any padding.
///
/// - Parameters:
///   - key: a private key.
///   - padding: the padding for an RSA key.
///   - dataToSign: the digest.
///   - dataToSignLen: its length in bytes.
///   - sig: where the signature goes.
///   - sigLen: how much room there is, and then how long the signature is.
/// - Returns: `errSecParam` for an operation that the key does not support, and where there is too little room;
///   otherwise the errors of ``SecKeyCreateSignature(_:_:_:_:)``.
@discardableResult
public func SecKeyRawSign(
  _ key: SecKey, _ padding: SecPadding, _ dataToSign: UnsafePointer<UInt8>, _ dataToSignLen: Int,
  _ sig: UnsafeMutablePointer<UInt8>, _ sigLen: UnsafeMutablePointer<Int>
) -> OSStatus {
  perform(padding.signatureAlgorithm(isRSA: key.isRSA), dataToSign, dataToSignLen, sig, sigLen) {
    SecKeyCreateSignature(key, $0, $1, $2)
  }
}

/// Checks a signature of a digest: 0 if it is valid, `errSSLCrypto` if not, `errSecParam` for an operation that the key
/// does not support.
@discardableResult
public func SecKeyRawVerify(
  _ key: SecKey, _ padding: SecPadding, _ signedData: UnsafePointer<UInt8>, _ signedDataLen: Int,
  _ sig: UnsafePointer<UInt8>, _ sigLen: Int
) -> OSStatus {
  guard let algorithm = padding.signatureAlgorithm(isRSA: key.isRSA), signedDataLen >= 0, sigLen >= 0 else {
    return errSecParam
  }
  // Both lent for the call, and copied.
  let (data, signature) = (NSData(bytes: signedData, length: signedDataLen), NSData(bytes: sig, length: sigLen))
  var error: Unmanaged<CFError>?
  guard !SecKeyVerifySignature(key, algorithm, data, signature, &error) else { return errSecSuccess }
  let status = status(of: error)
  // The older function reports the older status.
  return status == errSecVerifyFailed ? errSSLCrypto : status
}

/// Encrypts to an RSA public key.
///
/// - Parameters:
///   - key: a public key of RSA.
///   - padding: the padding of the block.
///   - plainText: the plaintext.
///   - plainTextLen: its length in bytes.
///   - cipherText: where the result goes.
///   - cipherTextLen: how much room there is, and then how long the result is.
/// - Returns: `errSecParam` for an operation that the key does not support, and where there is too little room;
///   otherwise the errors of ``SecKeyCreateEncryptedData(_:_:_:_:)``.
@discardableResult
public func SecKeyEncrypt(
  _ key: SecKey, _ padding: SecPadding, _ plainText: UnsafePointer<UInt8>, _ plainTextLen: Int,
  _ cipherText: UnsafeMutablePointer<UInt8>, _ cipherTextLen: UnsafeMutablePointer<Int>
) -> OSStatus {
  perform(padding.encryptionAlgorithm, plainText, plainTextLen, cipherText, cipherTextLen) {
    SecKeyCreateEncryptedData(key, $0, $1, $2)
  }
}

/// Decrypts with an RSA private key. Without a padding, leading zeros of the plaintext are removed.
///
/// - Parameters:
///   - key: a private key of RSA.
///   - padding: the padding of the block.
///   - cipherText: the ciphertext.
///   - cipherTextLen: its length in bytes.
///   - plainText: where the result goes.
///   - plainTextLen: how much room there is, and then how long the result is.
/// - Returns: `errSecParam` for an operation that the key does not support, and where there is too little room;
///   otherwise the errors of ``SecKeyCreateDecryptedData(_:_:_:_:)``.
@discardableResult
public func SecKeyDecrypt(
  _ key: SecKey, _ padding: SecPadding, _ cipherText: UnsafePointer<UInt8>, _ cipherTextLen: Int,
  _ plainText: UnsafeMutablePointer<UInt8>, _ plainTextLen: UnsafeMutablePointer<Int>
) -> OSStatus {
  perform(padding.encryptionAlgorithm, cipherText, cipherTextLen, plainText, plainTextLen) {
    let block = SecKeyCreateDecryptedData(key, $0, $1, $2)
    return padding.isEmpty ? block.map { NSData(data: ($0 as Data).drop { $0 == 0 }) } : block
  }
}

extension SecKey {
  fileprivate var isRSA: Bool { publicKey?.algorithm.family == .rsa }
}

/// Runs the newer form of a call on the caller's memory.
private func perform(
  _ algorithm: SecKeyAlgorithm?, _ input: UnsafePointer<UInt8>, _ count: Int, _ room: UnsafeMutablePointer<UInt8>,
  _ roomCount: UnsafeMutablePointer<Int>,
  _ body: (SecKeyAlgorithm, CFData, UnsafeMutablePointer<Unmanaged<CFError>?>?) -> CFData?
) -> OSStatus {
  guard let algorithm, count >= 0 else { return errSecParam }
  var error: Unmanaged<CFError>?
  // The input is lent for the call, and copied.
  guard let output = body(algorithm, NSData(bytes: input, length: count), &error) else { return status(of: error) }
  guard output.length <= roomCount.pointee else { return errSecParam }
  // The caller lends `roomCount` bytes.
  output.getBytes(room, length: output.length)
  roomCount.pointee = output.length
  return errSecSuccess
}

/// The status of a key's error, which is ours to release (transfer full).
private func status(of error: Unmanaged<CFError>?) -> OSStatus {
  guard let error = error?.takeRetainedValue() else { return errSecInternalError }
  if error.domain == NSOSStatusErrorDomain { return OSStatus(error.code) }
  return (error.userInfo[NSUnderlyingErrorKey] as? VaultError)?.status ?? errSecAuthFailed
}
