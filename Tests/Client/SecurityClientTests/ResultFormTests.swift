// swift-format-ignore-file: NeverForceUnwrap, NeverUseImplicitlyUnwrappedOptionals
// Written as articles write it.

import Security
import Testing

extension ClientCode {
  /// The forms in which programs take a result.
  @Suite("Forms of a result")
  struct ResultFormTests {
    private let item: [CFString: Any] = [
      kSecClass: kSecClassGenericPassword, kSecAttrService: "results", kSecAttrAccount: "me",
    ]

    private func copy(_ more: [CFString: Any]) -> CFTypeRef? {
      var result: CFTypeRef?
      let status = SecItemCopyMatching(item.merging(more) { $1 } as CFDictionary, &result)
      return status == errSecSuccess ? result : nil
    }

    private func added() async throws -> ClientStore {
      let store = try await ClientStore()
      let status = SecItemAdd(item.merging([kSecValueData: Data("secret".utf8)]) { $1 } as CFDictionary, nil)
      try #require(status == errSecSuccess)
      return store
    }

    @Test("attributes of a keychain item are a dictionary of whichever type the program casts to")
    func dictionaries() async throws {
      let store = try await added()
      defer { withExtendedLifetime(store) {} }
      let result = try #require(copy([kSecReturnAttributes: true, kSecReturnData: true]))
      #expect((result as! [String: Any])[kSecAttrAccount as String] as? String == "me")
      #expect((result as! [String: AnyObject])[kSecAttrAccount as String] as? String == "me")
      #expect((result as! [String: AnyHashable])[kSecAttrAccount as String] as? String == "me")
      #expect((result as! [CFString: Any])[kSecAttrAccount] as? String == "me")
      #expect((result as! [NSString: AnyObject])[kSecAttrAccount] as? String == "me")
      #expect((result as! CFDictionary)[kSecAttrAccount] as? String == "me")
      #expect((result as! NSDictionary).object(forKey: kSecValueData) as? Data == Data("secret".utf8))
      #expect(
        (result as! NSDictionary).object(forKey: kSecValueData as String) as? NSData
          == NSData(data: Data("secret".utf8)))
      #expect(((result as! [String: Any])[kSecAttrCreationDate as String] as? Date) != nil)
      #expect((result as! [String: Any])[kSecAttrSynchronizable as String] as? Bool == false)
      #expect(CFGetTypeID(result) == CFDictionaryGetTypeID())
    }

    @Test("keychain constants and their strings are equal as dictionary keys")
    func hashableKeys() async throws {
      let store = try await added()
      defer { withExtendedLifetime(store) {} }
      let account: String! = kSecAttrAccount as String
      for row in try #require(
        copy([kSecReturnAttributes: true, kSecMatchLimit: kSecMatchLimitAll]) as? [[AnyHashable: Any]])
      {
        #expect(row[kSecAttrAccount] as? String == "me")
        #expect(row[kSecAttrAccount as String] as? String == "me")
        #expect(row[account!] as? String == "me")
      }
      #expect(AnyHashable(kSecClass) == AnyHashable("class"))
      let names: Set<AnyHashable> = [kSecClass, "class", kSecClass as String]
      #expect(names.count == 1)
      #expect(AnyHashable(kSecClass) as? String == "class")
      #expect(AnyHashable(kSecClass).base as? NSString == kSecClass)
    }

    @Test("several results of a keychain search are an array of whichever type the program casts to")
    func arrays() async throws {
      let store = try await added()
      defer { withExtendedLifetime(store) {} }
      let rows = try #require(copy([kSecReturnAttributes: true, kSecMatchLimit: kSecMatchLimitAll]))
      #expect((rows as? [[String: Any]])?.count == 1)
      #expect((rows as? Array<Dictionary<String, AnyObject>>)?.count == 1)
      #expect((rows as? [[CFString: Any]])?.count == 1)
      #expect((rows as? [CFDictionary])?.count == 1)
      #expect((rows as! NSArray).count == 1)
      #expect(CFArrayGetCount((rows as! CFArray)) == 1)
      let kept: Any = rows
      #expect(!(kept is [String: AnyHashable]), "one is told apart from many")
      #expect(kept is [[String: AnyHashable]])
      let accounts = (rows as! [[String: Any]]).compactMap { $0[kSecAttrAccount as String] as? String }
      #expect(accounts == ["me"])
      let secrets = try #require(copy([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll]) as? [Data])
      #expect(secrets == [Data("secret".utf8)])
    }

    @Test("secrets of keychain items are Data or NSData")
    func data() async throws {
      let store = try await added()
      defer { withExtendedLifetime(store) {} }
      let result = try #require(copy([kSecReturnData: kCFBooleanTrue!]))
      #expect(result as? Data == Data("secret".utf8))
      #expect((result as! NSData).length == 6)
      #expect((result as! CFData) as Data == Data("secret".utf8))
      #expect(CFGetTypeID(result) == CFDataGetTypeID())
      #expect(CFDataGetLength((result as! CFData)) == 6)
      #expect(String(data: result as! Data, encoding: .utf8) == "secret")
      #expect(NSString(data: result as! Data, encoding: String.Encoding.utf8.rawValue) == "secret")
    }

    @Test("an account given as data comes back as data in a search for its service")
    func dataAccounts() async throws {
      let store = try await ClientStore()
      defer { withExtendedLifetime(store) {} }
      let name = "key".data(using: .utf8)
      var adding: [String: Any] = [kSecClass as String: kSecClassGenericPassword]
      adding[kSecAttrAccount as String] = name
      adding[kSecAttrGeneric as String] = name
      adding[kSecAttrService as String] = "wrapped"
      adding[kSecValueData as String] = Data("1".utf8)
      #expect(SecItemAdd(adding as CFDictionary, nil) == errSecSuccess)
      var result: AnyObject?
      let all: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "wrapped",
        kSecReturnAttributes as String: kCFBooleanTrue!, kSecMatchLimit as String: kSecMatchLimitAll,
      ]
      #expect(SecItemCopyMatching(all as CFDictionary, &result) == errSecSuccess)
      let rows = try #require(result as? [[AnyHashable: Any]])
      #expect(rows.map { $0[kSecAttrAccount] as? Data } == [name])
    }
  }
}
