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
