import OtherStores
import ProgramDriver
import SecureMemory
import Testing
import VaultDriver
import Whorl

@Suite("Reading GNOME Keyring, with the real one", .withKeyring)
struct KeyringImportTests {
  @Test("items come with their secrets and attributes")
  func items() async throws {
    try await PrivateBus.with { bus in
      try await KeyringDaemon.with(bus: bus.address) { daemon in
        try await daemon.secretTool(
          "store", "--label=Forge", "service", "forge", "username", "alice", input: "a secret of GNOME Keyring"
        ).mustSucceed()
        let store = try await SecretServiceStore(onBus: bus.address)
        let entry = try #require(store.entries.first { $0.name.description == "forge/alice" })
        let item = try #require(try await store.items(of: entry).first)
        #expect(item.secret.text == "a secret of GNOME Keyring")
        #expect(item.attributes[.label] == .text("Forge"))
      }
    }
  }
}
