import ProgramDriver
import SecureMemory
import Testing

@Suite("Importing from a real KWallet", .withKWallet)
struct KWalletImportTests {
  @Test("whorl secret-service import copies KWallet's entries, and a second run copies none")
  func command() async throws {
    try await TestStore.with { store in
      try await KWalletDesktop.with { desktop in
        try await desktop.start(with: try desktop.key(of: KWalletDesktop.password).bytes)
        let places = ["DBUS_SESSION_BUS_ADDRESS": desktop.bus]
        let status = try await store.whorl("secret-service", "status", environment: places)
        #expect(status.text.contains("KWallet (/"), "\(status.text)")
        let first = try await store.whorl("secret-service", "import", environment: places)
        #expect(first.status == 0 && first.diagnostics.hasPrefix("Copied 1 item.\n"), "\(first.diagnostics)")
        // KWallet has no attributes for what KDE's own programs store.
        let list = try await store.whorl("secret-service", "list").text
        #expect(list.contains("collection\tlogin\tkdewallet\t"), "\(list)")
        let item = try #require(list.split(separator: "\n").first { $0.contains("\tfolder/site\t") })
        let id = try #require(item.split { $0 == " " || $0 == "\t" }.first { $0.hasPrefix("id:") })
        #expect(try await store.whorl("get", String(id)).text == "in the wallet")
        let again = try await store.whorl("secret-service", "import", environment: places)
        #expect(again.diagnostics.hasPrefix("Copied 0 items.\n"), "\(again.diagnostics)")
      }
    }
  }
}
