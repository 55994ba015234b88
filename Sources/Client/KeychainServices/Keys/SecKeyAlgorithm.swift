// Apple's names of the algorithms of keys, and what each is here.

public import Foundation
internal import Keys
internal import Primitives

/// An algorithm for signatures, encryption or key exchange. Names and values are Apple's.
public struct SecKeyAlgorithm: RawRepresentable, Sendable, Hashable {
  let name: String

  /// Apple's `algid:…`.
  public var rawValue: CFString { name as NSString }

  /// An algorithm by its name.
  public init(rawValue: CFString) { name = rawValue as String }

  /// An algorithm by its name.
  public init(_ rawValue: CFString) { self.init(rawValue: rawValue) }

  init(name: String) { self.name = name }
}

/// An operation with a key.
public enum SecKeyOperationType: Int, Sendable, Hashable {
  /// 0: a signature is made.
  case sign = 0
  /// 1: a signature is verified.
  case verify = 1
  /// 2: bytes are encrypted.
  case encrypt = 2
  /// 3: bytes are decrypted.
  case decrypt = 3
  /// 4: a secret is agreed on.
  case keyExchange = 4
}

/// The names of the parameters of a key exchange.
public struct SecKeyKeyExchangeParameter: RawRepresentable, Sendable, Hashable {
  private let name: String

  /// The key in the dictionary of parameters.
  public var rawValue: CFString { name as NSString }

  /// A parameter by its name.
  public init(rawValue: CFString) { name = rawValue as String }

  private init(name: String) { self.name = name }

  /// `requestedSize`: the number of bytes to derive.
  public static let requestedSize = Self(name: "requestedSize")
  /// `sharedInfo`: the shared info of the key derivation, data.
  public static let sharedInfo = Self(name: "sharedInfo")
}

// Parses Apple's names of algorithms, which describe the scheme.
extension SecKeyAlgorithm {
  private var parts: [Substring] { name.split(separator: ":", omittingEmptySubsequences: false) }

  /// The signature scheme; nil for another kind of algorithm.
  var signatureScheme: SignatureScheme? {
    let parts = parts
    guard parts.count >= 4, parts[0] == "algid", parts[1] == "sign" else { return nil }
    let hash = parts.count > 4 ? HashFunction(apple: parts[4]) : nil
    switch (parts[2], parts[3], hash, parts.count) {
    case ("RSA", "raw", nil, 4): return .rsaRaw
    case ("RSA", "digest-PKCS1v15", nil, 4): return .rsaPKCS1Raw
    case ("RSA", "digest-PKCS1v15", let hash?, 5): return .rsaPKCS1(hash, .digest)
    case ("RSA", "message-PKCS1v15", let hash?, 5): return .rsaPKCS1(hash, .message)
    case ("RSA", "digest-PSS", let hash?, 7): return .rsaPSS(hash, .digest)
    case ("RSA", "message-PSS", let hash?, 7): return .rsaPSS(hash, .message)
    case ("ECDSA", "RFC4754", nil, 4), ("ECDSA", "digest-RFC4754", nil, 4): return .ecdsaDigest(.rfc4754)
    case ("ECDSA", "digest-X962", nil, 4): return .ecdsaDigest(.x962)
    case ("ECDSA", "digest-X962", let hash?, 5): return .ecdsa(hash, .digest, .x962)
    case ("ECDSA", "message-X962", let hash?, 5): return .ecdsa(hash, .message, .x962)
    case ("ECDSA", "digest-RFC4754", let hash?, 5): return .ecdsa(hash, .digest, .rfc4754)
    case ("ECDSA", "message-RFC4754", let hash?, 5): return .ecdsa(hash, .message, .rfc4754)
    default: return nil
    }
  }

  /// The encryption scheme; nil for another kind of algorithm.
  var encryptionScheme: EncryptionScheme? {
    let parts = parts
    guard parts.count >= 4, parts[0] == "algid", parts[1] == "encrypt" else { return nil }
    switch (parts[2], parts[3], parts.count) {
    case ("RSA", "raw", 4): return .rsaRaw
    case ("RSA", "PKCS1", 4): return .rsaPKCS1
    case ("RSA", "OAEP", 5): return HashFunction(apple: parts[4]).map(EncryptionScheme.rsaOAEP)
    case ("RSA", "OAEP", 6) where parts[5] == "AESGCM":
      return HashFunction(apple: parts[4]).map(EncryptionScheme.rsaOAEPAESGCM)
    // The supported curves have the cofactor 1, so both variants are the same.
    case ("ECIES", "ECDH", 7), ("ECIES", "ECDHC", 7):
      guard parts[4] == "KDFX963", let hash = HashFunction(apple: parts[5]) else { return nil }
      switch parts[6] {
      case "AESGCM": return .ecies(hash, .zero)
      case "AESGCM-KDFIV": return .ecies(hash, .derived)
      default: return nil
      }
    default: return nil
    }
  }

  /// The key exchange scheme, and the hash function of its key derivation if it has one; nil for another kind of
  /// algorithm.
  var exchangeScheme: (scheme: ExchangeScheme, hash: HashFunction?)? {
    let parts = parts
    guard parts.count >= 3, parts[0] == "algid", parts[1] == "keyexchange", ["ECDH", "ECDHC"].contains(parts[2]) else {
      return nil
    }
    if parts.count == 3 { return (.ecdh, nil) }
    guard parts.count == 5, parts[3] == "KDFX963", let hash = HashFunction(apple: parts[4]) else { return nil }
    return (.ecdhX963(hash), hash)
  }
}

extension HashFunction {
  fileprivate init?(apple name: Substring) {
    switch name {
    case "SHA1": self = .sha1
    case "SHA224": self = .sha224
    case "SHA256": self = .sha256
    case "SHA384": self = .sha384
    case "SHA512": self = .sha512
    default: return nil
    }
  }
}

extension SecKeyAlgorithm {
  // RSA

  /// `algid:sign:RSA:raw`: RSA without padding.
  public static let rsaSignatureRaw = SecKeyAlgorithm(name: "algid:sign:RSA:raw")
  /// `algid:sign:RSA:digest-PKCS1v15`: PKCS #1 v1.5 over bytes as they are.
  public static let rsaSignatureDigestPKCS1v15Raw = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PKCS1v15")
  /// `algid:sign:RSA:digest-PKCS1v15:SHA1`: PKCS #1 v1.5 over a digest.
  public static let rsaSignatureDigestPKCS1v15SHA1 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PKCS1v15:SHA1")
  /// `algid:sign:RSA:digest-PKCS1v15:SHA224`: PKCS #1 v1.5 over a digest.
  public static let rsaSignatureDigestPKCS1v15SHA224 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PKCS1v15:SHA224")
  /// `algid:sign:RSA:digest-PKCS1v15:SHA256`: PKCS #1 v1.5 over a digest.
  public static let rsaSignatureDigestPKCS1v15SHA256 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PKCS1v15:SHA256")
  /// `algid:sign:RSA:digest-PKCS1v15:SHA384`: PKCS #1 v1.5 over a digest.
  public static let rsaSignatureDigestPKCS1v15SHA384 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PKCS1v15:SHA384")
  /// `algid:sign:RSA:digest-PKCS1v15:SHA512`: PKCS #1 v1.5 over a digest.
  public static let rsaSignatureDigestPKCS1v15SHA512 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PKCS1v15:SHA512")
  /// `algid:sign:RSA:message-PKCS1v15:SHA1`: PKCS #1 v1.5 over a message.
  public static let rsaSignatureMessagePKCS1v15SHA1 = SecKeyAlgorithm(name: "algid:sign:RSA:message-PKCS1v15:SHA1")
  /// `algid:sign:RSA:message-PKCS1v15:SHA224`: PKCS #1 v1.5 over a message.
  public static let rsaSignatureMessagePKCS1v15SHA224 = SecKeyAlgorithm(name: "algid:sign:RSA:message-PKCS1v15:SHA224")
  /// `algid:sign:RSA:message-PKCS1v15:SHA256`: PKCS #1 v1.5 over a message.
  public static let rsaSignatureMessagePKCS1v15SHA256 = SecKeyAlgorithm(name: "algid:sign:RSA:message-PKCS1v15:SHA256")
  /// `algid:sign:RSA:message-PKCS1v15:SHA384`: PKCS #1 v1.5 over a message.
  public static let rsaSignatureMessagePKCS1v15SHA384 = SecKeyAlgorithm(name: "algid:sign:RSA:message-PKCS1v15:SHA384")
  /// `algid:sign:RSA:message-PKCS1v15:SHA512`: PKCS #1 v1.5 over a message.
  public static let rsaSignatureMessagePKCS1v15SHA512 = SecKeyAlgorithm(name: "algid:sign:RSA:message-PKCS1v15:SHA512")
  /// `algid:sign:RSA:digest-PSS:SHA1:SHA1:20`: PSS over a digest.
  public static let rsaSignatureDigestPSSSHA1 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PSS:SHA1:SHA1:20")
  /// `algid:sign:RSA:digest-PSS:SHA224:SHA224:24`: PSS over a digest.
  public static let rsaSignatureDigestPSSSHA224 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PSS:SHA224:SHA224:24")
  /// `algid:sign:RSA:digest-PSS:SHA256:SHA256:32`: PSS over a digest.
  public static let rsaSignatureDigestPSSSHA256 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PSS:SHA256:SHA256:32")
  /// `algid:sign:RSA:digest-PSS:SHA384:SHA384:48`: PSS over a digest.
  public static let rsaSignatureDigestPSSSHA384 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PSS:SHA384:SHA384:48")
  /// `algid:sign:RSA:digest-PSS:SHA512:SHA512:64`: PSS over a digest.
  public static let rsaSignatureDigestPSSSHA512 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PSS:SHA512:SHA512:64")
  /// `algid:sign:RSA:message-PSS:SHA1:SHA1:20`: PSS over a message.
  public static let rsaSignatureMessagePSSSHA1 = SecKeyAlgorithm(name: "algid:sign:RSA:message-PSS:SHA1:SHA1:20")
  /// `algid:sign:RSA:message-PSS:SHA224:SHA224:24`: PSS over a message.
  public static let rsaSignatureMessagePSSSHA224 = SecKeyAlgorithm(name: "algid:sign:RSA:message-PSS:SHA224:SHA224:24")
  /// `algid:sign:RSA:message-PSS:SHA256:SHA256:32`: PSS over a message.
  public static let rsaSignatureMessagePSSSHA256 = SecKeyAlgorithm(name: "algid:sign:RSA:message-PSS:SHA256:SHA256:32")
  /// `algid:sign:RSA:message-PSS:SHA384:SHA384:48`: PSS over a message.
  public static let rsaSignatureMessagePSSSHA384 = SecKeyAlgorithm(name: "algid:sign:RSA:message-PSS:SHA384:SHA384:48")
  /// `algid:sign:RSA:message-PSS:SHA512:SHA512:64`: PSS over a message.
  public static let rsaSignatureMessagePSSSHA512 = SecKeyAlgorithm(name: "algid:sign:RSA:message-PSS:SHA512:SHA512:64")

  // ECDSA

  /// `algid:sign:ECDSA:RFC4754`: both numbers over a digest of any length; the older name.
  public static let ecdsaSignatureRFC4754 = SecKeyAlgorithm(name: "algid:sign:ECDSA:RFC4754")
  /// `algid:sign:ECDSA:digest-X962`: DER over a digest of any length.
  public static let ecdsaSignatureDigestX962 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-X962")
  /// `algid:sign:ECDSA:digest-X962:SHA1`: DER over a digest.
  public static let ecdsaSignatureDigestX962SHA1 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-X962:SHA1")
  /// `algid:sign:ECDSA:digest-X962:SHA224`: DER over a digest.
  public static let ecdsaSignatureDigestX962SHA224 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-X962:SHA224")
  /// `algid:sign:ECDSA:digest-X962:SHA256`: DER over a digest.
  public static let ecdsaSignatureDigestX962SHA256 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-X962:SHA256")
  /// `algid:sign:ECDSA:digest-X962:SHA384`: DER over a digest.
  public static let ecdsaSignatureDigestX962SHA384 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-X962:SHA384")
  /// `algid:sign:ECDSA:digest-X962:SHA512`: DER over a digest.
  public static let ecdsaSignatureDigestX962SHA512 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-X962:SHA512")
  /// `algid:sign:ECDSA:message-X962:SHA1`: DER over a message.
  public static let ecdsaSignatureMessageX962SHA1 = SecKeyAlgorithm(name: "algid:sign:ECDSA:message-X962:SHA1")
  /// `algid:sign:ECDSA:message-X962:SHA224`: DER over a message.
  public static let ecdsaSignatureMessageX962SHA224 = SecKeyAlgorithm(name: "algid:sign:ECDSA:message-X962:SHA224")
  /// `algid:sign:ECDSA:message-X962:SHA256`: DER over a message.
  public static let ecdsaSignatureMessageX962SHA256 = SecKeyAlgorithm(name: "algid:sign:ECDSA:message-X962:SHA256")
  /// `algid:sign:ECDSA:message-X962:SHA384`: DER over a message.
  public static let ecdsaSignatureMessageX962SHA384 = SecKeyAlgorithm(name: "algid:sign:ECDSA:message-X962:SHA384")
  /// `algid:sign:ECDSA:message-X962:SHA512`: DER over a message.
  public static let ecdsaSignatureMessageX962SHA512 = SecKeyAlgorithm(name: "algid:sign:ECDSA:message-X962:SHA512")
  /// `algid:sign:ECDSA:digest-RFC4754`: both numbers over a digest of any length.
  public static let ecdsaSignatureDigestRFC4754 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-RFC4754")
  /// `algid:sign:ECDSA:digest-RFC4754:SHA1`: both numbers over a digest.
  public static let ecdsaSignatureDigestRFC4754SHA1 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-RFC4754:SHA1")
  /// `algid:sign:ECDSA:digest-RFC4754:SHA224`: both numbers over a digest.
  public static let ecdsaSignatureDigestRFC4754SHA224 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-RFC4754:SHA224")
  /// `algid:sign:ECDSA:digest-RFC4754:SHA256`: both numbers over a digest.
  public static let ecdsaSignatureDigestRFC4754SHA256 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-RFC4754:SHA256")
  /// `algid:sign:ECDSA:digest-RFC4754:SHA384`: both numbers over a digest.
  public static let ecdsaSignatureDigestRFC4754SHA384 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-RFC4754:SHA384")
  /// `algid:sign:ECDSA:digest-RFC4754:SHA512`: both numbers over a digest.
  public static let ecdsaSignatureDigestRFC4754SHA512 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-RFC4754:SHA512")
  /// `algid:sign:ECDSA:message-RFC4754:SHA1`: both numbers over a message.
  public static let ecdsaSignatureMessageRFC4754SHA1 = SecKeyAlgorithm(name: "algid:sign:ECDSA:message-RFC4754:SHA1")
  /// `algid:sign:ECDSA:message-RFC4754:SHA224`: both numbers over a message.
  public static let ecdsaSignatureMessageRFC4754SHA224 = SecKeyAlgorithm(
    name: "algid:sign:ECDSA:message-RFC4754:SHA224")
  /// `algid:sign:ECDSA:message-RFC4754:SHA256`: both numbers over a message.
  public static let ecdsaSignatureMessageRFC4754SHA256 = SecKeyAlgorithm(
    name: "algid:sign:ECDSA:message-RFC4754:SHA256")
  /// `algid:sign:ECDSA:message-RFC4754:SHA384`: both numbers over a message.
  public static let ecdsaSignatureMessageRFC4754SHA384 = SecKeyAlgorithm(
    name: "algid:sign:ECDSA:message-RFC4754:SHA384")
  /// `algid:sign:ECDSA:message-RFC4754:SHA512`: both numbers over a message.
  public static let ecdsaSignatureMessageRFC4754SHA512 = SecKeyAlgorithm(
    name: "algid:sign:ECDSA:message-RFC4754:SHA512")
}

extension SecKeyAlgorithm {
  // RSA

  /// `algid:encrypt:RSA:raw`: RSA without padding.
  public static let rsaEncryptionRaw = SecKeyAlgorithm(name: "algid:encrypt:RSA:raw")
  /// `algid:encrypt:RSA:PKCS1`: PKCS #1 v1.5.
  public static let rsaEncryptionPKCS1 = SecKeyAlgorithm(name: "algid:encrypt:RSA:PKCS1")
  /// `algid:encrypt:RSA:OAEP:SHA1`: OAEP.
  public static let rsaEncryptionOAEPSHA1 = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA1")
  /// `algid:encrypt:RSA:OAEP:SHA224`: OAEP.
  public static let rsaEncryptionOAEPSHA224 = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA224")
  /// `algid:encrypt:RSA:OAEP:SHA256`: OAEP.
  public static let rsaEncryptionOAEPSHA256 = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA256")
  /// `algid:encrypt:RSA:OAEP:SHA384`: OAEP.
  public static let rsaEncryptionOAEPSHA384 = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA384")
  /// `algid:encrypt:RSA:OAEP:SHA512`: OAEP.
  public static let rsaEncryptionOAEPSHA512 = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA512")
  /// `algid:encrypt:RSA:OAEP:SHA1:AESGCM`: AES-GCM under a key that OAEP wraps.
  public static let rsaEncryptionOAEPSHA1AESGCM = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA1:AESGCM")
  /// `algid:encrypt:RSA:OAEP:SHA224:AESGCM`: AES-GCM under a key that OAEP wraps.
  public static let rsaEncryptionOAEPSHA224AESGCM = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA224:AESGCM")
  /// `algid:encrypt:RSA:OAEP:SHA256:AESGCM`: AES-GCM under a key that OAEP wraps.
  public static let rsaEncryptionOAEPSHA256AESGCM = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA256:AESGCM")
  /// `algid:encrypt:RSA:OAEP:SHA384:AESGCM`: AES-GCM under a key that OAEP wraps.
  public static let rsaEncryptionOAEPSHA384AESGCM = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA384:AESGCM")
  /// `algid:encrypt:RSA:OAEP:SHA512:AESGCM`: AES-GCM under a key that OAEP wraps.
  public static let rsaEncryptionOAEPSHA512AESGCM = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA512:AESGCM")

  // ECIES: AES-GCM under a key agreed on with a key made for the one message

  /// `algid:encrypt:ECIES:ECDH:KDFX963:SHA1:AESGCM`: a nonce of zeros.
  public static let eciesEncryptionStandardX963SHA1AESGCM = SecKeyAlgorithm(
    name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA1:AESGCM")
  /// `algid:encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM`: a nonce of zeros.
  public static let eciesEncryptionStandardX963SHA224AESGCM = SecKeyAlgorithm(
    name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM")
  /// `algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM`: a nonce of zeros.
  public static let eciesEncryptionStandardX963SHA256AESGCM = SecKeyAlgorithm(
    name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM")
  /// `algid:encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM`: a nonce of zeros.
  public static let eciesEncryptionStandardX963SHA384AESGCM = SecKeyAlgorithm(
    name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM")
  /// `algid:encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM`: a nonce of zeros.
  public static let eciesEncryptionStandardX963SHA512AESGCM = SecKeyAlgorithm(
    name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM")
  /// `algid:encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM-KDFIV`: a nonce from the derivation.
  public static let eciesEncryptionStandardVariableIVX963SHA224AESGCM = SecKeyAlgorithm(
    name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM-KDFIV")
  /// `algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM-KDFIV`: a nonce from the derivation.
  public static let eciesEncryptionStandardVariableIVX963SHA256AESGCM = SecKeyAlgorithm(
    name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM-KDFIV")
  /// `algid:encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM-KDFIV`: a nonce from the derivation.
  public static let eciesEncryptionStandardVariableIVX963SHA384AESGCM = SecKeyAlgorithm(
    name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM-KDFIV")
  /// `algid:encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM-KDFIV`: a nonce from the derivation.
  public static let eciesEncryptionStandardVariableIVX963SHA512AESGCM = SecKeyAlgorithm(
    name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM-KDFIV")
  /// `algid:encrypt:ECIES:ECDHC:KDFX963:SHA1:AESGCM`: a nonce of zeros.
  public static let eciesEncryptionCofactorX963SHA1AESGCM = SecKeyAlgorithm(
    name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA1:AESGCM")
  /// `algid:encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM`: a nonce of zeros.
  public static let eciesEncryptionCofactorX963SHA224AESGCM = SecKeyAlgorithm(
    name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM")
  /// `algid:encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM`: a nonce of zeros.
  public static let eciesEncryptionCofactorX963SHA256AESGCM = SecKeyAlgorithm(
    name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM")
  /// `algid:encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM`: a nonce of zeros.
  public static let eciesEncryptionCofactorX963SHA384AESGCM = SecKeyAlgorithm(
    name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM")
  /// `algid:encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM`: a nonce of zeros.
  public static let eciesEncryptionCofactorX963SHA512AESGCM = SecKeyAlgorithm(
    name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM")
  /// `algid:encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM-KDFIV`: a nonce from the derivation.
  public static let eciesEncryptionCofactorVariableIVX963SHA224AESGCM = SecKeyAlgorithm(
    name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM-KDFIV")
  /// `algid:encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM-KDFIV`: a nonce from the derivation.
  public static let eciesEncryptionCofactorVariableIVX963SHA256AESGCM = SecKeyAlgorithm(
    name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM-KDFIV")
  /// `algid:encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM-KDFIV`: a nonce from the derivation.
  public static let eciesEncryptionCofactorVariableIVX963SHA384AESGCM = SecKeyAlgorithm(
    name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM-KDFIV")
  /// `algid:encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM-KDFIV`: a nonce from the derivation.
  public static let eciesEncryptionCofactorVariableIVX963SHA512AESGCM = SecKeyAlgorithm(
    name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM-KDFIV")

  // Key exchange

  /// `algid:keyexchange:ECDH`: the shared number as it is.
  public static let ecdhKeyExchangeStandard = SecKeyAlgorithm(name: "algid:keyexchange:ECDH")
  /// `algid:keyexchange:ECDH:KDFX963:SHA1`: derived as in X9.63.
  public static let ecdhKeyExchangeStandardX963SHA1 = SecKeyAlgorithm(name: "algid:keyexchange:ECDH:KDFX963:SHA1")
  /// `algid:keyexchange:ECDH:KDFX963:SHA224`: derived as in X9.63.
  public static let ecdhKeyExchangeStandardX963SHA224 = SecKeyAlgorithm(name: "algid:keyexchange:ECDH:KDFX963:SHA224")
  /// `algid:keyexchange:ECDH:KDFX963:SHA256`: derived as in X9.63.
  public static let ecdhKeyExchangeStandardX963SHA256 = SecKeyAlgorithm(name: "algid:keyexchange:ECDH:KDFX963:SHA256")
  /// `algid:keyexchange:ECDH:KDFX963:SHA384`: derived as in X9.63.
  public static let ecdhKeyExchangeStandardX963SHA384 = SecKeyAlgorithm(name: "algid:keyexchange:ECDH:KDFX963:SHA384")
  /// `algid:keyexchange:ECDH:KDFX963:SHA512`: derived as in X9.63.
  public static let ecdhKeyExchangeStandardX963SHA512 = SecKeyAlgorithm(name: "algid:keyexchange:ECDH:KDFX963:SHA512")
  /// `algid:keyexchange:ECDHC`: the shared number as it is.
  public static let ecdhKeyExchangeCofactor = SecKeyAlgorithm(name: "algid:keyexchange:ECDHC")
  /// `algid:keyexchange:ECDHC:KDFX963:SHA1`: derived as in X9.63.
  public static let ecdhKeyExchangeCofactorX963SHA1 = SecKeyAlgorithm(name: "algid:keyexchange:ECDHC:KDFX963:SHA1")
  /// `algid:keyexchange:ECDHC:KDFX963:SHA224`: derived as in X9.63.
  public static let ecdhKeyExchangeCofactorX963SHA224 = SecKeyAlgorithm(name: "algid:keyexchange:ECDHC:KDFX963:SHA224")
  /// `algid:keyexchange:ECDHC:KDFX963:SHA256`: derived as in X9.63.
  public static let ecdhKeyExchangeCofactorX963SHA256 = SecKeyAlgorithm(name: "algid:keyexchange:ECDHC:KDFX963:SHA256")
  /// `algid:keyexchange:ECDHC:KDFX963:SHA384`: derived as in X9.63.
  public static let ecdhKeyExchangeCofactorX963SHA384 = SecKeyAlgorithm(name: "algid:keyexchange:ECDHC:KDFX963:SHA384")
  /// `algid:keyexchange:ECDHC:KDFX963:SHA512`: derived as in X9.63.
  public static let ecdhKeyExchangeCofactorX963SHA512 = SecKeyAlgorithm(name: "algid:keyexchange:ECDHC:KDFX963:SHA512")
}
