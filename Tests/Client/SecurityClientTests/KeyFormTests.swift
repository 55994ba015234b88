// swift-format-ignore-file: NeverForceUnwrap, NeverUseImplicitlyUnwrappedOptionals
// Written as articles write it.

import LocalAuthentication
import Security
import Testing

extension ClientCode {
  /// How programs make, keep and use keys.
  @Suite("Forms of keys")
  struct KeyFormTests {
    private let message = "message".data(using: .utf8)!

    private func control(_ flags: SecAccessControlCreateFlags) throws -> SecAccessControl {
      var error: Unmanaged<CFError>?
      guard
        let made = SecAccessControlCreateWithFlags(
          kCFAllocatorDefault, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, flags, &error)
      else { throw error!.takeRetainedValue() as Error }
      return made
    }

    /// The private key is used in the vault. The public key is stored as an item with its own label.
    @Test("a key pair of the secure enclave is generated, found by label, queried and used")
    func labelledPair() async throws {
      let store = try await ClientStore()
      defer { withExtendedLifetime(store) {} }
      var own: [String: Any] = [
        kSecAttrLabel as String: "sign.private",
        kSecAttrIsPermanent as String: true,
        kSecAttrAccessControl as String: try control(.privateKeyUsage),
        kSecUseAuthenticationUI as String: kSecUseAuthenticationUIAllow,
        kSecUseOperationPrompt as String: "Sign it",
      ]
      own[kSecAttrTokenID as String] = kSecAttrTokenIDSecureEnclave
      let others: [String: Any] = [
        kSecAttrLabel as String: "sign.public", kSecAttrAccessControl as String: try control([]),
      ]
      let parameters: [String: Any] = [
        kSecAttrKeyType as String: kSecAttrKeyTypeEC as String, kSecPrivateKeyAttrs as String: own,
        kSecPublicKeyAttrs as String: others, kSecAttrKeySizeInBits as String: 256,
        kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave,
      ]
      var publicOptional, privateOptional: SecKey?
      #expect(SecKeyGeneratePair(parameters as CFDictionary, &publicOptional, &privateOptional) == errSecSuccess)
      let made = try #require(publicOptional)

      let keeping: [String: Any] = [
        kSecClass as String: kSecClassKey, kSecAttrLabel as String: "sign.public", kSecValueRef as String: made,
      ]
      var raw: CFTypeRef?
      #expect(SecItemAdd(keeping as CFDictionary, &raw) == errSecSuccess)
      #expect(SecItemAdd(keeping as CFDictionary, &raw) == errSecDuplicateItem)
      #expect(SecItemDelete(keeping as CFDictionary) == errSecSuccess)
      #expect(SecItemAdd(keeping as CFDictionary, &raw) == errSecSuccess)

      func key(_ keyClass: CFString, _ label: String, _ context: LAContext? = nil) throws -> SecKey {
        var query: [String: Any] = [
          kSecClass as String: kSecClassKey, kSecAttrKeyClass as String: keyClass,
          kSecAttrLabel as String: label, kSecReturnRef as String: true,
        ]
        query[kSecUseAuthenticationContext as String] = context
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        guard status == errSecSuccess, let found else {
          throw NSError(domain: NSOSStatusErrorDomain, code: Int(status))
        }
        #expect(CFGetTypeID(found) == SecKeyGetTypeID())
        return found as! SecKey
      }
      let publicKey = try key(kSecAttrKeyClassPublic, "sign.public")
      let privateKey = try key(kSecAttrKeyClassPrivate, "sign.private", LAContext())

      func ask(_ key: SecKey, _ what: CFString) -> AnyObject? {
        var result: AnyObject? = nil
        let query: [String: Any] = [
          kSecClass as String: kSecClassKey, kSecValueRef as String: key, what as String: true,
        ]
        return SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess ? result : nil
      }
      for found in [privateKey, privateOptional!] {
        let attributes = try #require(ask(found, kSecReturnAttributes) as? [String: Any])
        #expect(attributes[kSecAttrLabel as String] as? String == "sign.private")
        #expect(attributes[kSecAttrTokenID as String] as? String == kSecAttrTokenIDSecureEnclave as String)
        #expect(attributes[kSecAttrAccessControl as String] as! SecAccessControl == own["accc"] as! SecAccessControl)
      }
      let bytes = try #require(ask(publicKey, kSecReturnData) as? Data)
      #expect(bytes.first == 4 && bytes.count == 65)
      #expect(ask(made, kSecReturnData) as? Data == bytes, "the key that was made names the item, too")

      var error: Unmanaged<CFError>?
      let signature = try #require(
        SecKeyCreateSignature(privateKey, .ecdsaSignatureMessageX962SHA256, message as CFData, &error) as Data?)
      #expect(
        SecKeyVerifySignature(
          publicKey, .ecdsaSignatureMessageX962SHA256, message as CFData, signature as CFData, &error))
      let algorithm = SecKeyAlgorithm.eciesEncryptionStandardX963SHA256AESGCM
      let sealed = try #require(SecKeyCreateEncryptedData(publicKey, algorithm, message as CFData, &error))
      #expect(SecKeyCreateDecryptedData(privateKey, algorithm, sealed, &error) as Data? == message)
      #expect(SecKeyCopyExternalRepresentation(privateKey, &error) == nil)
      #expect(error?.takeRetainedValue().code == Int(errSecUnimplemented))

      for (keyClass, label) in [(kSecAttrKeyClassPublic, "sign.public"), (kSecAttrKeyClassPrivate, "sign.private")] {
        let query = [kSecClass: kSecClassKey, kSecAttrKeyClass: keyClass, kSecAttrLabel: label] as CFDictionary
        #expect(SecItemDelete(query) == errSecSuccess)
      }
      #expect(throws: NSError.self) { try key(kSecAttrKeyClassPrivate, "sign.private") }
    }

    @Test("a key given as bytes is stored under a label and read back, by queries of type [String: Any]")
    func convertible() async throws {
      let store = try await ClientStore()
      defer { withExtendedLifetime(store) {} }
      let fresh = try #require(SecKeyCreateRandomKey([kSecAttrKeyType: kSecAttrKeyTypeEC] as CFDictionary, nil))
      let bytes = try #require(SecKeyCopyExternalRepresentation(fresh, nil) as Data?)

      let attributes =
        [
          kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
        ] as [String: Any]
      let secKey = try #require(SecKeyCreateWithData(bytes as CFData, attributes as CFDictionary, nil))
      let adding =
        [
          kSecClass: kSecClassKey, kSecAttrApplicationLabel: "label",
          kSecAttrAccessible: kSecAttrAccessibleWhenUnlocked,
          kSecUseDataProtectionKeychain: true, kSecValueRef: secKey,
        ] as [String: Any]
      #expect(SecItemAdd(adding as CFDictionary, nil) == errSecSuccess)
      let reading =
        [
          kSecClass: kSecClassKey, kSecAttrApplicationLabel: "label", kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom,
          kSecUseDataProtectionKeychain: true, kSecReturnRef: true,
        ] as [String: Any]
      var item: CFTypeRef?
      var read: SecKey
      switch SecItemCopyMatching(reading as CFDictionary, &item) {
      case errSecSuccess: read = item as! SecKey
      case let status: throw NSError(domain: NSOSStatusErrorDomain, code: Int(status))
      }
      #expect(read == secKey)
      #expect(SecKeyCopyExternalRepresentation(read, nil) as Data? == bytes)

      let generic =
        [
          kSecClass: kSecClassGenericPassword, kSecAttrAccount: "key", kSecUseDataProtectionKeychain: true,
          kSecValueData: bytes,
        ] as [String: Any]
      #expect(SecItemAdd(generic as CFDictionary, nil) == errSecSuccess)
    }

    @Test("adding a key returns its bytes, unless the key stays in the vault")
    func bytesOfAdded() async throws {
      let store = try await ClientStore()
      defer { withExtendedLifetime(store) {} }
      let privateKey = try #require(SecKeyCreateRandomKey([kSecAttrKeyType: kSecAttrKeyTypeEC] as CFDictionary, nil))
      for key in [privateKey, SecKeyCopyPublicKey(privateKey)!] {
        let adding: [CFString: Any] = [
          kSecClass: kSecClassKey, kSecValueRef: key, kSecReturnData: true, kSecAttrApplicationTag: UUID().uuidString,
        ]
        var data: CFTypeRef?
        #expect(SecItemAdd(adding as CFDictionary, &data) == errSecSuccess)
        #expect(data as? Data == SecKeyCopyExternalRepresentation(key, nil) as Data?)
        #expect((data as? Data)?.isEmpty == false)
      }
      let enclave =
        [kSecAttrTokenID: kSecAttrTokenIDSecureEnclave, kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom]
        as CFDictionary
      let staying: [CFString: Any] = [
        kSecClass: kSecClassKey, kSecValueRef: try #require(SecKeyCreateRandomKey(enclave, nil)), kSecReturnData: true,
      ]
      var data: CFTypeRef?
      #expect(SecItemAdd(staying as CFDictionary, &data) == errSecUnimplemented)
      #expect(data == nil)
    }

    @Test("an RSA key pair is found by its tag, encrypts, decrypts and gives its attributes and bytes")
    func tagged() async throws {
      let store = try await ClientStore()
      defer { withExtendedLifetime(store) {} }
      let tag = "com.example.keys.mykey".data(using: .utf8)!
      let attributes: [String: Any] = [
        kSecAttrKeyType as String: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits as String: 2048,
        kSecPrivateKeyAttrs as String: [kSecAttrIsPermanent as String: true, kSecAttrApplicationTag as String: tag],
      ]
      var error: Unmanaged<CFError>?
      guard let made = SecKeyCreateRandomKey(attributes as CFDictionary, &error) else {
        throw error!.takeRetainedValue() as Error
      }
      let query: [String: Any] = [
        kSecClass as String: kSecClassKey, kSecAttrApplicationTag as String: tag,
        kSecAttrKeyType as String: kSecAttrKeyTypeRSA, kSecReturnRef as String: true,
      ]
      var item: CFTypeRef?
      #expect(SecItemCopyMatching(query as CFDictionary, &item) == errSecSuccess)
      let key = item as! SecKey
      #expect(key == made)
      let publicKey = try #require(SecKeyCopyPublicKey(key))
      let algorithm: SecKeyAlgorithm = .rsaEncryptionOAEPSHA512
      #expect(SecKeyIsAlgorithmSupported(publicKey, .encrypt, algorithm))
      #expect(message.count < SecKeyGetBlockSize(publicKey) - 130)
      let sealed = try #require(SecKeyCreateEncryptedData(publicKey, algorithm, message as CFData, &error) as Data?)
      #expect(sealed.count == SecKeyGetBlockSize(key))
      #expect(SecKeyCreateDecryptedData(key, algorithm, sealed as CFData, &error) as Data? == message)
      let known = try #require(SecKeyCopyAttributes(key) as? [CFString: Any])
      #expect(known[kSecAttrKeySizeInBits] as? Int == 2048)
      #expect((known[kSecAttrKeyType] as! CFString) == kSecAttrKeyTypeRSA)
      #expect(known[kSecAttrApplicationTag] as? Data == tag)
      var data: CFTypeRef?
      var asData = query
      asData[kSecReturnRef as String] = nil
      asData[kSecReturnData as String] = true
      #expect(SecItemCopyMatching(asData as CFDictionary, &data) == errSecSuccess)
      #expect(data as? Data == SecKeyCopyExternalRepresentation(key, nil) as Data?)
      #expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
    }
  }
}
