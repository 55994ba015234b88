import Keys
import Presence
import Primitives
import SecretModel
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore

@Suite("The owner of a store")
struct OwnerTests {
  @Test("stores of two users work side by side in one process, and refuse each other's callers")
  func twoUsers() async throws {
    let users: [UInt32] = [1000, 1001]
    var sessions: [VaultSession] = []
    let stores = [try await ScratchStore(owner: 1000), try await ScratchStore(owner: 1001)]
    for (store, user) in zip(stores, users) {
      let vault = try store.open()
      sessions.append(try VaultSession(of: vault, for: Caller(user: user)))
      for other in users + [0] where other != user {
        #expect(throws: VaultError.self) { try VaultSession(of: vault, for: Caller(user: other)) }
      }
    }
    let name = try ItemName(parsing: "mail/alice")
    for (session, user) in zip(sessions, users) {
      _ = try await session.add(
        NewItem(named: name, access: AccessControl(.passcode)), secret: SecretBytes(text: "of \(user)"),
        replacing: false, .nobody)
    }
    for (session, user) in zip(sessions, users) {
      let text = try await Person(passcodes: [ScratchStore.passcode]).with(session) {
        try await session.secrets(.names([name]), Asking(in: $0))[0].text
      }
      #expect(text == "of \(user)")
    }
    withExtendedLifetime(stores) {}
  }

  @Test("wrong passcodes of one user are counted for that user only")
  func lockout() async throws {
    let stores = [try await ScratchStore(owner: 1000), try await ScratchStore(owner: 1001)]
    let vaults = try stores.map { try $0.open() }
    let sessions = try zip(vaults, stores).map { try VaultSession(of: $0, for: Caller(user: $1.owner)) }
    for _ in 1...2 {
      _ = try? await Person(passcodes: ["wrong", "wrong", "wrong"]).with(sessions[0]) {
        try await sessions[0].unlock(Asking(in: $0))
      }
    }
    #expect(try await sessions[0].status().passcodeDelay > 0)
    #expect(try await sessions[1].status().passcodeDelay == 0)
  }

  @Test("a store that is opened for another user shows none of its items")
  func foreignItems() async throws {
    let store = try await ScratchStore(owner: 1000)
    let vault = try store.open()
    let item = try await vault.add("item", [])
    let foreign = try Vault(at: store.path, desk: NoReader.desk, owner: 1001, floor: .weakForTests)
    let session = try VaultSession(of: foreign, for: Caller(user: 1001))
    #expect(try await session.allItems(.everything).isEmpty)
    await #expect(throws: VaultError.itemGone) { _ = try await session.secrets(.ids([item]), .nobody) }
    #expect(try await session.delete(.ids([item])) == 0)
    #expect(try await vault.items(.everything).count == 1)
  }
}
