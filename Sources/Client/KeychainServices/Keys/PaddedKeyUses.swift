// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's. Older forms of the functions in `KeyUses.swift`, with a padding in place of the algorithm, and
// the caller's memory in place of data.

internal import Foundation
internal import KeySchemes
internal import Keys
internal import SecretModel

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
