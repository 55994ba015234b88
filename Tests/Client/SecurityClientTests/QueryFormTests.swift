// swift-format-ignore-file: NeverForceUnwrap, NeverUseImplicitlyUnwrappedOptionals
// Written as articles write it.

import LocalAuthentication
import Security
import Testing

extension ClientCode {
  /// The forms in which programs build a query.
  @Suite("Forms of a query")
  struct QueryFormTests {
    @Test("every type of dictionary works as a keychain query")
    func dictionaries() async throws {
      let store = try await ClientStore()
      defer { withExtendedLifetime(store) {} }
      let data = "secret".data(using: .utf8)!
      let constants: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrAccount: "me", kSecAttrService: "forms", kSecValueData: data,
      ]
      let strings: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "me",
        String(kSecAttrService): "forms", "\(kSecValueData)": data,
      ]
      let objects: [String: AnyObject] = [
        kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "me" as AnyObject,
        kSecAttrService as String: "forms" as NSString, kSecValueData as String: data as AnyObject,
      ]
      let hashables: [String: AnyHashable] = [
        kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "me",
        kSecAttrService as String: "forms", kSecValueData as String: data,
      ]
      let mixed: [AnyHashable: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrAccount: "me", kSecAttrService as String: "forms",
        kSecValueData: data,
      ]
      let literal: NSDictionary = [
        kSecClass: kSecClassGenericPassword, kSecAttrAccount: "me", kSecAttrService: "forms", kSecValueData: data,
      ]
      let all = [
        constants as CFDictionary, strings as CFDictionary, objects as CFDictionary, hashables as CFDictionary,
        mixed as CFDictionary, literal as CFDictionary,
      ]
      for query in all {
        #expect(SecItemAdd(query, nil) == errSecSuccess)
        #expect(SecItemAdd(all[0], nil) == errSecDuplicateItem)
        let search: [CFString: Any] = [
          kSecClass: kSecClassGenericPassword, kSecAttrAccount: "me", kSecAttrService: "forms",
        ]
        #expect(SecItemDelete(search as CFDictionary) == errSecSuccess)
      }
    }

    @Test("a keychain query can be built pair by pair, also with NSMutableDictionary")
    func mutableDictionaries() async throws {
      let store = try await ClientStore()
      defer { withExtendedLifetime(store) {} }
      let adding = NSMutableDictionary()
      adding.setValue(kSecClassGenericPassword, forKey: kSecClass as String)
      adding.setObject("me", forKey: kSecAttrAccount as NSCopying)
      adding[kSecAttrService] = "forms"
      adding[kSecValueData as String] = Data("secret".utf8)
      adding.setValue("a comment", forKey: kSecAttrComment as String)
      adding.setValue(nil, forKey: kSecAttrComment as String)
      #expect(SecItemAdd(adding, nil) == errSecSuccess)

      let reading = NSMutableDictionary(
        objects: [kSecClassGenericPassword, "forms", "me", kCFBooleanTrue!, kSecMatchLimitOne],
        forKeys: [
          kSecClass as NSCopying, kSecAttrService as NSCopying, kSecAttrAccount as NSCopying,
          kSecReturnAttributes as NSCopying, kSecMatchLimit as NSCopying,
        ])
      var result: CFTypeRef?
      #expect(SecItemCopyMatching(reading, &result) == errSecSuccess)
      let found = try #require(result as? NSDictionary)
      #expect(found.value(forKey: kSecAttrAccount as String) as? String == "me")
      #expect(found[kSecAttrComment] == nil)

      let older = NSMutableDictionary(
        objects: [kSecClassGenericPassword as NSString, "forms", true],
        forKeys: [NSString(format: kSecClass), kSecAttrService as NSString, NSString(string: "r_Data")])
      #expect(SecItemCopyMatching(older as CFDictionary, &result) == errSecSuccess)
      #expect(result as? Data == Data("secret".utf8))
    }

    @Test("the SecItem calls can be stored in variables, and replaced by functions of the same type")
    func functions() async throws {
      typealias Copy = (_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus
      typealias Perform = (_ query: CFDictionary, _ result: inout AnyObject?) -> OSStatus
      var copy: Copy = SecItemCopyMatching
      let add: Copy = SecItemAdd
      let update: (CFDictionary, CFDictionary) -> OSStatus = SecItemUpdate
      let delete: (CFDictionary) -> OSStatus = SecItemDelete
      let perform: Perform = { query, result in SecItemCopyMatching(query, &result) }
      let store = try await ClientStore()
      defer { withExtendedLifetime(store) {} }

      let item = [kSecClass: kSecClassGenericPassword, kSecAttrAccount: "me"] as [CFString: Any]
      #expect(add(item.merging([kSecValueData: Data("1".utf8)]) { $1 } as CFDictionary, nil) == errSecSuccess)
      #expect(update(item as CFDictionary, [kSecValueData: Data("2".utf8)] as CFDictionary) == noErr)
      let query = item.merging([kSecReturnData: true]) { $1 } as CFDictionary
      var result: AnyObject?
      #expect(perform(query, &result) == noErr)
      #expect(result as? Data == Data("2".utf8))
      let status = withUnsafeMutablePointer(to: &result) { copy(query, UnsafeMutablePointer($0)) }
      #expect(status == errSecSuccess)
      #expect(delete(item as CFDictionary) == errSecSuccess)
      copy = { _, result in
        result?.pointee = NSDate()
        return errSecSuccess
      }
      #expect(copy(query, &result) == errSecSuccess)
      #expect(result is NSDate)
    }

    @Test("the kCFBundle keys find identifier, version, name and executable in the dictionary of a bundle")
    func bundle() {
      func service(_ info: [String: Any]?) -> String { info?[String(kCFBundleIdentifierKey)] as? String ?? "default" }
      let info: [String: Any] = [
        "CFBundleIdentifier": "org.example.app", "CFBundleVersion": "7", "CFBundleName": "Example",
        "CFBundleExecutable": "example",
      ]
      #expect(service(info) == "org.example.app")
      #expect(service(nil) == "default")
      #expect(info[kCFBundleVersionKey as String] as? String == "7")
      #expect(info[kCFBundleNameKey as String] as? String == "Example")
      #expect(info[kCFBundleExecutableKey as String] as? String == "example")
      _ = service(Bundle.main.infoDictionary)
    }

    @Test("optionals in the dictionary of a keychain query are unwrapped")
    func optionals() async throws {
      let store = try await ClientStore()
      defer { withExtendedLifetime(store) {} }
      let access = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil)
      let secret = "secret".data(using: .utf8)
      let account: String? = "me"
      let adding: [String: Any] = [
        kSecClass as String: kSecClassInternetPassword, kSecAttrAccount as String: account as Any,
        kSecAttrServer as String: "www.example.com", kSecAttrAccessControl as String: access as Any,
        kSecAttrPort as String: Optional(443) as Any, kSecValueData as String: secret as Any,
        kSecUseAuthenticationContext as String: Optional(LAContext()) as Any,
        kSecReturnAttributes as String: kCFBooleanTrue as Any,
      ]
      var result: CFTypeRef?
      #expect(SecItemAdd(adding as CFDictionary, &result) == errSecSuccess)
      #expect((result as? [String: Any])?[kSecAttrPort as String] as? Int == 443)
      let reading: [String: Any?] = [
        kSecClass as String: kSecClassInternetPassword, kSecAttrAccount as String: account,
        kSecReturnData as String: kCFBooleanTrue,
      ]
      #expect(SecItemCopyMatching(reading as CFDictionary, &result) == errSecSuccess)
      #expect(result as? Data == secret)
      let older = NSMutableDictionary(
        objects: [kSecClassInternetPassword as NSString, account as Any, kCFBooleanTrue as Any],
        forKeys: [NSString(format: kSecClass), NSString(format: kSecAttrAccount), NSString(format: kSecReturnData)])
      #expect(SecItemCopyMatching(older, &result) == errSecSuccess)
      #expect(result as? Data == secret)
      let nothing: String? = nil
      let empty = [kSecClass: kSecClassInternetPassword, kSecAttrAccount: nothing as Any] as [CFString: Any]
      #expect(SecItemCopyMatching(empty as CFDictionary, &result) == errSecParam, "as null is on Apple's systems")
    }
  }
}
