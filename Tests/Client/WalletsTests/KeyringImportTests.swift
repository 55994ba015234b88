import Moving
import Primitives
import ProgramDriver
import SecretModel
import Testing
import VaultDriver

@Suite("Importing from a real GNOME Keyring", .withKeyring)
struct KeyringImportTests {
  @Test("items of GNOME Keyring are read with their secrets and attributes")
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

  @Test(
    "whorl secret-service import copies GNOME Keyring's items once, without those of the session's collection"
  )
  func command() async throws {
    try await TestStore.with { store in
      try await PrivateBus.with { bus in
        try await KeyringDaemon.with(bus: bus.address) { daemon in
          try await daemon.secretTool(
            "store", "--label=Forge", "service", "forge", "username", "alice", input: "a secret of GNOME Keyring"
          ).mustSucceed()
          try await daemon.secretTool(
            "store", "--label=Token", "app_id", "org.example.App", "xdg:schema", "org.freedesktop.portal.Secret",
            input: "a token"
          ).mustSucceed()
          try await daemon.secretTool(
            "store", "--label=Passing", "--collection=session", "a", "b", input: "for this session"
          ).mustSucceed()
          let places = ["DBUS_SESSION_BUS_ADDRESS": bus.address]
          for expected in ["Copied 2 items.", "2 items of it are in the store already, unchanged."] {
            let copied = try await store.whorl("secret-service", "import", environment: places)
            #expect(
              copied.status == 0 && copied.diagnostics.contains("\(expected)\nThe originals are"),
              "\(copied.diagnostics)")
          }
          let status = try await store.whorl("secret-service", "status", environment: places)
          #expect(status.text.contains("GNOME Keyring (/usr/bin/gnome-keyring-daemon)"), "\(status.text)")
          let lines = try await store.whorl("secret-service", "list").text.split(separator: "\n")
          let items = lines.filter { $0.hasPrefix("item\tlogin ") }.map { $0.split(separator: "\t") }
          #expect(items.map { $0[2] } == ["Forge", "Token"])
          // secret-tool adds its schema.
          #expect(items.first?[3].hasPrefix("service=forge, username=alice") == true, "\(lines)")
          #expect(items.last?[3] == "app_id=org.example.App, xdg:schema=org.freedesktop.portal.Secret", "\(lines)")
          let id = try #require(items.first?[1].split(separator: " ").last)
          #expect(try await store.whorl("get", String(id)).text == "a secret of GNOME Keyring")
        }
      }
    }
  }
}
