import Security
import Testing

/// The value of every algorithm constant; `KeyTests` uses the algorithms.
@Suite("Names of algorithms")
struct AlgorithmNameTests {
  @Test("every SecKeyAlgorithm constant for signatures has Apple's name")
  func signatures() {
    let values: [(SecKeyAlgorithm, String)] = [
      (.rsaSignatureRaw, "sign:RSA:raw"), (.rsaSignatureDigestPKCS1v15Raw, "sign:RSA:digest-PKCS1v15"),
      (.rsaSignatureDigestPKCS1v15SHA1, "sign:RSA:digest-PKCS1v15:SHA1"),
      (.rsaSignatureDigestPKCS1v15SHA224, "sign:RSA:digest-PKCS1v15:SHA224"),
      (.rsaSignatureDigestPKCS1v15SHA256, "sign:RSA:digest-PKCS1v15:SHA256"),
      (.rsaSignatureDigestPKCS1v15SHA384, "sign:RSA:digest-PKCS1v15:SHA384"),
      (.rsaSignatureDigestPKCS1v15SHA512, "sign:RSA:digest-PKCS1v15:SHA512"),
      (.rsaSignatureMessagePKCS1v15SHA1, "sign:RSA:message-PKCS1v15:SHA1"),
      (.rsaSignatureMessagePKCS1v15SHA224, "sign:RSA:message-PKCS1v15:SHA224"),
      (.rsaSignatureMessagePKCS1v15SHA256, "sign:RSA:message-PKCS1v15:SHA256"),
      (.rsaSignatureMessagePKCS1v15SHA384, "sign:RSA:message-PKCS1v15:SHA384"),
      (.rsaSignatureMessagePKCS1v15SHA512, "sign:RSA:message-PKCS1v15:SHA512"),
      (.rsaSignatureDigestPSSSHA1, "sign:RSA:digest-PSS:SHA1:SHA1:20"),
      (.rsaSignatureDigestPSSSHA224, "sign:RSA:digest-PSS:SHA224:SHA224:24"),
      (.rsaSignatureDigestPSSSHA256, "sign:RSA:digest-PSS:SHA256:SHA256:32"),
      (.rsaSignatureDigestPSSSHA384, "sign:RSA:digest-PSS:SHA384:SHA384:48"),
      (.rsaSignatureDigestPSSSHA512, "sign:RSA:digest-PSS:SHA512:SHA512:64"),
      (.rsaSignatureMessagePSSSHA1, "sign:RSA:message-PSS:SHA1:SHA1:20"),
      (.rsaSignatureMessagePSSSHA224, "sign:RSA:message-PSS:SHA224:SHA224:24"),
      (.rsaSignatureMessagePSSSHA256, "sign:RSA:message-PSS:SHA256:SHA256:32"),
      (.rsaSignatureMessagePSSSHA384, "sign:RSA:message-PSS:SHA384:SHA384:48"),
      (.rsaSignatureMessagePSSSHA512, "sign:RSA:message-PSS:SHA512:SHA512:64"),
      (.ecdsaSignatureRFC4754, "sign:ECDSA:RFC4754"), (.ecdsaSignatureDigestX962, "sign:ECDSA:digest-X962"),
      (.ecdsaSignatureDigestX962SHA1, "sign:ECDSA:digest-X962:SHA1"),
      (.ecdsaSignatureDigestX962SHA224, "sign:ECDSA:digest-X962:SHA224"),
      (.ecdsaSignatureDigestX962SHA256, "sign:ECDSA:digest-X962:SHA256"),
      (.ecdsaSignatureDigestX962SHA384, "sign:ECDSA:digest-X962:SHA384"),
      (.ecdsaSignatureDigestX962SHA512, "sign:ECDSA:digest-X962:SHA512"),
      (.ecdsaSignatureMessageX962SHA1, "sign:ECDSA:message-X962:SHA1"),
      (.ecdsaSignatureMessageX962SHA224, "sign:ECDSA:message-X962:SHA224"),
      (.ecdsaSignatureMessageX962SHA256, "sign:ECDSA:message-X962:SHA256"),
      (.ecdsaSignatureMessageX962SHA384, "sign:ECDSA:message-X962:SHA384"),
      (.ecdsaSignatureMessageX962SHA512, "sign:ECDSA:message-X962:SHA512"),
      (.ecdsaSignatureDigestRFC4754, "sign:ECDSA:digest-RFC4754"),
      (.ecdsaSignatureDigestRFC4754SHA1, "sign:ECDSA:digest-RFC4754:SHA1"),
      (.ecdsaSignatureDigestRFC4754SHA224, "sign:ECDSA:digest-RFC4754:SHA224"),
      (.ecdsaSignatureDigestRFC4754SHA256, "sign:ECDSA:digest-RFC4754:SHA256"),
      (.ecdsaSignatureDigestRFC4754SHA384, "sign:ECDSA:digest-RFC4754:SHA384"),
      (.ecdsaSignatureDigestRFC4754SHA512, "sign:ECDSA:digest-RFC4754:SHA512"),
      (.ecdsaSignatureMessageRFC4754SHA1, "sign:ECDSA:message-RFC4754:SHA1"),
      (.ecdsaSignatureMessageRFC4754SHA224, "sign:ECDSA:message-RFC4754:SHA224"),
      (.ecdsaSignatureMessageRFC4754SHA256, "sign:ECDSA:message-RFC4754:SHA256"),
      (.ecdsaSignatureMessageRFC4754SHA384, "sign:ECDSA:message-RFC4754:SHA384"),
      (.ecdsaSignatureMessageRFC4754SHA512, "sign:ECDSA:message-RFC4754:SHA512"),
    ]
    for (constant, value) in values { #expect(constant.rawValue as String == "algid:" + value) }
    #expect(Set(values.map(\.1)).count == 45)
  }

  @Test("every SecKeyAlgorithm constant for encryption and key exchange has Apple's name")
  func encryption() {
    let values: [(SecKeyAlgorithm, String)] = [
      (.rsaEncryptionRaw, "encrypt:RSA:raw"), (.rsaEncryptionPKCS1, "encrypt:RSA:PKCS1"),
      (.rsaEncryptionOAEPSHA1, "encrypt:RSA:OAEP:SHA1"), (.rsaEncryptionOAEPSHA224, "encrypt:RSA:OAEP:SHA224"),
      (.rsaEncryptionOAEPSHA256, "encrypt:RSA:OAEP:SHA256"), (.rsaEncryptionOAEPSHA384, "encrypt:RSA:OAEP:SHA384"),
      (.rsaEncryptionOAEPSHA512, "encrypt:RSA:OAEP:SHA512"),
      (.rsaEncryptionOAEPSHA1AESGCM, "encrypt:RSA:OAEP:SHA1:AESGCM"),
      (.rsaEncryptionOAEPSHA224AESGCM, "encrypt:RSA:OAEP:SHA224:AESGCM"),
      (.rsaEncryptionOAEPSHA256AESGCM, "encrypt:RSA:OAEP:SHA256:AESGCM"),
      (.rsaEncryptionOAEPSHA384AESGCM, "encrypt:RSA:OAEP:SHA384:AESGCM"),
      (.rsaEncryptionOAEPSHA512AESGCM, "encrypt:RSA:OAEP:SHA512:AESGCM"),
      (.eciesEncryptionStandardX963SHA1AESGCM, "encrypt:ECIES:ECDH:KDFX963:SHA1:AESGCM"),
      (.eciesEncryptionStandardX963SHA224AESGCM, "encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM"),
      (.eciesEncryptionStandardX963SHA256AESGCM, "encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM"),
      (.eciesEncryptionStandardX963SHA384AESGCM, "encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM"),
      (.eciesEncryptionStandardX963SHA512AESGCM, "encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM"),
      (.eciesEncryptionStandardVariableIVX963SHA224AESGCM, "encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM-KDFIV"),
      (.eciesEncryptionStandardVariableIVX963SHA256AESGCM, "encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM-KDFIV"),
      (.eciesEncryptionStandardVariableIVX963SHA384AESGCM, "encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM-KDFIV"),
      (.eciesEncryptionStandardVariableIVX963SHA512AESGCM, "encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM-KDFIV"),
      (.eciesEncryptionCofactorX963SHA1AESGCM, "encrypt:ECIES:ECDHC:KDFX963:SHA1:AESGCM"),
      (.eciesEncryptionCofactorX963SHA224AESGCM, "encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM"),
      (.eciesEncryptionCofactorX963SHA256AESGCM, "encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM"),
      (.eciesEncryptionCofactorX963SHA384AESGCM, "encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM"),
      (.eciesEncryptionCofactorX963SHA512AESGCM, "encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM"),
      (.eciesEncryptionCofactorVariableIVX963SHA224AESGCM, "encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM-KDFIV"),
      (.eciesEncryptionCofactorVariableIVX963SHA256AESGCM, "encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM-KDFIV"),
      (.eciesEncryptionCofactorVariableIVX963SHA384AESGCM, "encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM-KDFIV"),
      (.eciesEncryptionCofactorVariableIVX963SHA512AESGCM, "encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM-KDFIV"),
      (.ecdhKeyExchangeStandard, "keyexchange:ECDH"),
      (.ecdhKeyExchangeStandardX963SHA1, "keyexchange:ECDH:KDFX963:SHA1"),
      (.ecdhKeyExchangeStandardX963SHA224, "keyexchange:ECDH:KDFX963:SHA224"),
      (.ecdhKeyExchangeStandardX963SHA256, "keyexchange:ECDH:KDFX963:SHA256"),
      (.ecdhKeyExchangeStandardX963SHA384, "keyexchange:ECDH:KDFX963:SHA384"),
      (.ecdhKeyExchangeStandardX963SHA512, "keyexchange:ECDH:KDFX963:SHA512"),
      (.ecdhKeyExchangeCofactor, "keyexchange:ECDHC"),
      (.ecdhKeyExchangeCofactorX963SHA1, "keyexchange:ECDHC:KDFX963:SHA1"),
      (.ecdhKeyExchangeCofactorX963SHA224, "keyexchange:ECDHC:KDFX963:SHA224"),
      (.ecdhKeyExchangeCofactorX963SHA256, "keyexchange:ECDHC:KDFX963:SHA256"),
      (.ecdhKeyExchangeCofactorX963SHA384, "keyexchange:ECDHC:KDFX963:SHA384"),
      (.ecdhKeyExchangeCofactorX963SHA512, "keyexchange:ECDHC:KDFX963:SHA512"),
    ]
    for (constant, value) in values { #expect(constant.rawValue as String == "algid:" + value) }
    #expect(Set(values.map(\.1)).count == 42)
  }
}
