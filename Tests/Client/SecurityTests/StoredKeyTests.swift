import Presence
import Security
import Synchronization
import Testing
import Vault
import VaultItems
import VaultStore
import Whorl

extension SharedStore {
  @Suite("Keys in the store")
  struct StoredKeyTests {
    let keychain: Keychain
    let message = Data("a message".utf8) as CFData

    init() async throws { keychain = try await Keychain() }

    private func tagged(_ tag: Any = Data("org.example.key".utf8), _ more: [CFString: Any] = [:]) -> CFDictionary {
      more.merging([kSecClass: kSecClassKey, kSecAttrApplicationTag: tag]) { own, _ in own } as CFDictionary
    }

    private func permanent(
      _ type: CFString = kSecAttrKeyTypeECSECPrimeRandom, _ bits: Int = 256,
      _ more: [CFString: Any] = [:]
    ) throws -> SecKey {
      let own: [CFString: Any] = [
        kSecAttrIsPermanent: true, kSecAttrApplicationTag: Data("org.example.key".utf8), kSecAttrLabel: "mine",
      ]
      return try newKey(type, bits, [kSecPrivateKeyAttrs: own.merging(more) { $1 }])
    }

    @Test("a permanent key is found by its tag, and signs in the store")
    func permanentKey() throws {
      let made = try permanent()
      let (status, result) = copy(tagged("org.example.key", [kSecReturnRef: true]))
      #expect(status == errSecSuccess)
      let found = try #require(result as? SecKey)
      #expect(found == made)
      let signature = try #require(SecKeyCreateSignature(found, .ecdsaSignatureMessageX962SHA256, message, nil))
      let publicKey = try #require(SecKeyCopyPublicKey(made))
      #expect(SecKeyVerifySignature(publicKey, .ecdsaSignatureMessageX962SHA256, message, signature, nil))
      let sealed = try #require(
        SecKeyCreateEncryptedData(publicKey, .eciesEncryptionStandardX963SHA256AESGCM, message, nil))
      #expect(
        SecKeyCreateDecryptedData(found, .eciesEncryptionStandardX963SHA256AESGCM, sealed, nil) as Data?
          == message as Data)
      let other = try newKey()
      #expect(
        SecKeyCopyKeyExchangeResult(
          found, .ecdhKeyExchangeStandard, try #require(SecKeyCopyPublicKey(other)), [:] as CFDictionary, nil) as Data?
          == SecKeyCopyKeyExchangeResult(other, .ecdhKeyExchangeStandard, publicKey, [:] as CFDictionary, nil) as Data?)
      let attributes = SecKeyCopyAttributes(found) as? [String: Any]
      #expect(attributes?[kSecAttrApplicationTag as String] as? Data == Data("org.example.key".utf8))
      #expect(attributes?[kSecAttrIsPermanent as String] as? Bool == true)
      #expect(attributes?[kSecAttrLabel as String] as? String == "mine")
      #expect(SecItemDelete(tagged()) == errSecSuccess)
      var error: Unmanaged<CFError>?
      #expect(SecKeyCreateSignature(found, .ecdsaSignatureMessageX962SHA256, message, &error) == nil)
      #expect(code(error) == Int(errSecItemNotFound))
    }

    @Test("a key reference narrows a search: with another key's label or half, nothing is found")
    func contradictedReference() throws {
      let stored = try permanent()
      let other = try permanent(kSecAttrKeyTypeECSECPrimeRandom, 256, [kSecAttrApplicationTag: Data("other".utf8)])
      func label(_ key: SecKey) throws -> Any {
        try #require((SecKeyCopyAttributes(key) as? [String: Any])?[kSecAttrApplicationLabel as String])
      }
      let publicKey = try #require(SecKeyCopyPublicKey(stored))
      #expect(SecItemAdd([kSecClass: kSecClassKey, kSecValueRef: publicKey] as CFDictionary, nil) == errSecSuccess)
      func search(_ more: [CFString: Any]) -> OSStatus {
        SecItemCopyMatching(
          more.merging([kSecClass: kSecClassKey, kSecValueRef: publicKey]) { $1 } as CFDictionary, nil)
      }
      #expect(search([:]) == errSecSuccess)
      #expect(search([kSecAttrApplicationLabel: try label(stored)]) == errSecSuccess)
      #expect(search([kSecAttrKeyClass: kSecAttrKeyClassPublic]) == errSecSuccess)
      #expect(search([kSecAttrApplicationLabel: try label(other)]) == errSecItemNotFound)
      #expect(search([kSecAttrKeyClass: kSecAttrKeyClassPrivate]) == errSecItemNotFound)
    }

    @Test("an RSA key signs and decrypts in the store")
    func rsa() throws {
      let key = try permanent(kSecAttrKeyTypeRSA, 2048)
      let publicKey = try #require(SecKeyCopyPublicKey(key))
      let signature = try #require(SecKeyCreateSignature(key, .rsaSignatureMessagePKCS1v15SHA256, message, nil))
      #expect(SecKeyVerifySignature(publicKey, .rsaSignatureMessagePKCS1v15SHA256, message, signature, nil))
      let sealed = try #require(SecKeyCreateEncryptedData(publicKey, .rsaEncryptionOAEPSHA256, message, nil))
      #expect(SecKeyCreateDecryptedData(key, .rsaEncryptionOAEPSHA256, sealed, nil) as Data? == message as Data)
    }

    @Test("a key that may leave the vault can be exported; one of the secure enclave cannot")
    func exporting() throws {
      let open = try permanent()
      #expect(SecKeyCopyExternalRepresentation(open, nil)?.length == 97)
      #expect(copy(tagged("org.example.key", [kSecReturnData: true])).1 as? Data != nil)
      #expect(SecItemDelete(tagged()) == errSecSuccess)
      let closed = try permanent(
        kSecAttrKeyTypeEC, 256, [kSecAttrTokenID: kSecAttrTokenIDSecureEnclave])
      var error: Unmanaged<CFError>?
      #expect(SecKeyCopyExternalRepresentation(closed, &error) == nil)
      #expect(code(error) == -4)
      #expect(copy(tagged("org.example.key", [kSecReturnData: true])).0 == errSecUnimplemented)
      #expect(SecKeyCreateSignature(closed, .ecdsaSignatureMessageX962SHA256, message, nil) != nil)
      let (_, row) = copy(tagged("org.example.key", [kSecReturnAttributes: true]))
      #expect(
        (row as? [String: Any])?[kSecAttrTokenID as String] as? String == kSecAttrTokenIDSecureEnclave as String)
    }

    @Test("a stored key whose access control says privateKeyUsage cannot be exported, even without a token")
    func privateKeyUsage() throws {
      let control = try #require(SecAccessControlCreateWithFlags(nil, "ak", .privateKeyUsage, nil))
      let own: [CFString: Any] = [kSecAttrAccessControl: control]
      for (type, bits) in [(kSecAttrKeyTypeEC, 384), (kSecAttrKeyTypeRSA, 2048)] {
        let made = try permanent(type, bits, own)
        let found = try #require(copy(tagged("org.example.key", [kSecReturnRef: true])).1 as? SecKey)
        for key in [made, found] {
          var error: Unmanaged<CFError>?
          #expect(SecKeyCopyExternalRepresentation(key, &error) == nil, "\(type) \(bits)")
          #expect(code(error) == Int(errSecUnimplemented))
        }
        #expect(copy(tagged("org.example.key", [kSecReturnData: true])).0 == errSecUnimplemented)
        #expect(SecItemDelete(tagged()) == errSecSuccess)
      }
      // A reference keeps the rule of its key, even if the new item names none.
      let outside = try newKey(kSecAttrKeyTypeEC, 256, [kSecPrivateKeyAttrs: own])
      #expect(SecItemAdd(tagged("outside", [kSecValueRef: outside]), nil) == errSecSuccess)
      #expect(copy(tagged("outside", [kSecReturnData: true])).0 == errSecUnimplemented)
    }

    @Test("a key that was made outside the store is stored by reference or bytes, and is the same key")
    func adding() throws {
      let key = try newKey()
      let byReference: [CFString: Any] = [kSecValueRef: key, kSecAttrApplicationTag: "by reference"]
      #expect(SecItemAdd(byReference as CFDictionary, nil) == errSecSuccess)
      let bytes = try #require(SecKeyCopyExternalRepresentation(key, nil))
      let byBytes: [CFString: Any] = [
        kSecValueData: bytes, kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
      ]
      #expect(SecItemAdd(tagged("by bytes", byBytes), nil) == errSecSuccess)
      for tag in ["by reference", "by bytes"] {
        let found = try #require(copy(tagged(tag, [kSecReturnRef: true])).1 as? SecKey)
        #expect(found == key)
        #expect(SecKeyCreateSignature(found, .ecdsaSignatureMessageX962SHA256, message, nil) != nil)
      }
      let publicKey = try #require(SecKeyCopyPublicKey(key))
      #expect(SecItemAdd(tagged("public", [kSecValueRef: publicKey]), nil) == errSecSuccess)
      #expect(copy(tagged("public", [kSecReturnRef: true])).1 as? SecKey == publicKey)
      #expect(copy(tagged("public", [kSecAttrKeyClass: kSecAttrKeyClassPrivate])).0 == errSecItemNotFound)
      #expect(copy([kSecValueRef: publicKey, kSecReturnAttributes: true] as CFDictionary).0 == errSecSuccess)
    }

    @Test("both halves of a key pair are stored if both are permanent")
    func bothHalves() throws {
      let parameters: [CFString: Any] = [
        kSecPrivateKeyAttrs: [kSecAttrIsPermanent: true, kSecAttrApplicationTag: "pair"] as [CFString: Any],
        kSecPublicKeyAttrs: [kSecAttrIsPermanent: true, kSecAttrApplicationTag: "pair"] as [CFString: Any],
      ]
      _ = try newKey(kSecAttrKeyTypeEC, 256, parameters)
      for keyClass in [kSecAttrKeyClassPrivate, kSecAttrKeyClassPublic] {
        #expect(SecItemCopyMatching(tagged("pair", [kSecAttrKeyClass: keyClass]), nil) == errSecSuccess)
      }
      let all = copy(tagged("pair", [kSecReturnRef: true, kSecMatchLimit: kSecMatchLimitAll])).1 as? [SecKey]
      #expect(all?.count == 2)
    }

    @Test("a search for keys compares their type, in whichever form it is given, their size, label and use")
    func conditions() throws {
      let key = try permanent()
      let label = try #require((SecKeyCopyAttributes(key) as? [String: Any])?[kSecAttrApplicationLabel as String])
      for more in [
        [kSecAttrKeyType: kSecAttrKeyTypeEC], [kSecAttrKeyType: 73], [kSecAttrKeySizeInBits: 256],
        [kSecAttrApplicationLabel: label], [kSecAttrCanSign: true],
      ] as [[CFString: Any]] {
        #expect(SecItemCopyMatching(tagged("org.example.key", more), nil) == errSecSuccess, "\(more)")
      }
      for more in [
        [kSecAttrKeyType: kSecAttrKeyTypeRSA], [kSecAttrKeySizeInBits: 384], [kSecAttrApplicationLabel: Data([1])],
        [kSecAttrCanSign: false],
      ] as [[CFString: Any]] {
        #expect(SecItemCopyMatching(tagged("org.example.key", more), nil) == errSecItemNotFound, "\(more)")
      }
    }

    @Test("each primary attribute distinguishes two keys, and no other attribute does")
    func primaryKey() {
      let day = Date(timeIntervalSinceReferenceDate: 0)
      let key: [CFString: Any] = [
        kSecAttrKeyClass: kSecAttrKeyClassSymmetric, kSecAttrKeyType: kSecAttrKeyTypeAES,
        kSecAttrApplicationLabel: Data([1]), kSecAttrKeySizeInBits: 128, kSecAttrEffectiveKeySize: 128,
        kSecAttrKeyCreator: 1, kSecAttrStartDate: day, kSecAttrEndDate: day, kSecValueData: Data([1, 2]),
      ]
      #expect(SecItemAdd(tagged("primary", key), nil) == errSecSuccess)
      #expect(SecItemAdd(tagged("primary", key), nil) == errSecDuplicateItem)
      let others: [CFString: Any] = [
        kSecAttrKeyClass: kSecAttrKeyClassPublic, kSecAttrKeyType: kSecAttrKeyTypeDES,
        kSecAttrApplicationLabel: Data([2]), kSecAttrApplicationTag: "other", kSecAttrKeySizeInBits: 256,
        kSecAttrEffectiveKeySize: 112, kSecAttrKeyCreator: 2, kSecAttrStartDate: day.addingTimeInterval(1),
        kSecAttrEndDate: day.addingTimeInterval(1), kSecAttrAccessGroup: "g", kSecAttrSynchronizable: true,
      ]
      for (name, value) in others {
        let other = tagged("primary", key.merging([name: value]) { $1 })
        #expect(SecItemAdd(other, nil) == errSecSuccess, "\(name)")
        #expect(SecItemAdd(other, nil) == errSecDuplicateItem, "\(name)")
      }
      for (name, value) in [kSecAttrLabel: "l", kSecAttrCanSign: true] as [CFString: Any] {
        #expect(SecItemAdd(tagged("primary", key.merging([name: value]) { $1 }), nil) == errSecDuplicateItem)
      }
    }

    @Test("a key in the store that is added once more is a duplicate")
    func addedAgain() throws {
      let key = try permanent()
      #expect(SecItemAdd([kSecValueRef: key] as CFDictionary, nil) == errSecDuplicateItem)
      #expect(SecItemAdd(tagged("org.example.key", [kSecValueRef: key]), nil) == errSecDuplicateItem)
      let found = try #require(copy(tagged("org.example.key", [kSecReturnRef: true])).1 as? SecKey)
      #expect(SecItemAdd(tagged("org.example.key", [kSecValueRef: found]), nil) == errSecDuplicateItem)
    }

    @Test("a key made in the program's own process also identifies its stored copy in updates and deletes")
    func changedByReference() throws {
      let key = try newKey()
      #expect(SecItemAdd(tagged("a tag", [kSecValueRef: key]), nil) == errSecSuccess)
      #expect(SecItemAdd(tagged("another", [kSecValueRef: try newKey()]), nil) == errSecSuccess)
      let reference = [kSecValueRef: key] as CFDictionary
      #expect(SecItemUpdate(reference, [kSecAttrLabel: "new"] as CFDictionary) == errSecSuccess)
      let all: [CFString: Any] = [
        kSecClass: kSecClassKey, kSecAttrLabel: "new", kSecReturnRef: true, kSecMatchLimit: kSecMatchLimitAll,
      ]
      #expect(copy(all as CFDictionary).1 as? [SecKey] == [key])
      #expect(SecItemDelete(reference) == errSecSuccess)
      #expect(SecItemDelete(reference) == errSecItemNotFound)
      #expect(SecItemCopyMatching(tagged("another"), nil) == errSecSuccess)
    }

    @Test("a stored key whose bytes are replaced becomes the other key")
    func replaced() throws {
      for isPrivate in [false, true] {
        let keys = [try newKey(), try newKey(kSecAttrKeyTypeECSECPrimeRandom, 384)]
        let halves = try keys.map { isPrivate ? $0 : try #require(SecKeyCopyPublicKey($0)) }
        let bytes = try halves.map { try #require(SecKeyCopyExternalRepresentation($0, nil)) }
        let keyClass = isPrivate ? kSecAttrKeyClassPrivate : kSecAttrKeyClassPublic
        let query = tagged("replaced", [kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeyClass: keyClass])
        let adding: [CFString: Any] = [
          kSecValueData: bytes[0], kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeyClass: keyClass,
        ]
        #expect(SecItemAdd(tagged("replaced", adding), nil) == errSecSuccess)
        #expect(SecItemUpdate(query, [kSecValueData: bytes[1]] as CFDictionary) == errSecSuccess)
        let found = try #require(copy(tagged("replaced", [kSecReturnRef: true])).1 as? SecKey)
        #expect(found == halves[1])
        #expect(copy(tagged("replaced", [kSecReturnData: true])).1 as? Data == bytes[1] as Data)
        #expect(copy(tagged("replaced", [kSecAttrKeySizeInBits: 384])).0 == errSecSuccess)
        if isPrivate {
          let signature = try #require(SecKeyCreateSignature(found, .ecdsaSignatureMessageX962SHA256, message, nil))
          let publicKey = try #require(SecKeyCopyPublicKey(keys[1]))
          #expect(SecKeyVerifySignature(publicKey, .ecdsaSignatureMessageX962SHA256, message, signature, nil))
        }
        // Invalid key bytes are only data.
        #expect(SecItemUpdate(query, [kSecValueData: Data([1])] as CFDictionary) == errSecSuccess)
        let broken = try #require(copy(tagged("replaced", [kSecReturnRef: true])).1 as? SecKey)
        #expect(SecKeyCreateSignature(broken, .ecdsaSignatureMessageX962SHA256, message, nil) == nil)
        #expect(SecItemDelete(query) == errSecSuccess)
      }
    }

    @Test("a key keeps the label that its program gave it when its bytes are replaced")
    func replacedUnderLabel() throws {
      let bytes = try [newKey(), newKey()].map { try #require(SecKeyCopyExternalRepresentation($0, nil)) }
      let key: [CFString: Any] = [
        kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
        kSecAttrApplicationLabel: "own label",
      ]
      #expect(SecItemAdd(tagged("own", key.merging([kSecValueData: bytes[0]]) { $1 }), nil) == errSecSuccess)
      #expect(SecItemUpdate(tagged("own", key), [kSecValueData: bytes[1]] as CFDictionary) == errSecSuccess)
      #expect(
        copy(tagged("own", [kSecAttrApplicationLabel: "own label", kSecReturnData: true])).1 as? Data == bytes[1]
          as Data)
    }

    @Test("a symmetric key is stored as data under a tag")
    func symmetric() {
      let key: [CFString: Any] = [
        kSecAttrKeyClass: kSecAttrKeyClassSymmetric, kSecAttrKeyType: kSecAttrKeyTypeAES, kSecValueData: Data([1, 2]),
      ]
      #expect(SecItemAdd(tagged("aes", key), nil) == errSecSuccess)
      #expect(SecItemAdd(tagged("aes", key), nil) == errSecDuplicateItem)
      #expect(copy(tagged("aes", [kSecReturnData: true])).1 as? Data == Data([1, 2]))
    }
  }

  @Suite("Protected keys")
  struct ProtectedKeyTests {
    let message = Data("a message".utf8) as CFData

    @Test("a protected key in the vault needs a touch for each use, or none in a satisfied context")
    func touches() async throws {
      let keychain = try await GuardedKeychain()
      let control = try #require(
        SecAccessControlCreateWithFlags(
          nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, [.privateKeyUsage, .biometryCurrentSet], nil))
      let own: [CFString: Any] = [
        kSecAttrIsPermanent: true, kSecAttrApplicationTag: "guarded", kSecAttrAccessControl: control,
      ]
      let key = try newKey(
        kSecAttrKeyTypeEC, 256, [kSecAttrTokenID: kSecAttrTokenIDSecureEnclave, kSecPrivateKeyAttrs: own])
      #expect(keychain.person.touches == 0)
      let signature = try #require(SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message, nil))
      #expect(keychain.person.touches == 1)
      let publicKey = try #require(SecKeyCopyPublicKey(key))
      #expect(SecKeyVerifySignature(publicKey, .ecdsaSignatureMessageX962SHA256, message, signature, nil))

      let context = keychain.store.makeContext()
      let query: [CFString: Any] = [
        kSecClass: kSecClassKey, kSecAttrApplicationTag: "guarded", kSecReturnRef: true,
        kSecUseAuthenticationContext: GivenContext(context), kSecUseOperationPrompt: "sign it",
      ]
      let found = try #require(copy(query as CFDictionary).1 as? SecKey)
      for _ in 1...2 {
        #expect(SecKeyCreateSignature(found, .ecdsaSignatureMessageX962SHA256, message, nil) != nil)
      }
      #expect(keychain.person.touches == 2)
      #expect(keychain.person.memory.withLock { $0.reasons.last } == "sign it")
      var error: Unmanaged<CFError>?
      #expect(SecKeyCopyExternalRepresentation(found, &error) == nil)
      #expect(code(error) == -4)
      keychain.person.memory.withLock { $0.cancels = true }
      #expect(SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message, &error) == nil)
      let cancelled = try #require(error).takeRetainedValue()
      #expect(cancelled.domain == "com.apple.LocalAuthentication", "as LAError has it")
      #expect(cancelled.code == -2)
    }
  }
}
