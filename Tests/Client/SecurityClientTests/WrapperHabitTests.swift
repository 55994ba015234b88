// swift-format-ignore-file: NeverForceUnwrap, NeverUseImplicitlyUnwrappedOptionals
// Written as articles write it.

import Security
import Testing

extension ClientCode {
  /// Typical code of wrappers around the calls.
  @Suite("Habits of wrappers")
  struct WrapperHabitTests {
    private let item: [String: Any] = [
      kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "habits",
      kSecAttrAccount as String: "me",
    ]

    private func with(_ more: [String: Any]) -> CFDictionary { item.merging(more) { $1 } as CFDictionary }

    private func text() -> String? {
      var result: AnyObject?
      let query = with([kSecReturnData as String: kCFBooleanTrue!, kSecMatchLimit as String: kSecMatchLimitOne])
      guard SecItemCopyMatching(query, &result) == noErr, let data = result as? Data else { return nil }
      return String(data: data, encoding: .utf8)
    }

    @Test("the secret of a keychain item is replaced by delete and add, and by add or else update")
    func replacing() async throws {
      let store = try await ClientStore()
      defer { withExtendedLifetime(store) {} }
      for secret in ["1", "2"] {
        let query = with([kSecValueData as String: secret.data(using: .utf8)!])
        let deleted = SecItemDelete(query)
        #expect(deleted == (secret == "1" ? errSecItemNotFound : errSecSuccess))
        #expect(SecItemAdd(query, nil) == errSecSuccess)
        #expect(text() == secret)
      }
      let third = [kSecValueData as String: Data("3".utf8)]
      #expect(SecItemAdd(with(third), nil) == errSecDuplicateItem)
      #expect(SecItemUpdate(item as CFDictionary, third as CFDictionary) == errSecSuccess)
      #expect(text() == "3")
      // The whole query as the change, without the class.
      var attributes = item
      attributes[kSecClass as String] = nil
      attributes[kSecValueData as String] = Data("4".utf8)
      #expect(
        SecItemUpdate(with([kSecValueData as String: Data("x".utf8)]), attributes as CFDictionary) == errSecSuccess)
      #expect(text() == "4")
    }

    @Test("SecItemCopyMatching checks without a result whether an item exists, also where prompts are not allowed")
    func presence() async throws {
      let store = try await ClientStore()
      defer { withExtendedLifetime(store) {} }
      let query = with([kSecUseAuthenticationUI as String: kSecUseAuthenticationUIFail])
      #expect(SecItemCopyMatching(query, nil) == errSecItemNotFound)
      #expect(SecItemAdd(with([kSecValueData as String: Data()]), nil) == errSecSuccess)
      #expect(SecItemCopyMatching(query, nil) == errSecSuccess)
      #expect(SecItemCopyMatching(with([kSecReturnData as String: false]), nil) == errSecSuccess)
    }

    @Test("a program reads the prefix of its access groups from a placeholder item without a secret")
    func accessGroupPrefix() async throws {
      let store = try await ClientStore()
      defer { withExtendedLifetime(store) {} }
      let query: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrAccount: "placeholder", kSecReturnAttributes: true,
        kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, kSecUseDataProtectionKeychain: true,
      ]
      for _ in 1...2 {
        var result: AnyObject?
        var status = SecItemCopyMatching(query as CFDictionary, &result)
        if status == errSecItemNotFound { status = SecItemAdd(query as CFDictionary, &result) }
        #expect(status == errSecSuccess)
        let attributes = try #require(result as? [CFString: AnyHashable])
        let group = try #require(attributes[kSecAttrAccessGroup] as? String)
        #expect(group.components(separatedBy: ".").first?.isEmpty == false)
      }
    }

    @Test("one search lists synchronizable and other items, of several accessibilities, together")
    func listing() async throws {
      let store = try await ClientStore()
      defer { withExtendedLifetime(store) {} }
      let kinds: [(String, CFBoolean, CFString)] = [
        ("a", kCFBooleanTrue, kSecAttrAccessibleWhenUnlockedThisDeviceOnly),
        ("b", kCFBooleanFalse, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly),
        ("c", kCFBooleanTrue, kSecAttrAccessibleAlways),
      ]
      for (account, synchronizable, accessible) in kinds {
        let adding = with([
          kSecAttrAccount as String: account, kSecAttrSynchronizable as String: synchronizable,
          kSecAttrAccessible as String: accessible, kSecValueData as String: Data(account.utf8),
        ])
        #expect(SecItemAdd(adding, nil) == errSecSuccess)
      }
      var result: AnyObject?
      let query: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "habits",
        kSecAttrSynchronizable as String: kSecAttrSynchronizableAny, kSecMatchLimit as String: kSecMatchLimitAll,
        kSecReturnAttributes as String: kCFBooleanTrue!, kSecReturnData as String: true,
        kSecReturnRef as String: true, kSecReturnPersistentRef as String: true,
      ]
      #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
      let rows = try #require(result as? [[String: Any]])
      #expect(rows.compactMap { $0[kSecAttrAccount as String] as? String } == ["a", "b", "c"])
      #expect(rows.map { $0[kSecAttrSynchronizable as String] as? Bool } == [true, false, true])
      #expect(rows.map { $0[kSecAttrAccessible as String] as? String } == ["aku", "cku", "dk"])
      for row in rows {
        #expect(row[kSecValueRef as String] as? Data == nil)
        let reference = try #require(row[kSecValuePersistentRef as String] as? Data)
        var data: AnyObject?
        let one = [kSecValuePersistentRef: reference, kSecReturnData: true] as CFDictionary
        #expect(SecItemCopyMatching(one, &data) == errSecSuccess)
        #expect(data as? Data == row[kSecValueData as String] as? Data)
      }
      var all = query
      for key in [kSecReturnAttributes, kSecReturnData, kSecReturnRef, kSecReturnPersistentRef] {
        all[key as String] = nil
      }
      #expect(SecItemDelete(all as CFDictionary) == errSecSuccess)
      #expect(SecItemDelete(all as CFDictionary) == errSecItemNotFound)
    }

    @Test("an OSStatus is turned into an error with the message of SecCopyErrorMessageString")
    func errors() {
      struct KeychainError: LocalizedError {
        let status: OSStatus
        var errorDescription: String? { SecCopyErrorMessageString(status, nil) as String? }
      }
      #expect(KeychainError(status: errSecItemNotFound).localizedDescription.contains("item"))
      let message = SecCopyErrorMessageString(errSecDuplicateItem, nil) as String? ?? "Unknown error"
      let error = NSError(
        domain: NSOSStatusErrorDomain, code: Int(errSecDuplicateItem), userInfo: [NSLocalizedDescriptionKey: message])
      #expect(error.code == errSecDuplicateItem && error.localizedDescription == message)
      #expect(!"\(SecCopyErrorMessageString(-1, nil) ?? "unknown" as CFString)".isEmpty)
      switch errSecItemNotFound {
      case errSecSuccess: Issue.record("-25300 is no success")
      case errSecItemNotFound: break
      case let status: Issue.record("\(status)")
      }
    }
  }
}
