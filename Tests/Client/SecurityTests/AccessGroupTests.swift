import Presence
import Security
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore
import Whorl

extension SharedStore {
  @Suite("Access groups")
  struct AccessGroupTests {
    private var elsewhere: [CFString: Any] { [kSecAttrAccessGroup: "com.example.other"] }
    private var commandLine: [CFString: Any] { [kSecAttrAccessGroup: AccessGroup.commandLine] }

    let keychain: Keychain

    init() async throws { keychain = try await Keychain() }

    /// Stores a password as `whorl set SERVICE/ACCOUNT` does.
    private func setByCommandLine(_ account: String, _ secret: String) async throws {
      try await keychain.vault.put("mail/\(account)", secret)
    }

    private func group(_ account: String) -> String? {
      let row = copy(password(account, [kSecReturnAttributes: true])).1 as? [String: Any]
      return row?[kSecAttrAccessGroup as String] as? String
    }

    @Test("an item that names no access group, or an empty one, goes into the program's own")
    func ownGroup() {
      #expect(add("a") == errSecSuccess)
      #expect(add("b", "secret", [kSecAttrAccessGroup: ""]) == errSecSuccess)
      #expect(!AccessGroup.own.isEmpty && AccessGroup.own != AccessGroup.commandLine)
      #expect(group("a") == AccessGroup.own)
      #expect(group("b") == AccessGroup.own)
      #expect(secret("b", [kSecAttrAccessGroup: AccessGroup.own]) == "secret")
      #expect(secret("b", [kSecAttrAccessGroup: ""]) == "secret")
    }

    @Test("deleting every class of items leaves the items of other access groups")
    func cleanUp() async throws {
      #expect(add("mine") == errSecSuccess)
      #expect(add("theirs", "secret", elsewhere) == errSecSuccess)
      try await setByCommandLine("shell", "typed")
      for name in [kSecClassGenericPassword, kSecClassInternetPassword, kSecClassKey] {
        _ = SecItemDelete([kSecClass: name] as CFDictionary)
      }
      #expect(secret("mine") == nil)
      #expect(secret("theirs", elsewhere) == "secret")
      #expect(secret("shell") == "typed")
      #expect(SecItemDelete([kSecClass: kSecClassGenericPassword] as CFDictionary) == errSecItemNotFound)
      #expect(SecItemDelete(password("shell", commandLine)) == errSecSuccess, "a group that is named is meant")
      #expect(secret("shell") == nil)
    }

    @Test("a search reads the program's own access group, then the command line's, and others only if named")
    func reading() async throws {
      try await setByCommandLine("a", "command line")
      #expect(add("a", "theirs", elsewhere) == errSecSuccess)
      #expect(secret("a") == "command line")
      #expect(add("a", "mine") == errSecSuccess, "no duplicate of the command line's")
      #expect(secret("a") == "mine", "the own one first, though it is younger")
      let all: [CFString: Any] = [kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll]
      func texts(_ more: [CFString: Any]) -> [String]? {
        (copy(password("a", more)).1 as? [Data])?.map { String(decoding: $0, as: UTF8.self) }
      }
      #expect(texts(all) == ["mine", "command line"])
      #expect(texts([kSecReturnData: true, kSecMatchLimit: 2]) == ["mine", "command line"])
      #expect(texts(all.merging(elsewhere) { $1 }) == ["theirs"])
    }

    @Test("an update changes only items of the program's own access group, unless a group or reference is named")
    func updating() async throws {
      try await setByCommandLine("a", "typed")
      let new = [kSecValueData: Data("new".utf8)] as CFDictionary
      #expect(SecItemUpdate(password("a"), new) == errSecItemNotFound)
      #expect(secret("a") == "typed")
      #expect(SecItemUpdate(password("a", commandLine), new) == errSecSuccess)
      #expect(secret("a") == "new")
      let reference = try #require(copy(password("a", [kSecReturnPersistentRef: true])).1 as? Data)
      let named = [kSecValuePersistentRef: reference] as CFDictionary
      #expect(SecItemUpdate(named, [kSecAttrLabel: "mail"] as CFDictionary) == errSecSuccess)
      #expect(SecItemDelete(named) == errSecSuccess)
      #expect(secret("a") == nil)
    }

    @Test("SecretStore searches the program's own and the command line's access groups, or those that are named")
    func library() async throws {
      let store = keychain.store
      func add(_ group: String?) async throws -> Item {
        var attributes: [AttributeName: AttributeValue] = [.service: .text("s")]
        if let group { attributes[.accessGroup] = .text(group) }
        return try await store.add(NewItem(.genericPassword, attributes), secret: SecretBytes(text: "x"))
      }
      let (typed, own, theirs) = (try await add(AccessGroup.commandLine), try await add(nil), try await add("theirs"))
      #expect(own.attributes[.accessGroup] == .text(AccessGroup.own))
      func found(_ search: ItemSearch) async throws -> [ItemID] { try await store.items(search).map(\.id) }
      #expect(try await found(ItemSearch(.genericPassword)) == [own.id, typed.id])
      #expect(try await found(ItemSearch(.genericPassword, groups: .all)) == [typed.id, own.id, theirs.id])
      #expect(try await found(ItemSearch(groups: .named(["theirs", AccessGroup.own]))) == [theirs.id, own.id])
      #expect(try await found(ItemSearch(.genericPassword, limit: 1)) == [own.id])
      #expect(try await found(ItemSearch(ids: [theirs.id])) == [theirs.id], "an item that is named is found")
      #expect(try await store.delete(ItemSearch(.genericPassword)) == 1)
      #expect(try await found(ItemSearch(.genericPassword, groups: .all)) == [typed.id, theirs.id])
      // Removing the group puts the item into the program's own group.
      try await store.update([theirs.id], ItemChange(attributes: [.accessGroup: nil]))
      #expect(try await store.items(ItemSearch(.genericPassword))[0].id == theirs.id)
    }

    @Test("a program's access group is the bundle identifier in the Info.plist beside it, or else its own name")
    func derivation() throws {
      let folder = keychain.scratch.folder
      func group(_ plist: String?) throws -> String {
        let path = "\(folder)/Info.plist"
        if let plist {
          let head = #"<?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict>"#
          try "\(head)\(plist)</dict></plist>".write(toFile: path, atomically: true, encoding: .utf8)
        }
        return AccessGroup.own(ofExecutable: "\(folder)/notes")
      }
      let identifier = "<key>CFBundleIdentifier</key><string>com.example.notes</string>"
      #expect(try group(nil) == "notes")
      #expect(try group(identifier) == "com.example.notes")
      #expect(try group("\(identifier)<key>CFBundleExecutable</key><string>notes</string>") == "com.example.notes")
      #expect(try group("\(identifier)<key>CFBundleExecutable</key><string>other</string>") == "notes")
      #expect(try group("<key>CFBundleIdentifier</key><string></string>") == "notes")
      #expect(try group("<key>CFBundleIdentifier</key><integer>5</integer>") == "notes")
      #expect(try group("<key>broken") == "notes")
    }
  }
}
