import Primitives
import SecretModel
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("Login entries")
struct LoginItemTests {
  @Test("a login entry is found by its content and kind, with its secret")
  func roundTrip() async throws {
    let store = try await ScratchStore()
    let session = VaultSession(of: try store.open())
    try await session.store(LoginItem(.gnomeKeyring, name: "login"), "keyring secret")
    try await session.store(LoginItem(.kwallet, name: "kdewallet"), "wallet secret")
    try await session.store(LoginItem(.passcode), "")
    for (entry, secret) in [
      (LoginItem(.gnomeKeyring, name: "login"), "keyring secret"),
      (LoginItem(.kwallet, name: "kdewallet"), "wallet secret"),
      (LoginItem(.passcode), ""),
    ] {
      for search in [ItemSearch(entry), ItemSearch(loginItemsOf: entry.kind)] {
        let found = try await session.secrets(.search(search), .nobody)
        #expect(found.map { LoginItem($0.item) } == [entry])
        #expect(found.map(\.text) == [secret])
      }
    }
    #expect(try await session.allItems(ItemSearch(loginItemsOf: nil)).count == 3)
    #expect(try await session.allItems(ItemSearch(LoginItem(.gnomeKeyring, name: "other"))).isEmpty)
  }

  @Test("a login entry that delivers another item refers to that item, and is closed until the first unlock like it")
  func source() async throws {
    let store = try await ScratchStore()
    let session = VaultSession(of: try store.open())
    let key = try await session.add(
      NewItem(.genericPassword, [.service: .text("ssh")], accessibility: .afterFirstUnlock),
      secret: SecretBytes(text: "passphrase"), replacing: false, .nobody)
    let entry = LoginItem(.file, name: "ssh-passphrase", source: key.id)
    let stored = try await session.store(entry, "")
    #expect(LoginItem(stored) == entry)
    #expect(stored.accessibility == .afterFirstUnlock)
    #expect(stored.access == .none)
    #expect(try await session.allItems(ItemSearch(entry)).map { LoginItem($0)?.source } == [key.id])
  }

  @Test("items that are not login entries are not read as such")
  func others() async throws {
    let store = try await ScratchStore()
    let session = VaultSession(of: try store.open())
    let group: AttributeValue = .text(LoginItem.accessGroup)
    for (itemClass, attributes) in [
      (ItemClass.genericPassword, [.service: .text("gnome-keyring")]),
      (.genericPassword, [.service: .text("something"), .accessGroup: group]),
      (.genericPassword, [.service: .text("file"), .account: .text("no source"), .accessGroup: group]),
      (
        .genericPassword,
        [.service: .text("kwallet"), .account: .text("source"), .accessGroup: group, .loginSource: .bytes([1])]
      ),
      (.genericPassword, [.service: .text("kwallet"), .account: .bytes([1]), .accessGroup: group]),
      (.internetPassword, [.server: .text("kwallet"), .accessGroup: group]),
    ] as [(ItemClass, [AttributeName: AttributeValue])] {
      let item = try await session.add(
        NewItem(itemClass, attributes), secret: SecretBytes(count: 0), replacing: false, .nobody)
      #expect(LoginItem(item) == nil, "\(attributes)")
    }
  }
}

extension VaultSession {
  @discardableResult
  fileprivate func store(_ entry: LoginItem, _ secret: String) async throws -> Item {
    try await add(NewItem(entry), secret: SecretBytes(text: secret), replacing: false, .nobody)
  }
}
