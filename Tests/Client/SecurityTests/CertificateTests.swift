import Security
import Testing

extension SharedStore {
  @Suite("Certificates")
  struct CertificateTests {
    let keychain: Keychain

    init() async throws { keychain = try await Keychain() }

    private func certificate(_ der: Data = CertificateSamples.alice) throws -> SecCertificate {
      try #require(SecCertificateCreateWithData(nil, der as CFData))
    }

    private func query(_ more: [CFString: Any] = [:]) -> CFDictionary {
      more.merging([kSecClass: kSecClassCertificate]) { $1 } as CFDictionary
    }

    @Test("a certificate gives its data, summary, names, serial number, addresses, dates and key")
    func properties() throws {
      let alice = try certificate()
      #expect(SecCertificateCopyData(alice) as Data == CertificateSamples.alice)
      #expect(SecCertificateCopySubjectSummary(alice) as String? == "Alice Liddell")
      var name: CFString?
      #expect(SecCertificateCopyCommonName(alice, &name) == errSecSuccess)
      #expect(name as String? == "Alice Liddell")
      var addresses: CFArray?
      #expect(SecCertificateCopyEmailAddresses(alice, &addresses) == errSecSuccess)
      #expect(addresses as? [String] == ["alice@example.org", "alice@old.example.org"])
      #expect(SecCertificateCopySerialNumberData(alice, nil) as Data? == Data([0, 0xF1, 0xE2, 0xD3]))
      let authority = try certificate(CertificateSamples.authority)
      let issuer = try #require(SecCertificateCopyNormalizedIssuerSequence(alice) as Data?)
      #expect(issuer == SecCertificateCopyNormalizedSubjectSequence(authority) as Data?)
      #expect(issuer.range(of: Data("EXAMPLE TRUST".utf8)) != nil)
      let start = try #require(SecCertificateCopyNotValidBeforeDate(alice) as Date?)
      let end = try #require(SecCertificateCopyNotValidAfterDate(alice) as Date?)
      #expect(end.timeIntervalSince(start) == 36500 * 86_400)
      let key = try #require(SecCertificateCopyKey(alice))
      #expect(
        SecKeyCopyExternalRepresentation(key, nil) as Data? == CertificateSamples.aliceKey.prefix(65))
      #expect(CFGetTypeID(alice) == SecCertificateGetTypeID())
      #expect(alice == (try certificate()))
      #expect(alice.hash == (try certificate()).hash)
      #expect(alice != authority)
    }

    @Test("bytes that are not a certificate give nil, and cannot be stored")
    func malformed() throws {
      for bytes in [
        Data(), Data("a certificate".utf8), CertificateSamples.alice.dropLast(), CertificateSamples.alice + [0],
        Data(count: 1 << 20), CertificateSamples.aliceKey,
      ] {
        #expect(SecCertificateCreateWithData(nil, bytes as CFData) == nil)
        #expect(SecItemAdd(query([kSecValueData: bytes]), nil) == errSecDecode)
      }
      #expect(SecItemAdd(query(), nil) == errSecParam)
      #expect(copy(query()).0 == errSecItemNotFound)
    }

    @Test("a certificate is stored by its reference or its bytes, and comes back as each")
    func storing() throws {
      for adding in [
        [kSecValueRef: try certificate()], query([kSecValueRef: try certificate()]),
        query([kSecValueData: CertificateSamples.alice]),
      ] as [CFDictionary] {
        #expect(SecItemAdd(adding, nil) == errSecSuccess)
        #expect(SecItemAdd(adding, nil) == errSecDuplicateItem)
        #expect(copy(query([kSecReturnData: true])).1 as? Data == CertificateSamples.alice)
        #expect(copy(query([kSecReturnRef: true])).1 as? SecCertificate == (try certificate()))
        let both = copy(query([kSecReturnRef: true, kSecReturnData: true])).1 as? [CFString: Any]
        #expect(both?[kSecValueRef] as? SecCertificate == (try certificate()))
        #expect(both?[kSecValueData] as? Data == CertificateSamples.alice)
        let reference = try #require(copy(query([kSecReturnPersistentRef: true])).1 as? Data)
        let persistent = [kSecValuePersistentRef: reference, kSecReturnRef: true] as [CFString: Any]
        #expect(copy(persistent as CFDictionary).1 as? SecCertificate == (try certificate()))
        #expect(SecItemDelete(query()) == errSecSuccess)
      }
      for returning in [kSecReturnRef, kSecReturnData] {
        var result: CFTypeRef?
        #expect(SecItemAdd(query([kSecValueRef: try certificate(), returning: true]), &result) == errSecSuccess)
        #expect(
          result as? SecCertificate == (try certificate()) || result as? Data == CertificateSamples.alice,
          "\(returning)")
        #expect(SecItemDelete([kSecValueRef: try certificate()] as CFDictionary) == errSecSuccess)
      }
    }

    @Test("a stored certificate has the attributes that Apple names")
    func attributes() throws {
      #expect(SecItemAdd(query([kSecValueRef: try certificate()]), nil) == errSecSuccess)
      let found = try #require(copy(query([kSecReturnAttributes: true])).1 as? [CFString: Any])
      let issuer = try #require(SecCertificateCopyNormalizedIssuerSequence(certificate()) as Data?)
      let key = try #require(SecCertificateCopyKey(certificate()))
      let label = (SecKeyCopyAttributes(key) as? [CFString: Any])?[kSecAttrApplicationLabel] as? Data
      #expect(found[kSecClass] as? String == kSecClassCertificate as String)
      #expect(found[kSecAttrCertificateType] as? Int == 3)
      #expect(found[kSecAttrCertificateEncoding] as? Int == 3)
      #expect(found[kSecAttrLabel] as? String == "Alice Liddell")
      #expect(found[kSecAttrIssuer] as? Data == issuer.dropFirst(2))
      #expect(found[kSecAttrSerialNumber] as? Data == Data([0, 0xF1, 0xE2, 0xD3]))
      #expect(found[kSecAttrPublicKeyHash] as? Data == label)
      #expect((found[kSecAttrSubjectKeyID] as? Data)?.count == 20)
      #expect(found[kSecAttrSubject] as? Data != nil)
      #expect(found.keys.allSatisfy { !($0 as String).hasPrefix("whorl") })
    }

    @Test("certificates are found by each of their own attributes, and not by another certificate's")
    func conditions() throws {
      for der in [CertificateSamples.alice, CertificateSamples.authority] {
        #expect(SecItemAdd(query([kSecValueData: der]), nil) == errSecSuccess)
      }
      let (alice, authority) = (try certificate(), try certificate(CertificateSamples.authority))
      let names = [kSecAttrSubject, kSecAttrSerialNumber, kSecAttrSubjectKeyID, kSecAttrPublicKeyHash, kSecAttrLabel]
      for (own, other) in [(alice, authority), (authority, alice)] {
        let all = try #require(
          copy(query([kSecValueRef: own, kSecReturnAttributes: true])).1 as? [CFString: Any])
        for name in names {
          let value = try #require(all[name], "\(name)")
          let found = copy(query([name: value, kSecReturnRef: true, kSecMatchLimit: kSecMatchLimitAll])).1
          #expect(found as? [SecCertificate] == [own], "\(name)")
          #expect(SecItemCopyMatching(query([name: value, kSecValueRef: other]), nil) == errSecItemNotFound)
        }
      }
      // Both were signed by the authority. Its name is given in full, or normalized.
      for issuer in [
        try #require(SecCertificateCopyNormalizedIssuerSequence(alice) as Data?),
        try #require(SecCertificateCopyNormalizedIssuerSequence(alice) as Data?).dropFirst(2),
      ] {
        let found = copy(query([kSecAttrIssuer: issuer, kSecReturnRef: true, kSecMatchLimit: kSecMatchLimitAll])).1
        #expect(found as? [SecCertificate] == [alice, authority])
      }
      #expect(SecItemCopyMatching(query([kSecAttrAccount: "alice"]), nil) == errSecNoSuchAttr)
    }

    @Test("an attribute that contradicts the certificate is refused, and the caller's own label is kept")
    func contradictions() throws {
      for (name, value) in [
        kSecAttrSerialNumber: Data([1]), kSecAttrIssuer: Data([1]), kSecAttrSubject: Data([1]),
        kSecAttrPublicKeyHash: Data([1]), kSecAttrSubjectKeyID: Data([1]), kSecAttrCertificateType: 1,
        kSecAttrCertificateEncoding: 1,
      ] as [CFString: Any] {
        #expect(SecItemAdd(query([kSecValueRef: try certificate(), name: value]), nil) == errSecParam, "\(name)")
      }
      #expect(SecItemAdd(query([kSecValueRef: try certificate(), kSecAttrLabel: "mine"]), nil) == errSecSuccess)
      #expect(SecItemCopyMatching(query([kSecAttrLabel: "mine"]), nil) == errSecSuccess)
      // A certificate is identified by its content, not by its label.
      #expect(SecItemAdd(query([kSecValueRef: try certificate()]), nil) == errSecDuplicateItem)
    }

    @Test("an access control that asks for somebody is refused for a certificate")
    func access() throws {
      let control = try #require(
        SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil))
      let guarded = query([kSecValueRef: try certificate(), kSecAttrAccessControl: control])
      #expect(SecItemAdd(guarded, nil) == errSecParam)
      #expect(SecItemAdd(query([kSecValueRef: try certificate()]), nil) == errSecSuccess)
      let change = [kSecAttrAccessControl: control] as CFDictionary
      #expect(SecItemUpdate(query(), change) == errSecParam)
      #expect(copy(query([kSecReturnRef: true])).1 as? SecCertificate == (try certificate()))
    }

    @Test("the label of a stored certificate can be changed, and no attribute that is derived from its bytes")
    func updating() throws {
      #expect(SecItemAdd(query([kSecValueRef: try certificate()]), nil) == errSecSuccess)
      #expect(SecItemUpdate(query(), [kSecAttrLabel: "renamed"] as CFDictionary) == errSecSuccess)
      #expect(SecItemCopyMatching(query([kSecAttrLabel: "renamed"]), nil) == errSecSuccess)
      for change in [
        [kSecValueData: CertificateSamples.authority], [kSecAttrSerialNumber: Data([1])],
        [kSecAttrPublicKeyHash: Data([1])], [kSecAttrCertificateType: 1],
        [kSecValueRef: try certificate(CertificateSamples.authority)],
      ] as [[CFString: Any]] {
        #expect(SecItemUpdate(query(), change as CFDictionary) == errSecParam, "\(change.keys)")
      }
      #expect(copy(query([kSecReturnData: true])).1 as? Data == CertificateSamples.alice)
    }

    @Test("deleting a certificate leaves others with the same issuer and serial number, subject or key")
    func deleting() throws {
      for der in [CertificateSamples.alice, CertificateSamples.aliceRenewed] {
        #expect(SecItemAdd(query([kSecValueData: der]), nil) == errSecSuccess)
      }
      let renewed = try certificate(CertificateSamples.aliceRenewed)
      #expect(SecItemDelete([kSecValueRef: renewed] as CFDictionary) == errSecSuccess)
      #expect(SecItemDelete([kSecValueRef: renewed] as CFDictionary) == errSecItemNotFound)
      // The same certificate with another signature: a forgery with the same issuer and serial number.
      var forged = CertificateSamples.alice
      forged[forged.count - 1] ^= 1
      #expect(SecItemDelete([kSecValueRef: try certificate(forged)] as CFDictionary) == errSecItemNotFound)
      #expect(copy(query([kSecReturnData: true])).1 as? Data == CertificateSamples.alice)
    }

    @Test("a certificate is neither a password nor a key, and kSecMatchItemList takes only one certificate")
    func otherClasses() throws {
      let reference: [CFString: Any] = [kSecValueRef: try certificate()]
      for itemClass in [kSecClassGenericPassword, kSecClassKey] {
        let query = reference.merging([kSecClass: itemClass]) { $1 } as CFDictionary
        #expect(SecItemAdd(query, nil) == errSecParam)
        #expect(SecItemCopyMatching(query, nil) == errSecItemNotFound)
      }
      let two = [try certificate(), try certificate(CertificateSamples.authority)]
      #expect(SecItemCopyMatching(query([kSecMatchItemList: two]), nil) == errSecUnimplemented)
      #expect(SecItemAdd(query([kSecValueRef: two[0]]), nil) == errSecSuccess)
      #expect(SecItemCopyMatching(query([kSecMatchItemList: [two[0]]]), nil) == errSecSuccess)
    }
  }
}
