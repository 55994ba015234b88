import Security
import Testing

extension SharedStore {
  @Suite("Internet passwords")
  struct InternetPasswordTests {
    let keychain: Keychain

    init() async throws { keychain = try await Keychain() }

    private let whole: [CFString: Any] = [
      kSecClass: kSecClassInternetPassword, kSecAttrAccount: "alice", kSecAttrSecurityDomain: "realm",
      kSecAttrServer: "example.org", kSecAttrProtocol: kSecAttrProtocolHTTPS,
      kSecAttrAuthenticationType: kSecAttrAuthenticationTypeHTTPBasic, kSecAttrPort: 443, kSecAttrPath: "/in",
    ]

    private func add(_ query: [CFString: Any]) -> OSStatus {
      SecItemAdd(query.merging([kSecValueData: Data("s".utf8)]) { $1 } as CFDictionary, nil)
    }

    @Test("each primary attribute distinguishes two internet passwords, and no other attribute does")
    func primaryKey() {
      #expect(add(whole) == errSecSuccess)
      #expect(add(whole) == errSecDuplicateItem)
      let others: [CFString: Any] = [
        kSecAttrAccount: "bob", kSecAttrSecurityDomain: "other", kSecAttrServer: "example.com",
        kSecAttrProtocol: kSecAttrProtocolHTTP, kSecAttrAuthenticationType: kSecAttrAuthenticationTypeHTTPDigest,
        kSecAttrPort: 8443, kSecAttrPath: "/out", kSecAttrAccessGroup: "g", kSecAttrSynchronizable: true,
      ]
      for (key, value) in others {
        #expect(add(whole.merging([key: value]) { $1 }) == errSecSuccess, "\(key)")
        #expect(add(whole.merging([key: value]) { $1 }) == errSecDuplicateItem, "\(key)")
      }
      for (key, value) in [kSecAttrLabel: "l", kSecAttrComment: "c", kSecAttrType: 5] as [CFString: Any] {
        #expect(add(whole.merging([key: value]) { $1 }) == errSecDuplicateItem, "\(key)")
      }
    }

    @Test("attributes of an internet password come back with the values they were given")
    func attributes() throws {
      #expect(add(whole) == errSecSuccess)
      let (_, result) = copy(whole.merging([kSecReturnAttributes: true]) { $1 } as CFDictionary)
      let row = try #require(result as? [String: Any])
      for (key, value) in whole {
        #expect((row[key as String] as? NSObject)?.isEqual(value) == true, "\(key): \(row[key as String] ?? "nothing")")
      }
      #expect(row[kSecAttrPort as String] as? Int == 443)
      #expect(row[kSecAttrProtocol as String] as? String == "htps")
    }

    @Test("each attribute of an internet password works as a search condition")
    func conditions() {
      #expect(add(whole) == errSecSuccess)
      for (key, value) in whole where key != kSecClass {
        let found: [CFString: Any] = [kSecClass: kSecClassInternetPassword, key: value]
        #expect(SecItemCopyMatching(found as CFDictionary, nil) == errSecSuccess, "\(key)")
        let other: Any = value is Int ? 1 : "other"
        let missed: [CFString: Any] = [kSecClass: kSecClassInternetPassword, key: other]
        #expect(SecItemCopyMatching(missed as CFDictionary, nil) == errSecItemNotFound, "\(key)")
      }
    }

    @Test("the port of an internet password is a number, whichever type it is given as")
    func ports() {
      #expect(add(whole) == errSecSuccess)
      for port in [443 as Any, "443", NSNumber(value: 443), UInt16(443)] {
        #expect(add(whole.merging([kSecAttrPort: port]) { $1 }) == errSecDuplicateItem, "\(port)")
      }
    }

    @Test("every protocol and every type of authentication of an internet password is kept")
    func names() {
      let protocols = [
        kSecAttrProtocolFTP, kSecAttrProtocolFTPAccount, kSecAttrProtocolHTTP, kSecAttrProtocolIRC,
        kSecAttrProtocolNNTP,
        kSecAttrProtocolPOP3, kSecAttrProtocolSMTP, kSecAttrProtocolSOCKS, kSecAttrProtocolIMAP, kSecAttrProtocolLDAP,
        kSecAttrProtocolAppleTalk, kSecAttrProtocolAFP, kSecAttrProtocolTelnet, kSecAttrProtocolSSH,
        kSecAttrProtocolFTPS, kSecAttrProtocolHTTPS, kSecAttrProtocolHTTPProxy, kSecAttrProtocolHTTPSProxy,
        kSecAttrProtocolFTPProxy, kSecAttrProtocolSMB, kSecAttrProtocolRTSP, kSecAttrProtocolRTSPProxy,
        kSecAttrProtocolDAAP, kSecAttrProtocolEPPC, kSecAttrProtocolIPP, kSecAttrProtocolNNTPS, kSecAttrProtocolLDAPS,
        kSecAttrProtocolTelnetS, kSecAttrProtocolIMAPS, kSecAttrProtocolIRCS, kSecAttrProtocolPOP3S,
      ]
      let types = [
        kSecAttrAuthenticationTypeNTLM, kSecAttrAuthenticationTypeMSN, kSecAttrAuthenticationTypeDPA,
        kSecAttrAuthenticationTypeRPA, kSecAttrAuthenticationTypeHTTPBasic, kSecAttrAuthenticationTypeHTTPDigest,
        kSecAttrAuthenticationTypeHTMLForm, kSecAttrAuthenticationTypeDefault,
      ]
      #expect(Set(protocols.map { $0 as String }).count == 31)
      func kept(_ key: CFString, _ query: [CFString: Any]) -> String? {
        let (_, row) = copy(query.merging([kSecReturnAttributes: true]) { $1 } as CFDictionary)
        return (row as? [String: Any])?[key as String] as? String
      }
      for name in protocols {
        let query = whole.merging([kSecAttrProtocol: name]) { $1 }
        #expect(add(query) == errSecSuccess)
        #expect(kept(kSecAttrProtocol, query) == name as String)
      }
      for name in types {
        let query = whole.merging([kSecAttrAuthenticationType: name, kSecAttrPath: "/types"]) { $1 }
        #expect(add(query) == errSecSuccess)
        #expect(kept(kSecAttrAuthenticationType, query) == name as String)
      }
    }
  }
}
