import Security
import Testing

/// A new key in this process.
func newKey(_ type: CFString = kSecAttrKeyTypeECSECPrimeRandom, _ bits: Int = 256, _ more: [CFString: Any] = [:]) throws
  -> SecKey
{
  let parameters = more.merging([kSecAttrKeyType: type, kSecAttrKeySizeInBits: bits]) { own, _ in own }
  var error: Unmanaged<CFError>?
  return try #require(SecKeyCreateRandomKey(parameters as CFDictionary, &error), "\(code(error) ?? 0)")
}

/// The code of a call's error; nil for none.
func code(_ error: Unmanaged<CFError>?) -> Int? { error?.takeRetainedValue().code }

@Suite("SecKey")
struct KeyTests {
  let message = Data("a message".utf8) as CFData

  @Test(
    "keys of every supported size sign, encrypt and are exported",
    arguments: [
      (kSecAttrKeyTypeECSECPrimeRandom as String, 256), ("73", 384), ("73", 521), ("42", 2048), ("42", 3072),
    ])
  func roundTrip(type: String, bits: Int) throws {
    let key = try newKey(type as CFString, bits)
    let publicKey = try #require(SecKeyCopyPublicKey(key))
    let isRSA = type == "42"
    let signing: SecKeyAlgorithm = isRSA ? .rsaSignatureMessagePSSSHA256 : .ecdsaSignatureMessageX962SHA256
    let signature = try #require(SecKeyCreateSignature(key, signing, message, nil))
    #expect(SecKeyVerifySignature(publicKey, signing, message, signature, nil))
    var error: Unmanaged<CFError>?
    #expect(!SecKeyVerifySignature(publicKey, signing, Data("other".utf8) as CFData, signature, &error))
    #expect(code(error) == Int(errSecVerifyFailed))
    let encrypting: SecKeyAlgorithm = isRSA ? .rsaEncryptionOAEPSHA256 : .eciesEncryptionStandardX963SHA256AESGCM
    let sealed = try #require(SecKeyCreateEncryptedData(publicKey, encrypting, message, nil))
    #expect(SecKeyCreateDecryptedData(key, encrypting, sealed, nil) as Data? == message as Data)
    #expect(SecKeyGetBlockSize(key) == (bits + 7) / 8)

    let attributes = try #require(SecKeyCopyAttributes(key) as? [String: Any])
    #expect(attributes[kSecAttrKeyType as String] as? String == type)
    #expect(attributes[kSecAttrKeySizeInBits as String] as? Int == bits)
    #expect(attributes[kSecAttrKeyClass as String] as? String == kSecAttrKeyClassPrivate as String)
    #expect(attributes[kSecAttrCanSign as String] as? Bool == true)
    #expect(attributes[kSecAttrIsPermanent as String] as? Bool == false)
    #expect((attributes[kSecAttrApplicationLabel as String] as? Data)?.count == 20)
    #expect(
      (SecKeyCopyAttributes(publicKey) as? [String: Any])?[kSecAttrApplicationLabel as String] as? Data
        == attributes[kSecAttrApplicationLabel as String] as? Data)

    for (half, keyClass) in [(key, kSecAttrKeyClassPrivate), (publicKey, kSecAttrKeyClassPublic)] {
      let bytes = try #require(SecKeyCopyExternalRepresentation(half, nil))
      let again = try #require(
        SecKeyCreateWithData(
          bytes, [kSecAttrKeyType: type, kSecAttrKeyClass: keyClass, kSecAttrKeySizeInBits: bits] as CFDictionary, nil))
      #expect(again == half)
      #expect(again.hash == half.hash)
      #expect(SecKeyCopyExternalRepresentation(again, nil) as Data? == bytes as Data)
    }
    #expect(key != publicKey)
    #expect(SecKeyCopyPublicKey(publicKey) == publicKey)
  }

  private static let hashes = ["SHA1", "SHA224", "SHA256", "SHA384", "SHA512"]

  @Test("every signature algorithm of Apple's names works, over digests too")
  func signatureAlgorithms() throws {
    let (ec, rsa) = (try newKey(), try newKey(kSecAttrKeyTypeRSA, 2048))
    let sizes = ["SHA1": 20, "SHA224": 28, "SHA256": 32, "SHA384": 48, "SHA512": 64]
    var names: [(String, SecKey, Int?)] = [
      ("algid:sign:RSA:raw", rsa, 32), ("algid:sign:RSA:digest-PKCS1v15", rsa, 32),
      ("algid:sign:ECDSA:RFC4754", ec, 32), ("algid:sign:ECDSA:digest-X962", ec, 32),
      ("algid:sign:ECDSA:digest-RFC4754", ec, 32),
    ]
    for hash in Self.hashes {
      let salt = hash == "SHA224" ? 24 : sizes[hash] ?? 0
      for (kind, size) in [("digest", sizes[hash]), ("message", nil)] {
        names.append(("algid:sign:RSA:\(kind)-PKCS1v15:\(hash)", rsa, size))
        names.append(("algid:sign:RSA:\(kind)-PSS:\(hash):\(hash):\(salt)", rsa, size))
        names.append(("algid:sign:ECDSA:\(kind)-X962:\(hash)", ec, size))
        names.append(("algid:sign:ECDSA:\(kind)-RFC4754:\(hash)", ec, size))
      }
    }
    for (name, key, size) in names {
      let algorithm = SecKeyAlgorithm(rawValue: name as CFString)
      let publicKey = try #require(SecKeyCopyPublicKey(key))
      let data = Data(repeating: 7, count: size ?? 100) as CFData
      #expect(SecKeyIsAlgorithmSupported(key, .sign, algorithm), "\(name)")
      #expect(SecKeyIsAlgorithmSupported(publicKey, .verify, algorithm), "\(name)")
      #expect(!SecKeyIsAlgorithmSupported(publicKey, .sign, algorithm), "\(name)")
      #expect(!SecKeyIsAlgorithmSupported(key, .decrypt, algorithm), "\(name)")
      let signature = try #require(SecKeyCreateSignature(key, algorithm, data, nil), "\(name)")
      #expect(SecKeyVerifySignature(publicKey, algorithm, data, signature, nil), "\(name)")
    }
  }

  @Test("every encryption and exchange algorithm of Apple's names works")
  func encryptionAlgorithms() throws {
    let (ec, rsa) = (try newKey(), try newKey(kSecAttrKeyTypeRSA, 2048))
    var names: [(String, SecKey)] = [("algid:encrypt:RSA:PKCS1", rsa)]
    for hash in Self.hashes {
      names.append(("algid:encrypt:RSA:OAEP:\(hash)", rsa))
      names.append(("algid:encrypt:RSA:OAEP:\(hash):AESGCM", rsa))
      for form in ["ECDH", "ECDHC"] {
        names.append(("algid:encrypt:ECIES:\(form):KDFX963:\(hash):AESGCM", ec))
        if hash != "SHA1" { names.append(("algid:encrypt:ECIES:\(form):KDFX963:\(hash):AESGCM-KDFIV", ec)) }
      }
    }
    for (name, key) in names {
      let algorithm = SecKeyAlgorithm(rawValue: name as CFString)
      let publicKey = try #require(SecKeyCopyPublicKey(key))
      #expect(SecKeyIsAlgorithmSupported(publicKey, .encrypt, algorithm), "\(name)")
      #expect(SecKeyIsAlgorithmSupported(key, .decrypt, algorithm), "\(name)")
      let sealed = try #require(SecKeyCreateEncryptedData(publicKey, algorithm, message, nil), "\(name)")
      #expect(SecKeyCreateDecryptedData(key, algorithm, sealed, nil) as Data? == message as Data, "\(name)")
    }
    let other = try newKey()
    let (mine, theirs) = (try #require(SecKeyCopyPublicKey(ec)), try #require(SecKeyCopyPublicKey(other)))
    let parameters: [String: Any] = [
      SecKeyKeyExchangeParameter.requestedSize.rawValue as String: 48,
      SecKeyKeyExchangeParameter.sharedInfo.rawValue as String: Data("info".utf8),
    ]
    for form in ["ECDH", "ECDHC"] {
      for rest in [""] + Self.hashes.map({ ":KDFX963:\($0)" }) {
        let algorithm = SecKeyAlgorithm(rawValue: "algid:keyexchange:\(form)\(rest)" as CFString)
        #expect(SecKeyIsAlgorithmSupported(ec, .keyExchange, algorithm))
        let one = SecKeyCopyKeyExchangeResult(ec, algorithm, theirs, parameters as CFDictionary, nil) as Data?
        let two = SecKeyCopyKeyExchangeResult(other, algorithm, mine, parameters as CFDictionary, nil) as Data?
        #expect(one == two)
        #expect(one?.count == (rest.isEmpty ? 32 : 48))
      }
    }
    let derived = SecKeyCopyKeyExchangeResult(ec, .ecdhKeyExchangeStandardX963SHA384, theirs, [:] as CFDictionary, nil)
    #expect(derived?.length == 48)
  }

  @Test("SecKeyAlgorithm, SecKeyOperationType and SecKeyKeyExchangeParameter constants have Apple's values")
  func constants() {
    #expect(
      SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256.rawValue as String == "algid:sign:ECDSA:message-X962:SHA256")
    #expect(
      SecKeyAlgorithm.rsaSignatureDigestPSSSHA224.rawValue as String == "algid:sign:RSA:digest-PSS:SHA224:SHA224:24")
    #expect(SecKeyAlgorithm.rsaEncryptionOAEPSHA512AESGCM.rawValue as String == "algid:encrypt:RSA:OAEP:SHA512:AESGCM")
    #expect(
      SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM.rawValue as String
        == "algid:encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM-KDFIV")
    #expect(
      SecKeyAlgorithm.ecdhKeyExchangeStandardX963SHA256.rawValue as String == "algid:keyexchange:ECDH:KDFX963:SHA256")
    #expect([SecKeyOperationType.sign, .verify, .encrypt, .decrypt, .keyExchange].map(\.rawValue) == [0, 1, 2, 3, 4])
    #expect(SecKeyKeyExchangeParameter.sharedInfo.rawValue as String == "sharedInfo")
  }

  @Test("a key call with the wrong algorithm, key half, digest or ciphertext is refused with errSecParam")
  func misuse() throws {
    let key = try newKey()
    let publicKey = try #require(SecKeyCopyPublicKey(key))
    var error: Unmanaged<CFError>?
    #expect(SecKeyCreateSignature(key, .rsaSignatureMessagePSSSHA256, message, &error) == nil)
    #expect(code(error) == -50)
    #expect(SecKeyCreateSignature(publicKey, .ecdsaSignatureMessageX962SHA256, message, &error) == nil)
    #expect(code(error) == -50)
    #expect(SecKeyCreateSignature(key, .ecdsaSignatureDigestX962SHA256, message, &error) == nil)
    #expect(code(error) == -50)
    #expect(!SecKeyVerifySignature(key, .ecdsaSignatureMessageX962SHA256, message, message, &error))
    #expect(code(error) == -50)
    #expect(SecKeyCreateEncryptedData(key, .eciesEncryptionStandardX963SHA256AESGCM, message, &error) == nil)
    #expect(code(error) == -50)
    #expect(SecKeyCreateDecryptedData(key, .eciesEncryptionStandardX963SHA256AESGCM, message, &error) == nil)
    #expect(code(error) == -50)
    let larger = try newKey(kSecAttrKeyTypeEC, 384)
    #expect(
      SecKeyCopyKeyExchangeResult(
        key, .ecdhKeyExchangeStandard, try #require(SecKeyCopyPublicKey(larger)), [:] as CFDictionary, &error) == nil)
    #expect(code(error) == -50)
    #expect(SecKeyCreateSignature(key, SecKeyAlgorithm(rawValue: "algid:what"), message, nil) == nil)
  }

  @Test("keys of unsupported sizes and types are neither made nor read")
  func unknownKinds() {
    let parameters: [[CFString: Any]] = [
      [:], [kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeySizeInBits: 192],
      [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: 1024],
      [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: 8192],
      [kSecAttrKeyType: kSecAttrKeyTypeAES, kSecAttrKeySizeInBits: 256],
      [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrTokenID: kSecAttrTokenIDSecureEnclave],
      [kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeySizeInBits: 384, kSecAttrTokenID: kSecAttrTokenIDSecureEnclave],
      [kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrTokenID: "card"],
    ]
    for given in parameters {
      var error: Unmanaged<CFError>?
      #expect(SecKeyCreateRandomKey(given as CFDictionary, &error) == nil)
      #expect(code(error) == -50, "\(given)")
    }
    let attributes: [[CFString: Any]] = [
      [:], [kSecAttrKeyType: kSecAttrKeyTypeEC], [kSecAttrKeyClass: kSecAttrKeyClassPublic],
      [kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeyClass: kSecAttrKeyClassPublic],
      [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: kSecAttrKeyClassPrivate],
    ]
    for given in attributes {
      var error: Unmanaged<CFError>?
      #expect(SecKeyCreateWithData(Data([4, 1, 2]) as CFData, given as CFDictionary, &error) == nil)
      #expect(code(error) == -50, "\(given)")
    }
  }

  @Test("a key has a description, which does not contain its bytes")
  func descriptions() throws {
    let key = try newKey()
    #expect("\(key)" == "<SecKey: EC private, 256 bits>")
    #expect(CFGetTypeID(key) == SecKeyGetTypeID())
  }

  @Test("a key of the secure enclave that is not stored cannot be exported")
  func secureEnclave() throws {
    let key = try newKey(kSecAttrKeyTypeECSECPrimeRandom, 256, [kSecAttrTokenID: kSecAttrTokenIDSecureEnclave])
    var error: Unmanaged<CFError>?
    #expect(SecKeyCopyExternalRepresentation(key, &error) == nil)
    #expect(code(error) == -4)
    #expect(SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message, nil) != nil)
    let attributes = SecKeyCopyAttributes(key) as? [String: Any]
    #expect(attributes?[kSecAttrTokenID as String] as? String == kSecAttrTokenIDSecureEnclave as String)
  }

  @Test("a key outside the store whose access control says privateKeyUsage cannot be exported")
  func privateKeyUsage() throws {
    let control = try #require(SecAccessControlCreateWithFlags(nil, "ak", .privateKeyUsage, nil))
    for (type, bits) in [(kSecAttrKeyTypeEC, 256), (kSecAttrKeyTypeEC, 384), (kSecAttrKeyTypeRSA, 2048)] {
      let key = try newKey(type, bits, [kSecPrivateKeyAttrs: [kSecAttrAccessControl: control]])
      var error: Unmanaged<CFError>?
      #expect(SecKeyCopyExternalRepresentation(key, &error) == nil, "\(type) \(bits)")
      #expect(code(error) == -4)
      let attributes = try #require(SecKeyCopyAttributes(key) as? [String: Any])
      #expect(attributes[kSecAttrIsExtractable as String] as? Bool == false)
      #expect(attributes[kSecAttrTokenID as String] == nil)
    }
  }

  @Test("a key that needs a prompt cannot be made outside the store")
  func constrainedOutsideTheStore() throws {
    for flags in [.biometryAny, [.privateKeyUsage, .userPresence], .applicationPassword]
      as [SecAccessControlCreateFlags]
    {
      let control = try #require(SecAccessControlCreateWithFlags(nil, "ak", flags, nil))
      let parameters: [CFString: Any] = [
        kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeySizeInBits: 256,
        kSecPrivateKeyAttrs: [kSecAttrAccessControl: control],
      ]
      var error: Unmanaged<CFError>?
      #expect(SecKeyCreateRandomKey(parameters as CFDictionary, &error) == nil)
      #expect(code(error) == Int(errSecUnimplemented))
    }
  }

  @Test("SecKeyGeneratePair returns both halves of the pair")
  func pairs() {
    var (publicKey, privateKey): (SecKey?, SecKey?)
    let parameters = [kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeySizeInBits: 256] as CFDictionary
    #expect(SecKeyGeneratePair(parameters, &publicKey, &privateKey) == errSecSuccess)
    #expect(privateKey.flatMap(SecKeyCopyPublicKey) == publicKey)
    #expect(SecKeyGeneratePair([:] as CFDictionary, &publicKey, &privateKey) == errSecParam)
  }
}
