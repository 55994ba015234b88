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
