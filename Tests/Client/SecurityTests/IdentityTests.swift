import Security
import Testing

extension SharedStore {
  @Suite("Identities")
  struct IdentityTests {
    let keychain: Keychain

    init() async throws { keychain = try await Keychain() }

    private func certificate(_ der: Data = CertificateSamples.alice) throws -> SecCertificate {
      try #require(SecCertificateCreateWithData(nil, der as CFData))
    }

    private func aliceKey() throws -> SecKey {
      let attributes: [CFString: Any] = [
        kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
      ]
      return try #require(
        SecKeyCreateWithData(CertificateSamples.aliceKey as CFData, attributes as CFDictionary, nil))
    }

    private func query(_ more: [CFString: Any] = [:]) -> CFDictionary {
      more.merging([kSecClass: kSecClassIdentity]) { $1 } as CFDictionary
    }

    private func of(_ itemClass: CFString, _ more: [CFString: Any] = [:]) -> CFDictionary {
      more.merging([kSecClass: itemClass]) { $1 } as CFDictionary
    }

    /// Stores Alice's certificate and her key, as two items.
    private func store(_ keyAttributes: [CFString: Any] = [:]) throws {
      #expect(SecItemAdd([kSecValueRef: try certificate()] as CFDictionary, nil) == errSecSuccess)
      #expect(SecItemAdd(of(kSecClassKey, keyAttributes.merging([kSecValueRef: try aliceKey()]) { $1 }), nil) == 0)
    }

    private func identity(_ more: [CFString: Any] = [:]) throws -> SecIdentity {
      try #require(copy(query(more.merging([kSecReturnRef: true]) { $1 })).1 as? SecIdentity)
    }

    private func count(_ itemClass: CFString) -> Int {
      let all = copy(of(itemClass, [kSecMatchLimit: kSecMatchLimitAll, kSecReturnPersistentRef: true])).1
      return (all as? [Data])?.count ?? 0
    }

    @Test("a certificate and its private key form an identity, and neither does alone")
    func pair() throws {
      #expect(SecItemAdd([kSecValueRef: try certificate()] as CFDictionary, nil) == errSecSuccess)
      #expect(SecItemCopyMatching(query(), nil) == errSecItemNotFound)
      let publicKey = try #require(SecKeyCopyPublicKey(aliceKey()))
      #expect(SecItemAdd([kSecValueRef: publicKey] as CFDictionary, nil) == errSecSuccess)
      #expect(SecItemAdd([kSecValueRef: try newKey()] as CFDictionary, nil) == errSecSuccess)
      #expect(SecItemCopyMatching(query(), nil) == errSecItemNotFound)
      #expect(SecItemCopyMatching(query([kSecAttrKeyClass: kSecAttrKeyClassPublic]), nil) == errSecItemNotFound)
      #expect(SecItemAdd([kSecValueRef: try aliceKey()] as CFDictionary, nil) == errSecSuccess)
      let identity = try identity()
      var found: SecCertificate?
      #expect(SecIdentityCopyCertificate(identity, &found) == errSecSuccess)
      #expect(found == (try certificate()))
      var key: SecKey?
      #expect(SecIdentityCopyPrivateKey(identity, &key) == errSecSuccess)
      #expect(key == (try aliceKey()))
      let message = Data("signed as Alice".utf8) as CFData
      let privateKey = try #require(key)
      let signature = try #require(
        SecKeyCreateSignature(privateKey, .ecdsaSignatureMessageX962SHA256, message, nil))
      let publicOfCertificate = try #require(SecCertificateCopyKey(certificate()))
      #expect(
        SecKeyVerifySignature(publicOfCertificate, .ecdsaSignatureMessageX962SHA256, message, signature, nil))
      #expect(CFGetTypeID(identity) == SecIdentityGetTypeID())
      #expect(SecItemCopyMatching(query([kSecAttrKeyClass: kSecAttrKeyClassPublic]), nil) == errSecItemNotFound)
    }

    @Test("an identity comes back as reference, certificate data, persistent reference and attributes of both")
    func returning() throws {
      try store([kSecAttrApplicationTag: "org.example.alice", kSecAttrLabel: "the key's label"])
      let row = try #require(
        copy(
          query([
            kSecReturnRef: true, kSecReturnData: true, kSecReturnPersistentRef: true, kSecReturnAttributes: true,
          ])
        ).1 as? [CFString: Any])
      #expect(row[kSecClass] as? String == kSecClassIdentity as String)
      #expect(row[kSecValueData] as? Data == CertificateSamples.alice)
      #expect(row[kSecAttrLabel] as? String == "Alice Liddell")
      #expect(row[kSecAttrSerialNumber] as? Data == Data([0, 0xF1, 0xE2, 0xD3]))
      // The tag was given as text, so it is returned as text.
      #expect(row[kSecAttrApplicationTag] as? String == "org.example.alice")
      #expect(row[kSecAttrApplicationLabel] as? Data == row[kSecAttrPublicKeyHash] as? Data)
      let identity = try #require(row[kSecValueRef] as? SecIdentity)
      let reference = try #require(row[kSecValuePersistentRef] as? Data)
      for key in [kSecValuePersistentRef: reference, kSecValueRef: identity] as [CFString: Any] {
        for base in [[:], [kSecClass: kSecClassIdentity]] as [[CFString: Any]] {
          let query = base.merging([key.key: key.value, kSecReturnRef: true]) { $1 }
          #expect(copy(query as CFDictionary).1 as? SecIdentity == identity, "\(key.key)")
        }
      }
      #expect(copy(query([kSecMatchItemList: [identity], kSecReturnRef: true])).1 as? SecIdentity == identity)
      #expect(copy(query([kSecReturnData: true])).1 as? Data == CertificateSamples.alice)
      #expect(copy(query([kSecReturnPersistentRef: true])).1 as? Data == reference)
      let all = copy(query([kSecReturnRef: true, kSecMatchLimit: kSecMatchLimitAll])).1 as? [SecIdentity]
      #expect(all == [identity])
      // The certificate's own reference is not the identity's.
      let own = try #require(copy(of(kSecClassCertificate, [kSecReturnPersistentRef: true])).1 as? Data)
      #expect(SecItemCopyMatching(query([kSecValuePersistentRef: own]), nil) == errSecParam)
    }

    @Test("a search for identities compares label and serial number with the certificate, the rest with the key")
    func conditions() throws {
      try store([kSecAttrApplicationTag: "org.example.alice", kSecAttrLabel: "the key's label"])
      for condition in [
        [kSecAttrLabel: "Alice Liddell"], [kSecAttrSerialNumber: Data([0, 0xF1, 0xE2, 0xD3])],
        [kSecAttrApplicationTag: "org.example.alice"], [kSecAttrKeyType: kSecAttrKeyTypeEC],
        [kSecAttrKeySizeInBits: 256], [kSecAttrCanSign: true],
        [kSecAttrLabel: "ALICE LIDDELL", kSecMatchCaseInsensitive: true],
      ] as [[CFString: Any]] {
        #expect(SecItemCopyMatching(query(condition), nil) == errSecSuccess, "\(condition)")
      }
      for condition in [
        [kSecAttrLabel: "the key's label"], [kSecAttrSerialNumber: Data([2])], [kSecAttrApplicationTag: "other"],
        [kSecAttrKeyType: kSecAttrKeyTypeRSA], [kSecAttrAccessGroup: "other"], [kSecAttrSynchronizable: true],
        [kSecMatchItemList: [Any]()],
      ] as [[CFString: Any]] {
        #expect(SecItemCopyMatching(query(condition), nil) == errSecItemNotFound, "\(condition)")
        #expect(SecItemDelete(query(condition)) == errSecItemNotFound, "\(condition)")
      }
      #expect(SecItemCopyMatching(query([kSecAttrAccount: "alice"]), nil) == errSecNoSuchAttr)
      #expect(SecItemCopyMatching(query([kSecValueRef: "text"]), nil) == errSecParam)
      #expect(SecItemCopyMatching(query([kSecMatchTrustedOnly: true]), nil) == errSecUnimplemented)
      #expect(SecItemCopyMatching(query([kSecReturnRef: true]), nil) == errSecParam)
    }

    @Test("deleting an identity deletes certificate and key, except a key that another certificate uses")
    func deleting() throws {
      try store()
      #expect(SecItemAdd([kSecValueRef: try newKey()] as CFDictionary, nil) == errSecSuccess)
      #expect(SecItemAdd([kSecValueRef: try certificate(CertificateSamples.authority)] as CFDictionary, nil) == 0)
      #expect(SecItemAdd([kSecValueRef: try certificate(CertificateSamples.aliceRenewed)] as CFDictionary, nil) == 0)
      let first = try identity([kSecAttrSerialNumber: Data([0, 0xF1, 0xE2, 0xD3])])
      #expect(SecItemDelete([kSecValueRef: first] as CFDictionary) == errSecSuccess)
      #expect(SecItemDelete([kSecValueRef: first] as CFDictionary) == errSecItemNotFound)
      #expect((count(kSecClassCertificate), count(kSecClassKey)) == (2, 2))
      #expect(SecItemDelete(query([kSecMatchLimit: kSecMatchLimitOne])) == errSecParam)
      #expect(SecItemDelete(query([kSecUseAuthenticationUI: kSecUseAuthenticationUISkip])) == errSecParam)
      // Deletes every identity, but neither the certificate without a key nor the key without a certificate.
      #expect(SecItemDelete(query()) == errSecSuccess)
      #expect(SecItemDelete(query()) == errSecItemNotFound)
      #expect((count(kSecClassCertificate), count(kSecClassKey)) == (1, 1))
    }

    @Test("deleting an identity keeps a key that a certificate of another access group uses")
    func deletingBesideAnotherGroup() throws {
      try store()
      let renewed: [CFString: Any] = [
        kSecValueRef: try certificate(CertificateSamples.aliceRenewed), kSecAttrAccessGroup: "org.example.other",
      ]
      #expect(SecItemAdd(renewed as CFDictionary, nil) == errSecSuccess)
      #expect(SecItemDelete([kSecValueRef: try identity()] as CFDictionary) == errSecSuccess)
      #expect(count(kSecClassKey) == 1)
    }

    @Test("two certificates with one key are two identities, which are deleted together with the key")
    func deletingBoth() throws {
      try store()
      #expect(SecItemAdd([kSecValueRef: try certificate(CertificateSamples.aliceRenewed)] as CFDictionary, nil) == 0)
      #expect(count(kSecClassIdentity) == 2)
      #expect(SecItemDelete(query()) == errSecSuccess)
      #expect((count(kSecClassCertificate), count(kSecClassKey)) == (0, 0))
    }

    @Test("an identity is added by adding its certificate while its private key is in the store")
    func adding() throws {
      try store([kSecAttrApplicationTag: "org.example.alice"])
      let identity = try identity()
      #expect(SecItemAdd([kSecValueRef: identity] as CFDictionary, nil) == errSecDuplicateItem)
      #expect(SecItemDelete(of(kSecClassCertificate)) == errSecSuccess)
      var result: CFTypeRef?
      let adding = query([kSecValueRef: identity, kSecAttrLabel: "again", kSecReturnRef: true])
      #expect(SecItemAdd(adding, &result) == errSecSuccess)
      #expect(result as? SecIdentity == identity)
      #expect(SecItemCopyMatching(query([kSecAttrLabel: "again"]), nil) == errSecSuccess)
      // The key belongs to the store. After its deletion the identity cannot be added.
      #expect(SecItemDelete(query()) == errSecSuccess)
      #expect(SecItemAdd([kSecValueRef: identity] as CFDictionary, nil) == errSecItemNotFound)
      #expect((count(kSecClassCertificate), count(kSecClassKey)) == (0, 0))
      for (key, value) in [kSecValueData: CertificateSamples.alice, kSecAttrLabel: "x"] as [CFString: Any] {
        #expect(SecItemAdd(query([key: value]), nil) == errSecParam)
      }
    }

    @Test("the identity of a certificate is found by its key, and does not exist without it")
    func ofCertificate() throws {
      var identity: SecIdentity?
      #expect(SecIdentityCreateWithCertificate(nil, try certificate(), &identity) == errSecItemNotFound)
      #expect(SecItemAdd([kSecValueRef: try aliceKey()] as CFDictionary, nil) == errSecSuccess)
      #expect(SecIdentityCreateWithCertificate(nil, try certificate(), &identity) == errSecSuccess)
      let made = try #require(identity)
      #expect(SecItemAdd([kSecValueRef: made] as CFDictionary, nil) == errSecSuccess)
      #expect(try self.identity() == made)
    }

    @Test("a key with a copied label forms no identity with the other key's certificate")
    func forgedLabel() throws {
      let label = (SecKeyCopyAttributes(try aliceKey()) as? [CFString: Any])?[kSecAttrApplicationLabel] as? Data
      let forged: [CFString: Any] = [kSecValueRef: try newKey(), kSecAttrApplicationLabel: try #require(label)]
      #expect(SecItemAdd(of(kSecClassKey, forged), nil) == errSecSuccess)
      var identity: SecIdentity?
      #expect(SecIdentityCreateWithCertificate(nil, try certificate(), &identity) == errSecItemNotFound)
      #expect(identity == nil)
    }

    @Test("a protected key asks when it is used, not when its identity is found")
    func protected() throws {
      let control = try #require(
        SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .devicePasscode, nil))
      try store([kSecAttrAccessControl: control])
      let identity = try identity()
      var key: SecKey?
      #expect(SecIdentityCopyPrivateKey(identity, &key) == errSecSuccess)
      var error: Unmanaged<CFError>?
      let message = Data("a message".utf8) as CFData
      // Nobody is at the prompt of this store.
      let privateKey = try #require(key)
      #expect(SecKeyCreateSignature(privateKey, .ecdsaSignatureMessageX962SHA256, message, &error) == nil)
      #expect(error != nil)
      error?.release()
      let fails = query([kSecUseAuthenticationUI: kSecUseAuthenticationUIFail])
      #expect(SecItemCopyMatching(fails, nil) == errSecInteractionNotAllowed)
      let skips = query([kSecUseAuthenticationUI: kSecUseAuthenticationUISkip])
      #expect(SecItemCopyMatching(skips, nil) == errSecItemNotFound)
      #expect(SecItemDelete(fails) == errSecSuccess)
    }

    @Test("an identity cannot be updated as a whole")
    func updating() throws {
      try store()
      #expect(SecItemUpdate(query(), [kSecAttrLabel: "x"] as CFDictionary) == errSecUnimplemented)
    }
  }
}
