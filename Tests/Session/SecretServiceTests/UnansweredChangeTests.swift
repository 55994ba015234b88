import Presence
import Primitives
import ProgramDriver
import SDBus
import SecretModel
import SecretService
import Synchronization
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore
import Whorl

@Suite("The vault ends before it answers the Secret Service")
struct UnansweredChangeTests {
  @Test(
    "an item that is stored while the vault ends is sent again, and announced as new or changed")
  func items() async throws {
    try await EndingVault.with { bus, vault, _ in
      let client = try await ServiceClient(bus)
      let session = try await client.plainSession()
      vault.end(during: .add)
      let item = try await client.create("s", label: "l", ["a": "b"], replace: true, session: session)
      #expect(vault.count(of: .add) == 2)
      #expect(try await client.signal("ItemCreated", of: ServiceClient.login).arguments == [.objectPath(item)])
      #expect(try await client.changed("Items", of: ServiceClient.login) == .array(of: "o", [.objectPath(item)]))
      #expect(!client.hasSignal("ItemChanged", of: ServiceClient.login))
      vault.end(during: .add)
      #expect(try await client.create("t", label: "l", ["a": "b"], replace: true, session: session) == item)
      #expect(try await client.signal("ItemChanged", of: ServiceClient.login).arguments == [.objectPath(item)])
      #expect(try await client.secret(item, session: session).text == "t")
    }
  }

  @Test("a secret that is set while the vault ends is sent again")
  func endedContext() async throws {
    try await EndingVault.with { bus, vault, _ in
      let client = try await ServiceClient(bus)
      let session = try await client.plainSession()
      let item = try await client.create("s", label: "l", ["a": "b"], session: session)
      vault.end(during: .update)
      _ = try await client.call(
        item, "Item", "SetSecret", [ServiceClient.structure("t", "text/plain", session)])
      #expect(vault.count(of: .update) == 2)
      #expect(try await client.secret(item, session: session).text == "t")
    }
  }

  @Test("a collection's alias or label that is set while the vault ends is sent again")
  func collections() async throws {
    try await EndingVault.with { bus, vault, _ in
      let client = try await ServiceClient(bus)
      let root = ServiceClient.root
      func alias(_ name: String) async throws -> String? {
        try await client.call(root, "Service", "ReadAlias", [.string(name)]).first?.asObjectPath
      }
      let label = "org.freedesktop.Secret.Collection.Label"
      let made = try await client.call(
        root, "Service", "CreateCollection", [.dictionary([label: .string("Mine")]), .string("")])
      let mine = try #require(made.first?.asObjectPath)
      vault.end(during: .add)
      #expect(await client.error(root, "Service", "SetAlias", [.string("own"), .objectPath(mine)]) == nil)
      #expect(try await alias("own") == mine)
      vault.end(during: .add)
      try await client.set(mine, "Collection", "Label", .string("Ours"))
      #expect(try await client.property(mine, "Collection", "Label") == .string("Ours"))
      // The label of the collection that has the alias already.
      vault.end(during: .add)
      let again = try await client.call(
        root, "Service", "CreateCollection", [.dictionary([label: .string("Theirs")]), .string("own")])
      #expect(again.first?.asObjectPath == mine)
      #expect(try await client.property(mine, "Collection", "Label") == .string("Theirs"))
      vault.end(during: .add, times: 2)
      let error = await client.error(root, "Service", "SetAlias", [.string("other"), .objectPath(mine)])
      #expect(error == "OutcomeUnknown")
    }
  }

  @Test("the first unlock is asked for again if the vault ends, and two failed tries do not count as dismissed")
  func unlock() async throws {
    try await EndingVault.with(firstUnlock: .passcode) { bus, vault, store in
      let client = try await ServiceClient(bus)
      let login = ServiceClient.login
      vault.end(during: .unlock, times: 2)
      let inVain = try await client.show(try await client.change("Unlock", [login]).prompt)
      #expect(inVain == (false, []))
      #expect(vault.count(of: .unlock) == 2)
      #expect(try await client.property(login, "Collection", "Locked") == .boolean(true))
      vault.end(during: .unlock)
      #expect(try await client.show(try await client.change("Unlock", [login]).prompt) == (false, [login]))
      #expect(try await store.awaitsFirstUnlock() == false)
    }
  }

  @Test("an open item's secret is not requested from a locked vault, which would log that as a failed read")
  func locked() async throws {
    try await EndingVault.with(firstUnlock: .passcode) { bus, vault, _ in
      let client = try await ServiceClient(bus)
      let session = try await client.plainSession()
      _ = try await client.show(try await client.change("Unlock", [ServiceClient.login]).prompt)
      let item = try await client.create("s", label: "l", ["a": "b"], session: session)
      try await vault.lock()
      #expect(await client.error(item, "Item", "GetSecret", [.objectPath(session)]) == "IsLocked")
      #expect(vault.count(of: .openSecrets) == 1 && vault.count(of: .secrets) == 0)
    }
  }

  @Test("the secret of an item with a rule is requested from the vault once, at the prompt")
  func releasedOnce() async throws {
    try await EndingVault.with { bus, vault, store in
      let client = try await ServiceClient(bus)
      let session = try await client.plainSession()
      let item = try await client.create("s", label: "l", ["a": "b"], session: session)
      let ids = try await store.items(SecretServiceItem.search()).map(\.id)
      try await store.update(ids, SecretServiceItem.change(access: AccessControl(.passcode), grant: .brief))
      #expect(try await client.secret(item, session: session).text == "s")
      #expect(vault.count(of: .secrets) == 1)
      // The secret can be read again while the touch is valid.
      #expect(try await client.secret(item, session: session).text == "s")
      #expect(vault.count(of: .secrets) == 2)
    }
  }

  @Test("GetSecrets asks the vault once for all open items among several, whatever is left out")
  func leftOut() async throws {
    try await EndingVault.with { bus, vault, store in
      let client = try await ServiceClient(bus)
      let session = try await client.plainSession()
      var paths: [String] = []
      for number in 0..<10 {
        paths.append(try await client.create("\(number)", label: "l", ["n": "\(number)"], session: session))
      }
      let gated = try await store.items(SecretServiceItem.search()).prefix(8).map(\.id)
      for id in gated {
        try await store.update([id], SecretServiceItem.change(access: AccessControl(.passcode), grant: .brief))
      }
      #expect(try await RunningSecretService.secrets(of: paths, on: bus) == ["8", "9"])
      #expect(vault.count(of: .openSecrets) == 1)
    }
  }
}
