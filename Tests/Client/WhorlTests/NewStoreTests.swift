import Primitives
import ProgramDriver
import SecretModel
import Testing
import VaultDriver
import Whorl

/// The library with the real `whorld`.
@Suite("A program that makes its store")
struct NewStoreTests {
  struct Unshown: Error {}

  private func configuration(in folder: String) throws -> String {
    let path = folder + "/config.json"
    try writeFile(path, Array("{\"vaultProgram\": \"\(try Programs.path("whorld"))\"}".utf8))
    return path
  }

  @Test("a program that finds no store creates one with SecretStore.create, and uses it")
  func makes() async throws {
    try await withFolder { folder in
      let (place, configuration) = (folder + "/store", try configuration(in: folder))
      #expect(throws: VaultError.storeNotFound(place)) {
        try SecretStore.open(at: place, configuration: configuration)
      }
      var recoveryKey = ""
      let store = try await SecretStore.create(
        at: place, passcode: SecretBytes(text: "correct horse"), configuration: configuration
      ) { recoveryKey = $0.copy().text }
      #expect(!recoveryKey.isEmpty)
      #expect(try await store.passcodeIsSet())
      let item = NewItem(.genericPassword, [.service: .text("mail")])
      let id = try await store.add(item, secret: SecretBytes(text: "secret")).id
      let again = try SecretStore.open(at: place, configuration: configuration)
      #expect(try await again.secrets(of: [id])[0].text == "secret")
      await #expect(throws: VaultError.storeExists(place)) {
        try await SecretStore.create(at: place, passcode: nil, configuration: configuration) { _ in }
      }
    }
  }

  @Test("SecretStore.create leaves no store if the recovery key could not be shown")
  func unshown() async throws {
    try await withFolder { folder in
      let configuration = try configuration(in: folder)
      await #expect(throws: Unshown.self) {
        try await SecretStore.create(at: folder + "/store", passcode: nil, configuration: configuration) { _ in
          throw Unshown()
        }
      }
      #expect(try folderEntries(folder) == ["config.json"])
    }
  }
}
