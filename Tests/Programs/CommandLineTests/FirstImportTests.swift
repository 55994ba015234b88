import ProgramDriver
import Testing

@Suite("The first import from a desktop")
struct FirstImportTests {
  @Test(
    "secret-service import copies nothing where no program has passwords yet, and names a wallet that nobody serves")
  func nothingYet() async throws {
    try await TestStore.with { store in
      try await PrivateBus.with { bus in
        let places = [
          "DBUS_SESSION_BUS_ADDRESS": bus.address, "HOME": store.folder, "XDG_DATA_HOME": "\(store.folder)/data",
        ]
        let first = try await store.whorl("secret-service", "import", environment: places)
        #expect(first.status == 0 && first.diagnostics.contains("there is nothing to copy"), "\(first.diagnostics)")
        let json = try await store.whorl("secret-service", "import", "--json", environment: places)
        #expect(json.status == 0 && json.text.contains(#""brought":[]"#), "\(json.text)")
        for folder in ["data", "data/kwalletd"] { #expect(mkdirPrivate("\(store.folder)/\(folder)")) }
        try writeFile("\(store.folder)/data/kwalletd/kdewallet.kwl", [1])
        let wallet = try await store.whorl("secret-service", "import", environment: places)
        #expect(wallet.status == 69, "\(wallet.diagnostics)")
        #expect(wallet.failure.contains("there are passwords in \(store.folder)/data/kwalletd/kdewallet.kwl"))
      }
    }
  }
}
