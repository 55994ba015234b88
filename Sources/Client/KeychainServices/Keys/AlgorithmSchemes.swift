internal import Foundation
internal import KeySchemes
internal import Keys

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
