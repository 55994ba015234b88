// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

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
