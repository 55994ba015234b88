import Presence
import Security
import Testing
import Vault
import VaultItems
import VaultStore
import Whorl

extension SharedStore {
  @Suite("Generic passwords")
  struct PasswordTests {
    let keychain: Keychain

    init() async throws { keychain = try await Keychain() }

    @Test("a generic password that was added is found, with its secret")
    func roundTrip() {
      #expect(add("alice") == errSecSuccess)
      #expect(secret("alice") == "secret")
      #expect(secret("bob") == nil)
      #expect(copy(password("bob", [kSecReturnData: true])).0 == errSecItemNotFound)
    }

    @Test("a second generic password of the same account, service, group and synchronizable is a duplicate")
    func duplicates() {
      #expect(add("alice") == errSecSuccess)
      #expect(add("alice", "other") == errSecDuplicateItem)
      #expect(add("alice", service: "web") == errSecSuccess)
      #expect(add("alice", "other", [kSecAttrAccessGroup: "elsewhere"]) == errSecSuccess)
      #expect(add("alice", "other", [kSecAttrSynchronizable: true]) == errSecSuccess)
      #expect(add("alice", "other", [kSecAttrSynchronizable: true]) == errSecDuplicateItem)
      #expect(add("alice", "other", [kSecAttrComment: "another comment"]) == errSecDuplicateItem)
    }

    @Test("a missing account or service of a generic password is the same as an empty one")
    func absentIsEmpty() {
      #expect(SecItemAdd(password(nil, [kSecValueData: Data("a".utf8)]), nil) == errSecSuccess)
      #expect(SecItemAdd(password("", [kSecValueData: Data("b".utf8)]), nil) == errSecDuplicateItem)
      #expect(secret("") == "a")
      #expect(secret("", service: nil) == "a")
      let (_, attributes) = copy(password(nil, [kSecReturnAttributes: true]))
      #expect((attributes as? [String: Any])?[kSecAttrAccount as String] as? String == "")
    }

    @Test("SecItemCopyMatching returns a single requested result alone, and several in a dictionary")
    func returns() throws {
      #expect(add("alice", "s", [kSecAttrGeneric: Data([1, 2]), kSecAttrLabel: "Mail"]) == errSecSuccess)
      #expect(copy(password("alice", [kSecReturnData: true])).1 as? Data == Data("s".utf8))
      #expect(copy(password("alice", [kSecReturnPersistentRef: true])).1 is NSData)
      #expect(copy(password("alice", [kSecReturnRef: true])).1 is SecKeychainItem)
      let attributes = try #require(copy(password("alice", [kSecReturnAttributes: true])).1 as? [String: Any])
      #expect(attributes[kSecAttrAccount as String] as? String == "alice")
      #expect(attributes[kSecAttrGeneric as String] as? Data == Data([1, 2]))
      #expect(attributes[kSecAttrLabel as String] as? String == "Mail")
      #expect(attributes[kSecAttrAccessible as String] as? String == "ak")
      #expect(attributes[kSecAttrAccessGroup as String] as? String == AccessGroup.own)
      #expect(attributes[kSecAttrSynchronizable as String] as? Bool == false)
      #expect(attributes[kSecClass as String] as? String == "genp")
      #expect(attributes[kSecAttrCreationDate as String] is Date)
      #expect(attributes[kSecAttrModificationDate as String] is Date)
      #expect(attributes[kSecAttrAccessControl as String] is SecAccessControl)
      #expect(attributes[kSecValueData as String] == nil)
      let all = try #require(
        copy(
          password(
            "alice",
            [
              kSecReturnData: true, kSecReturnAttributes: true, kSecReturnRef: true, kSecReturnPersistentRef: true,
            ])
        ).1 as? [String: Any])
      #expect(all[kSecValueData as String] as? Data == Data("s".utf8))
      #expect(all[kSecValueRef as String] is SecKeychainItem)
      #expect(all[kSecValuePersistentRef as String] is Data)
      #expect(all[kSecAttrAccount as String] as? String == "alice")
      let two = try #require(
        copy(password("alice", [kSecReturnData: true, kSecReturnPersistentRef: true])).1 as? [String: Any])
      #expect(Set(two.keys) == [kSecValueData as String, kSecValuePersistentRef as String])
    }

    @Test("SecItemAdd returns what is requested, also the data")
    func addReturns() {
      var result: CFTypeRef?
      let query: [CFString: Any] = [kSecValueData: Data("s".utf8), kSecReturnData: true, kSecReturnAttributes: true]
      #expect(SecItemAdd(password("alice", query), &result) == errSecSuccess)
      let row = result as? [String: Any]
      #expect(row?[kSecValueData as String] as? Data == Data("s".utf8))
      #expect(row?[kSecAttrAccount as String] as? String == "alice")
      #expect(
        SecItemAdd(password("bob", [kSecValueData: Data("s".utf8), kSecReturnData: true]), &result) == errSecSuccess)
      #expect(result as? Data == Data("s".utf8))
      #expect(SecItemAdd(password("carl", [kSecReturnData: true]), nil) == errSecParam)
      #expect(secret("carl") == nil)
    }

    @Test("SecItemCopyMatching needs a place to store a requested result, and none if nothing is requested")
    func places() {
      #expect(add("alice") == errSecSuccess)
      #expect(SecItemCopyMatching(password("alice"), nil) == errSecSuccess)
      #expect(SecItemCopyMatching(password("bob"), nil) == errSecItemNotFound)
      #expect(SecItemCopyMatching(password("alice", [kSecReturnData: true]), nil) == errSecParam)
      #expect(SecItemCopyMatching(password("alice", [kSecReturnData: false]), nil) == errSecSuccess)
    }

    @Test("SecItemCopyMatching returns the oldest match alone for limit 1 or none, else an array, oldest first")
    func limits() {
      for account in ["b", "a", "c"] { #expect(add(account, account) == errSecSuccess) }
      #expect(secret() == "b")
      #expect(secret(nil, [kSecMatchLimit: kSecMatchLimitOne]) == "b")
      #expect(secret(nil, [kSecMatchLimit: 1]) == "b")
      func many(_ limit: Any, _ account: String? = nil) -> [String]? {
        let (_, result) = copy(password(account, [kSecReturnData: true, kSecMatchLimit: limit]))
        return (result as? [Data])?.map { String(decoding: $0, as: UTF8.self) }
      }
      #expect(many(kSecMatchLimitAll) == ["b", "a", "c"])
      #expect(many(2) == ["b", "a"])
      #expect(many(100) == ["b", "a", "c"])
      #expect(many(2, "c") == ["c"], "an array of one")
      #expect(many(kSecMatchLimitAll, "c") == ["c"])
      #expect(copy(password("d", [kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll])).0 == errSecItemNotFound)
      for limit in [0, -1] as [Any] + ["all"] {
        #expect(copy(password(nil, [kSecReturnData: true, kSecMatchLimit: limit])).0 == errSecParam)
      }
    }

    @Test("kSecMatchLimitAll with data, attributes and reference gives an array of dictionaries")
    func dictionaries() throws {
      for account in ["a", "b"] { #expect(add(account, account) == errSecSuccess) }
      let query: [CFString: Any] = [
        kSecReturnData: true, kSecReturnAttributes: true, kSecReturnRef: true, kSecMatchLimit: kSecMatchLimitAll,
      ]
      let rows = try #require(copy(password(nil, query)).1 as? [[String: Any]])
      #expect(rows.map { $0[kSecAttrAccount as String] as? String } == ["a", "b"])
      #expect(rows.map { $0[kSecValueData as String] as? Data } == [Data("a".utf8), Data("b".utf8)])
      #expect(rows.allSatisfy { $0[kSecValueRef as String] is SecKeychainItem })
    }

    @Test("a reference or persistent reference finds its own item alone")
    func references() throws {
      for account in ["a", "b"] { #expect(add(account, account) == errSecSuccess) }
      let persistent = try #require(copy(password("b", [kSecReturnPersistentRef: true])).1 as? Data)
      let reference = try #require(copy(password("b", [kSecReturnRef: true])).1)
      for query in [[kSecValuePersistentRef: persistent], [kSecValueRef: reference]] as [[CFString: Any]] {
        let (status, data) = copy(query.merging([kSecReturnData: true]) { $1 } as CFDictionary)
        #expect(status == errSecSuccess)
        #expect(data as? Data == Data("b".utf8))
      }
      #expect(SecItemUpdate([kSecValuePersistentRef: persistent] as CFDictionary, password("c", service: nil)) != 0)
      #expect(
        SecItemUpdate([kSecValuePersistentRef: persistent] as CFDictionary, [kSecAttrAccount: "c"] as CFDictionary)
          == errSecSuccess)
      #expect(secret("c") == "b")
      #expect(
        copy(password(nil, [kSecReturnData: true, kSecMatchItemList: [persistent]])).1 as? Data == Data("b".utf8))
      #expect(SecItemDelete([kSecValuePersistentRef: persistent] as CFDictionary) == errSecSuccess)
      #expect(SecItemDelete([kSecValuePersistentRef: persistent] as CFDictionary) == errSecItemNotFound)
      #expect(secret("a") == "a")
      #expect(copy([kSecValuePersistentRef: Data([1])] as CFDictionary).0 == errSecParam)
    }

    @Test("synchronizable items are found only where a query includes them")
    func synchronizable() {
      #expect(add("a", "plain") == errSecSuccess)
      #expect(add("b", "shared", [kSecAttrSynchronizable: kCFBooleanTrue!]) == errSecSuccess)
      #expect(secret("b") == nil)
      #expect(secret("b", [kSecAttrSynchronizable: true]) == "shared")
      #expect(secret("a", [kSecAttrSynchronizable: true]) == nil)
      #expect(secret("a", [kSecAttrSynchronizable: kSecAttrSynchronizableAny]) == "plain")
      #expect(secret("b", [kSecAttrSynchronizable: kSecAttrSynchronizableAny]) == "shared")
      #expect(add("c", "x", [kSecAttrSynchronizable: kSecAttrSynchronizableAny]) == errSecParam)
    }

    @Test("an item of another access group is found only if the query names that group")
    func groups() {
      #expect(add("a", "s", [kSecAttrAccessGroup: "one"]) == errSecSuccess)
      #expect(secret("a") == nil)
      #expect(secret("a", [kSecAttrAccessGroup: "one"]) == "s")
      #expect(secret("a", [kSecAttrAccessGroup: "two"]) == nil)
    }

    @Test("a search compares text with case unless the query says otherwise")
    func ignoringCase() {
      #expect(add("Alice") == errSecSuccess)
      #expect(secret("alice") == nil)
      #expect(secret("alice", [kSecMatchCaseInsensitive: true]) == "secret")
      #expect(secret("alice", [kSecMatchCaseInsensitive: false]) == nil)
      #expect(secret("ALICE", service: "MAIL", [kSecMatchCaseInsensitive: kCFBooleanTrue!]) == "secret")
      #expect(secret("alicia", [kSecMatchCaseInsensitive: true]) == nil)
      #expect(add("\u{C4}RGER", "\u{E4}rger") == errSecSuccess)
      #expect(secret("\u{E4}rger", [kSecMatchCaseInsensitive: true]) == "\u{E4}rger")
      #expect(SecItemDelete(password("alice")) == errSecItemNotFound)
      #expect(SecItemDelete(password("alice", [kSecMatchCaseInsensitive: true])) == errSecSuccess)
      #expect(secret("Alice") == nil)
    }

    @Test("an account given as data names the same item as the text it holds, and comes back as it was given")
    func accountAsData() throws {
      #expect(add("alice") == errSecSuccess)
      #expect(SecItemAdd(password(nil, [kSecAttrAccount: Data("alice".utf8)]), nil) == errSecDuplicateItem)
      #expect(copy(password(nil, [kSecAttrAccount: Data("alice".utf8), kSecReturnData: true])).0 == errSecSuccess)
      func account(_ query: CFDictionary) throws -> Any? {
        try #require(copy(query).1 as? [String: Any])[kSecAttrAccount as String]
      }
      #expect(try account(password("alice", [kSecReturnAttributes: true])) as? String == "alice")
      for bytes in [Data("bob".utf8), Data([0xff, 0])] {
        let given: [CFString: Any] = [kSecAttrAccount: bytes, kSecValueData: bytes, kSecAttrGeneric: "text"]
        #expect(SecItemAdd(password(nil, given), nil) == errSecSuccess)
        let row = try #require(
          copy(password(nil, [kSecAttrAccount: bytes, kSecReturnAttributes: true])).1 as? [String: Any])
        #expect(row[kSecAttrAccount as String] as? Data == bytes)
        #expect(row[kSecAttrGeneric as String] as? String == "text")
        #expect(!row.keys.contains { $0.hasPrefix("whorl") })
      }
      #expect(SecItemUpdate(password("bob"), [kSecAttrAccount: "carl"] as CFDictionary) == errSecSuccess)
      #expect(try account(password("carl", [kSecReturnAttributes: true])) as? String == "carl")
    }

    @Test("every accessibility is stored under Apple's name, and can be searched for")
    func accessibility() {
      let all = [
        kSecAttrAccessibleWhenUnlocked, kSecAttrAccessibleAfterFirstUnlock, kSecAttrAccessibleAlways,
        kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
        kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, kSecAttrAccessibleAlwaysThisDeviceOnly,
      ]
      for value in all {
        let name = value as String
        #expect(add(name, name, [kSecAttrAccessible: value]) == errSecSuccess)
        #expect(secret(nil, [kSecAttrAccessible: name]) == name)
      }
      #expect(add("x", "x", [kSecAttrAccessible: "f"]) == errSecParam)
    }

    @Test("attributes and data that a search returned can be added again for another account or access group")
    func copies() throws {
      #expect(add("alice", "s", [kSecAttrComment: "c", kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock]) == 0)
      let query: [CFString: Any] = [kSecReturnAttributes: true, kSecReturnData: true]
      var row = try #require(copy(password("alice", query)).1 as? [String: Any])
      row[kSecAttrAccount as String] = "bob"
      row[kSecAttrAccessControl as String] = nil
      #expect(SecItemAdd(row as CFDictionary, nil) == errSecSuccess)
      #expect(secret("bob", [kSecAttrComment: "c"]) == "s")
      row[kSecAttrAccessGroup as String] = "elsewhere"
      #expect(SecItemAdd(row as CFDictionary, nil) == errSecSuccess)
      #expect(secret("bob", [kSecAttrAccessGroup: "elsewhere", kSecAttrComment: "c"]) == "s")
    }
  }
}
