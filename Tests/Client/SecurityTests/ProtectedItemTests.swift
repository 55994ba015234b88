import Presence
import Security
import Synchronization
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore
import Whorl

extension SharedStore {
  @Suite("Protected items")
  struct ProtectedItemTests {
    let keychain: GuardedKeychain

    init() async throws { keychain = try await GuardedKeychain() }

    private func control(_ flags: SecAccessControlCreateFlags, _ protection: CFString = kSecAttrAccessibleWhenUnlocked)
      throws -> SecAccessControl
    { try #require(SecAccessControlCreateWithFlags(nil, protection, flags, nil)) }

    private func add(_ account: String, _ flags: SecAccessControlCreateFlags, _ more: [CFString: Any] = [:]) throws
      -> OSStatus
    {
      SecurityTests.add(account, account, more.merging([kSecAttrAccessControl: try control(flags)]) { $1 })
    }

    private var touches: Int { keychain.person.touches }

    @Test(
      "a protected item needs a touch only when its secret is read, and the prompt has the query's reason")
    func reading() throws {
      #expect(try add("a", .biometryCurrentSet) == errSecSuccess)
      #expect(try add("a", .biometryCurrentSet) == errSecDuplicateItem)
      #expect(SecItemCopyMatching(password("a"), nil) == errSecSuccess)
      let (status, row) = copy(password("a", [kSecReturnAttributes: true, kSecReturnRef: true]))
      #expect(status == errSecSuccess)
      #expect(
        (row as? [String: Any])?[kSecAttrAccessControl as String] as? SecAccessControl
          == (try control(.biometryCurrentSet)))
      #expect(touches == 0)
      #expect(secret("a", [kSecUseOperationPrompt: "see it"]) == "a")
      #expect(touches == 1)
      #expect(keychain.person.memory.withLock { $0.reasons } == ["see it"])
      #expect(SecItemDelete(password("a")) == errSecSuccess)
      #expect(touches == 1)
    }

    @Test("one touch releases all protected items that a search finds")
    func oneTouch() throws {
      for account in ["a", "b", "c"] { #expect(try add(account, .biometryAny) == errSecSuccess) }
      #expect(SecurityTests.add("d", "d") == errSecSuccess)
      let (status, rows) = copy(password(nil, [kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll]))
      #expect(status == errSecSuccess)
      #expect((rows as? [Data])?.map { String(decoding: $0, as: UTF8.self) } == ["a", "b", "c", "d"])
      #expect(touches == 1)
    }

    @Test("an item that needs user presence takes one touch for each read without a context")
    func userPresence() throws {
      #expect(try add("a", .userPresence) == errSecSuccess)
      #expect(secret("a") == "a")
      #expect(touches == 1)
      #expect(secret("a") == "a")
      #expect(touches == 2)
    }

    @Test("kSecUseAuthenticationUISkip leaves out items that need a prompt; if none is left, nothing is found")
    func skip() throws {
      #expect(try add("a", .userPresence) == errSecSuccess)
      let skip: [CFString: Any] = [kSecUseAuthenticationUI: kSecUseAuthenticationUISkip, kSecReturnData: true]
      #expect(copy(password(nil, skip)).0 == errSecItemNotFound)
      #expect(SecurityTests.add("b", "b") == errSecSuccess)
      #expect(copy(password(nil, skip)).1 as? Data == Data("b".utf8))
      let attributes: [CFString: Any] = [
        kSecUseAuthenticationUI: kSecUseAuthenticationUISkip, kSecReturnAttributes: true,
        kSecMatchLimit: kSecMatchLimitAll,
      ]
      #expect((copy(password(nil, attributes)).1 as? [[String: Any]])?.count == 1)
      #expect(touches == 0)
    }

    @Test("a protected item gives errSecInteractionNotAllowed if the query or its context forbids prompts")
    func fail() async throws {
      #expect(try add("a", .userPresence) == errSecSuccess)
      let silent = keychain.store.makeContext()
      silent.options.interactionNotAllowed = true
      let ways: [[CFString: Any]] = [
        [kSecUseAuthenticationUI: kSecUseAuthenticationUIFail], [kSecUseNoAuthenticationUI: true],
        [kSecUseAuthenticationContext: GivenContext(silent)],
      ]
      for way in ways {
        #expect(copy(password("a", way.merging([kSecReturnData: true]) { $1 })).0 == errSecInteractionNotAllowed)
        #expect(SecItemCopyMatching(password("a", way), nil) == errSecInteractionNotAllowed)
        let new = [kSecValueData: Data("new".utf8)] as CFDictionary
        #expect(SecItemUpdate(password("a", way), new) == errSecInteractionNotAllowed)
      }
      #expect(touches == 0)
      #expect(SecItemDelete(password("a", [kSecUseAuthenticationUI: kSecUseAuthenticationUIFail])) == errSecSuccess)
      _ = silent
    }

    @Test("a context that was satisfied serves later keychain calls without a prompt, even if prompts are forbidden")
    func satisfiedContext() async throws {
      #expect(try add("a", .biometryCurrentSet) == errSecSuccess)
      let context = keychain.store.makeContext()
      let given: [CFString: Any] = [kSecUseAuthenticationContext: GivenContext(context)]
      #expect(secret("a", given) == "a")
      #expect(touches == 1)
      #expect(keychain.person.memory.withLock { $0.reasons } == ["the context's own reason"])
      #expect(secret("a", given) == "a")
      for ui in [kSecUseAuthenticationUISkip, kSecUseAuthenticationUIFail] {
        #expect(secret("a", given.merging([kSecUseAuthenticationUI: ui]) { $1 }) == "a")
      }
      #expect(touches == 1)
      context.invalidate()
      #expect(copy(password("a", given.merging([kSecReturnData: true]) { $1 })).0 == errSecAuthFailed)
    }

    @Test("an update of a protected item needs a touch, and changes the secret")
    func update() throws {
      #expect(try add("a", .biometryAny) == errSecSuccess)
      #expect(SecItemUpdate(password("a"), [kSecValueData: Data("new".utf8)] as CFDictionary) == errSecSuccess)
      #expect(touches == 1)
      #expect(secret("a") == "new")
    }

    @Test("a keychain call whose prompt is cancelled returns errSecUserCanceled")
    func cancelling() throws {
      #expect(try add("a", .biometryAny) == errSecSuccess)
      keychain.person.memory.withLock { $0.cancels = true }
      #expect(copy(password("a", [kSecReturnData: true])).0 == errSecUserCanceled)
    }

    @Test("an item bound to a set of fingers that changed is not found, and adding over it succeeds")
    func lostSet() async throws {
      #expect(try add("a", .biometryCurrentSet) == errSecSuccess)
      _ = try await keychain.image.enroll(.leftIndex, in: keychain.vault)
      #expect(SecItemCopyMatching(password("a"), nil) == errSecItemNotFound)
      #expect(copy(password("a", [kSecReturnData: true])).0 == errSecItemNotFound)
      #expect(SecItemUpdate(password("a"), [kSecAttrLabel: "x"] as CFDictionary) == errSecItemNotFound)
      #expect(SecItemDelete(password("a")) == errSecItemNotFound)
      #expect(try add("a", .biometryCurrentSet) == errSecSuccess)
      #expect(secret("a") == "a")
    }

    @Test("kSecAttrAccessible beside an access control is refused, and a constraint beside kSecAttrSynchronizable")
    func contradictions() throws {
      #expect(try add("a", .userPresence, [kSecAttrAccessible: kSecAttrAccessibleWhenUnlocked]) == errSecParam)
      #expect(try add("a", .userPresence, [kSecAttrSynchronizable: true]) == errSecParam)
      #expect(try add("a", [], [kSecAttrSynchronizable: true]) == errSecSuccess)
      #expect(
        SecurityTests.add(
          "b", "b", [kSecAttrSynchronizable: true, kSecAttrAccessible: kSecAttrAccessibleWhenUnlockedThisDeviceOnly])
          == errSecSuccess, "an item for this device only")
      #expect(try add("c", .userPresence) == errSecSuccess)
      #expect(SecItemUpdate(password("c"), [kSecAttrSynchronizable: true] as CFDictionary) == errSecParam)
    }

    @Test("a search ignores an access control and its protection, and compares kSecAttrAccessible")
    func accessControlInSearch() throws {
      #expect(
        SecurityTests.add("a", "a", [kSecAttrAccessControl: try control([], kSecAttrAccessibleAfterFirstUnlock)])
          == errSecSuccess)
      #expect(secret("a", [kSecAttrAccessControl: try control(.userPresence)]) == "a")
      #expect(secret("a", [kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock]) == "a")
      #expect(secret("a", [kSecAttrAccessible: kSecAttrAccessibleWhenUnlocked]) == nil)
    }
  }
}
