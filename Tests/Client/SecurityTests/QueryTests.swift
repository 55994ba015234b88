import Security
import Testing

extension SharedStore {
  @Suite("Queries that make no sense")
  struct QueryTests {
    let keychain: Keychain

    init() async throws { keychain = try await Keychain() }

    private func statuses(_ query: [CFString: Any]) -> [OSStatus] {
      let dictionary = query as CFDictionary
      return [
        SecItemAdd(dictionary, nil), SecItemCopyMatching(dictionary, nil),
        SecItemUpdate(dictionary, [kSecAttrLabel: "x"] as CFDictionary), SecItemDelete(dictionary),
      ]
    }

    @Test("a query for Apple's file server class gives errSecUnimplemented, and for unknown classes an error")
    func classes() {
      #expect(statuses([kSecClass: "apls"]) == Array(repeating: errSecUnimplemented, count: 4))
      #expect(statuses([kSecClass: "what"]) == Array(repeating: errSecNoSuchClass, count: 4))
      #expect(statuses([kSecClass: 5]) == Array(repeating: errSecParam, count: 4))
      #expect(SecItemAdd([kSecValueData: Data()] as CFDictionary, nil) == errSecParam)
    }

    @Test("all four SecItem calls return errSecParam for a query without a class or reference")
    func classless() throws {
      #expect(add("alice") == errSecSuccess)
      #expect(add("alice", "other", [kSecAttrAccessGroup: "other"]) == errSecSuccess)
      let queries: [[CFString: Any]] = [
        [:], [kSecAttrAccount: "alice"], [kSecAttrAccessGroup: "other"], [kSecAttrLabel: ""],
        [kSecMatchLimit: kSecMatchLimitAll], [kSecMatchItemList: []],
        [kSecAttrSynchronizable: kSecAttrSynchronizableAny],
        [kSecMatchCaseInsensitive: true], [kSecUseDataProtectionKeychain: true],
      ]
      for query in queries { #expect(statuses(query) == Array(repeating: errSecParam, count: 4), "\(query)") }
      #expect(secret("alice") == "secret")
      #expect(secret("alice", [kSecAttrAccessGroup: "other"]) == "other")
      // References identify their class themselves.
      let persistent = try #require(copy(password("alice", [kSecReturnPersistentRef: true])).1 as? Data)
      let reference = try #require(copy(password("alice", [kSecReturnRef: true])).1)
      let naming: [[CFString: Any]] = [
        [kSecValuePersistentRef: persistent], [kSecValueRef: reference], [kSecMatchItemList: [reference]],
      ]
      for query in naming {
        #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecSuccess)
        #expect(SecItemUpdate(query as CFDictionary, [kSecAttrLabel: "x"] as CFDictionary) == errSecSuccess)
      }
      #expect(SecItemDelete([kSecMatchItemList: [persistent]] as CFDictionary) == errSecSuccess)
      #expect(secret("alice") == nil)
      #expect(secret("alice", [kSecAttrAccessGroup: "other"]) == "other")
    }

    @Test("an update or delete with an unsupported condition, or a delete in an empty list of keychains, is refused")
    func overlookedConditions() {
      #expect(add("alice") == errSecSuccess)
      for name in ["tomb", "sha1", "musr", "UUID", "persistref", "vwht"] {
        #expect(SecItemDelete(password("alice", [name as NSString: "x"])) == errSecParam)
        let update = SecItemUpdate(password("alice", [name as NSString: "x"]), [kSecAttrLabel: "x"] as CFDictionary)
        #expect(update == errSecParam)
      }
      #expect(SecItemDelete(password("alice", [kSecMatchSearchList: []])) == errSecParam)
      #expect(secret("alice") == "secret")
    }

    @Test("all four SecItem calls refuse an attribute that the class does not have")
    func unknownAttributes() {
      for (itemClass, key) in [
        (kSecClassGenericPassword, kSecAttrServer), (kSecClassInternetPassword, kSecAttrService),
        (kSecClassInternetPassword, kSecAttrGeneric), (kSecClassKey, kSecAttrAccount),
        (kSecClassGenericPassword, "what" as NSString),
      ] {
        #expect(
          statuses([kSecClass: itemClass, key: "x"]) == Array(repeating: errSecNoSuchAttr, count: 4),
          "\(itemClass) \(key)")
      }
    }

    @Test("all four SecItem calls refuse an unknown key and a value of the wrong type")
    func wrongValues() {
      let wrong: [(CFString, Any)] = [
        (kSecAttrAccount, 5), (kSecAttrAccount, NSNull()), (kSecAttrGeneric, 5), (kSecAttrCreationDate, "today"),
        (kSecAttrIsInvisible, "yes"), (kSecAttrSynchronizable, "maybe"), (kSecAttrAccessControl, "none"),
        (kSecAttrAccessible, 5), (kSecValueData, "text"), (kSecValueRef, "text"), (kSecReturnData, "yes"),
        (kSecUseAuthenticationUI, "ask"), (kSecUseAuthenticationContext, "context"), (kSecUseOperationPrompt, 5),
        ("m_What" as NSString, true), ("r_What" as NSString, true), ("u_What" as NSString, true),
        ("v_What" as NSString, true),
      ]
      for (key, value) in wrong {
        #expect(
          statuses([kSecClass: kSecClassGenericPassword, key: value]) == Array(repeating: errSecParam, count: 4),
          "\(key): \(value)")
      }
      #expect(SecItemCopyMatching([5: "x"] as NSDictionary, nil) == errSecParam)
    }

    @Test("conditions on certificates in a delete of passwords are refused, not ignored")
    func certificateConditions() {
      #expect(add("alice") == errSecSuccess)
      for key in [kSecMatchPolicy, kSecMatchIssuers, kSecMatchTrustedOnly, kSecMatchSubjectContains] {
        #expect(SecItemDelete(password("alice", [key: true])) == errSecUnimplemented)
      }
      #expect(secret("alice") == "secret")
    }

    @Test("SecItemAdd accepts no match conditions, limit or persistent reference")
    func addsWithConditions() throws {
      #expect(add("a", "s", [kSecMatchLimit: kSecMatchLimitOne]) == errSecParam)
      #expect(add("a", "s", [kSecMatchCaseInsensitive: true]) == errSecParam)
      #expect(add("a", "s", [kSecValuePersistentRef: Data(count: 16)]) == errSecParam)
      #expect(secret("a") == nil)
    }

    @Test("SecItemUpdate and SecItemDelete accept no limit but kSecMatchLimitAll, and SecItemUpdate returns nothing")
    func changesWithLimits() {
      #expect(add("a") == errSecSuccess)
      let new = [kSecAttrLabel: "x"] as CFDictionary
      for limit in [kSecMatchLimitOne as Any, 1, 2] {
        #expect(SecItemUpdate(password("a", [kSecMatchLimit: limit]), new) == errSecParam)
        #expect(SecItemDelete(password("a", [kSecMatchLimit: limit])) == errSecParam)
      }
      for key in [kSecReturnData, kSecReturnAttributes, kSecReturnRef, kSecReturnPersistentRef] {
        #expect(SecItemUpdate(password("a", [key: true]), new) == errSecParam)
        #expect(SecItemUpdate(password("a"), [key: true] as CFDictionary) == errSecParam)
        #expect(SecItemUpdate(password("a", [key: false]), new) == errSecSuccess)
      }
      #expect(SecItemUpdate(password("a", [kSecMatchLimit: kSecMatchLimitAll]), new) == errSecSuccess)
      #expect(SecItemDelete(password("a", [kSecMatchLimit: kSecMatchLimitAll])) == errSecSuccess)
    }

    @Test("kSecUseAuthenticationUISkip is accepted in searches only")
    func skipping() {
      #expect(add("a") == errSecSuccess)
      let skip: [CFString: Any] = [kSecUseAuthenticationUI: kSecUseAuthenticationUISkip]
      #expect(add("b", "s", skip) == errSecParam)
      #expect(SecItemUpdate(password("a", skip), [kSecAttrLabel: "x"] as CFDictionary) == errSecParam)
      #expect(SecItemDelete(password("a", skip)) == errSecParam)
      #expect(secret("a", skip) == "secret")
    }

    @Test("kSecUseAuthenticationUISkip wins over kSecUseNoAuthenticationUI, whatever their order in the dictionary")
    func bothForms() {
      let fillers = ["nleg", "tomb", "sha1", "musr", "UUID", "persistref", "vwht"]
      // With more pairs the order of the dictionary differs.
      for count in 0...fillers.count {
        for _ in 1...8 {
          var both: [String: Any] = ["class": "genp", "u_NoAuthUI": true, "u_AuthUI": "u_AuthUIS"]
          for name in fillers.shuffled().prefix(count) { both[name] = "x" }
          // Adding with "skip" fails, so the status shows which of the two keys was used.
          #expect(SecItemAdd(both as CFDictionary, nil) == errSecParam)
        }
      }
    }

    @Test("hints without an effect, such as kSecUseDataProtectionKeychain, are accepted in keychain queries")
    func acceptedHints() {
      let hints: [CFString: Any] = [
        kSecUseDataProtectionKeychain: true, kSecUseOperationPrompt: "see it", kSecUseNoAuthenticationUI: false,
        kSecUseAuthenticationUI: kSecUseAuthenticationUIAllow,
      ]
      #expect(add("a", "s", hints) == errSecSuccess)
      #expect(secret("a", hints) == "s")
      #expect(SecItemDelete(password("a", hints)) == errSecSuccess)
    }
  }
}
