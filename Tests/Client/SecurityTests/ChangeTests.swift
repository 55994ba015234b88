import Presence
import Security
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore
import Whorl

extension SharedStore {
  @Suite("Updates and deletes")
  struct ChangeTests {
    let keychain: Keychain

    init() async throws { keychain = try await Keychain() }

    @Test("SecItemUpdate changes every match, keeps the order, and leaves the rest")
    func updatesAll() throws {
      for account in ["a", "b", "c"] { #expect(add(account, account) == errSecSuccess) }
      #expect(add("d", service: "web", "d") == errSecSuccess)
      #expect(SecItemUpdate(password(nil), [kSecAttrLabel: "mine"] as CFDictionary) == errSecSuccess)
      let query: [CFString: Any] = [
        kSecAttrLabel: "mine", kSecReturnAttributes: true, kSecMatchLimit: kSecMatchLimitAll,
      ]
      let rows = try #require(copy(password(nil, service: nil, query)).1 as? [[String: Any]])
      #expect(rows.map { $0[kSecAttrAccount as String] as? String } == ["a", "b", "c"])
      #expect(secret("b") == "b")
    }

    @Test("SecItemUpdate replaces the secret, and a renamed item is found under its new name")
    func updatesSecret() {
      #expect(add("a", "old") == errSecSuccess)
      let new: [CFString: Any] = [kSecValueData: Data("new".utf8), kSecAttrAccount: "b"]
      #expect(SecItemUpdate(password("a"), new as CFDictionary) == errSecSuccess)
      #expect(secret("a") == nil)
      #expect(secret("b") == "new")
    }

    @Test("SecItemUpdate changes nothing if a change would create a duplicate")
    func updateToDuplicate() {
      for account in ["a", "b"] { #expect(add(account, account) == errSecSuccess) }
      #expect(SecItemUpdate(password("a"), [kSecAttrAccount: "b"] as CFDictionary) == errSecDuplicateItem)
      #expect(SecItemUpdate(password(nil), [kSecAttrAccount: "c"] as CFDictionary) == errSecDuplicateItem)
      #expect(secret("a") == "a")
      #expect(secret("b") == "b")
      #expect(secret("c") == nil)
    }

    @Test("SecItemUpdate finds nothing without a match, and changes neither the class nor attributes of other classes")
    func uselessUpdates() {
      #expect(SecItemUpdate(password("a"), [kSecAttrLabel: "x"] as CFDictionary) == errSecItemNotFound)
      #expect(add("a") == errSecSuccess)
      #expect(SecItemUpdate(password("a"), password("b")) == errSecNoSuchAttr)
      #expect(SecItemUpdate(password("a"), [kSecAttrServer: "x"] as CFDictionary) == errSecNoSuchAttr)
      #expect(SecItemUpdate(password("a"), [kSecValueData: "text"] as CFDictionary) == errSecParam)
      #expect(SecItemUpdate(password("a"), [:] as CFDictionary) == errSecSuccess)
    }

    @Test("SecItemUpdate changes the modification date and keeps the creation date; both can be searched for")
    func dates() throws {
      #expect(add("a") == errSecSuccess)
      func dates() throws -> (Date, Date) {
        let row = try #require(copy(password("a", [kSecReturnAttributes: true])).1 as? [String: Any])
        return (
          try #require(row[kSecAttrCreationDate as String] as? Date),
          try #require(row[kSecAttrModificationDate as String] as? Date)
        )
      }
      let before = try dates()
      usleep(5_000)
      #expect(SecItemUpdate(password("a"), [kSecAttrLabel: "x"] as CFDictionary) == errSecSuccess)
      let after = try dates()
      #expect(before.0 == after.0)
      #expect(before.1 < after.1)
      #expect(secret(nil, [kSecAttrCreationDate: after.0]) == "secret")
      #expect(secret(nil, [kSecAttrModificationDate: before.1]) == nil)
    }

    @Test("SecItemUpdate can change accessibility and synchronizable, alone or together")
    func protection() {
      #expect(add("a") == errSecSuccess)
      let passcodeSet = [kSecAttrAccessible: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly] as CFDictionary
      #expect(SecItemUpdate(password("a"), passcodeSet) == errSecSuccess)
      #expect(secret("a", [kSecAttrAccessible: "akpu"]) == "secret")
      let both = [kSecAttrAccessible: kSecAttrAccessibleWhenUnlocked, kSecAttrSynchronizable: true] as CFDictionary
      #expect(SecItemUpdate(password("a"), both) == errSecSuccess)
      #expect(secret("a") == nil)
      #expect(secret("a", [kSecAttrSynchronizable: true]) == "secret")
      #expect(
        SecItemUpdate(password("a", [kSecAttrSynchronizable: true]), [kSecAttrSynchronizable: false] as CFDictionary)
          == errSecSuccess)
      #expect(secret("a") == "secret")
    }

    @Test("SecItemDelete removes every match, and a second call returns errSecItemNotFound")
    func deletes() {
      for account in ["a", "b"] { #expect(add(account) == errSecSuccess) }
      #expect(add("c", service: "web") == errSecSuccess)
      #expect(SecItemDelete(password("x")) == errSecItemNotFound)
      #expect(SecItemDelete(password(nil)) == errSecSuccess)
      #expect(SecItemDelete(password(nil)) == errSecItemNotFound)
      #expect(secret("c", service: "web") == "secret")
      #expect(SecItemDelete([kSecClass: kSecClassGenericPassword] as CFDictionary) == errSecSuccess)
      #expect(secret("c", service: "web") == nil)
    }

    @Test("SecItemDelete without kSecAttrSynchronizable leaves the synchronizable items")
    func deletesBySynchronizable() {
      #expect(add("a", "plain") == errSecSuccess)
      #expect(add("a", "shared", [kSecAttrSynchronizable: true]) == errSecSuccess)
      #expect(SecItemDelete(password("a")) == errSecSuccess)
      #expect(secret("a", [kSecAttrSynchronizable: kSecAttrSynchronizableAny]) == "shared")
      #expect(SecItemDelete(password("a", [kSecAttrSynchronizable: kSecAttrSynchronizableAny])) == errSecSuccess)
    }

    @Test("an updated item keeps its place in the order, also under another name and after the store is reopened")
    func keepsItsPlace() throws {
      for account in ["a", "b", "c"] { #expect(add(account, account) == errSecSuccess) }
      let reference = try #require(copy(password("a", [kSecReturnPersistentRef: true])).1 as? Data)
      let new: [CFString: Any] = [kSecAttrAccount: "z", kSecAttrLabel: "l", kSecValueData: Data("new".utf8)]
      #expect(SecItemUpdate(password("a"), new as CFDictionary) == errSecSuccess)
      let all: [CFString: Any] = [kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll]
      func secrets() -> [String]? {
        (copy(password(nil, all)).1 as? [Data])?.map { String(decoding: $0, as: UTF8.self) }
      }
      #expect(secrets() == ["new", "b", "c"])
      #expect(secret() == "new", "the oldest still")
      #expect(add("d", "d") == errSecSuccess)
      SecretStore.useAsShared(SecretStore(service: VaultSession(of: try keychain.scratch.open()), prompt: Nobody()))
      #expect(secrets() == ["new", "b", "c", "d"])
      let byReference: [CFString: Any] = [kSecValuePersistentRef: reference, kSecReturnData: true]
      #expect(copy(byReference as CFDictionary).1 as? Data == Data("new".utf8), "a reference outlives the process")
    }

    @Test("SecItemDelete without a match writes nothing")
    func fruitlessDelete() throws {
      #expect(add("a") == errSecSuccess)
      let before = try files()
      #expect(!before.isEmpty)
      #expect(SecItemDelete(password("b")) == errSecItemNotFound)
      #expect(SecItemDelete(password("a", [kSecAttrCreationDate: Date.distantPast])) == errSecItemNotFound)
      #expect(SecItemDelete(password("a", [kSecMatchItemList: []])) == errSecItemNotFound)
      #expect(try files() == before)
      #expect(SecItemDelete(password("a")) == errSecSuccess)
      #expect(try files() != before, "one that finds something does")
    }

    /// The bytes of the store's files, by name; without SQLite's shared memory, which readers change as well.
    private func files() throws -> [String: [UInt8]] {
      let names = try FileManager.default.contentsOfDirectory(atPath: keychain.scratch.path)
        .filter { !$0.hasSuffix("-shm") }
      return try Dictionary(
        uniqueKeysWithValues: names.map { ($0, try ScratchStore.contents(of: keychain.scratch.path + "/" + $0)) })
    }
  }
}
