import Presence
import Primitives
import ProgramDriver
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore

/// A destructive call without conditions is refused, and deletes nothing.
@Suite("Destructive calls without a target")
struct DestructiveCallTests {
  @Test("the vault deletes nothing for a search without a class, items or an attribute")
  func vault() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("mail/alice", "one")
    try await vault.put("web", "two")
    let searches = [
      ItemSearch(), ItemSearch(synchronizable: .any), ItemSearch(ignoresCase: true), ItemSearch(limit: 1),
      ItemSearch(groups: .all), ItemSearch(groups: .named([AccessGroup.commandLine])),
      ItemSearch(nil, [.accessGroup: .text(AccessGroup.commandLine)]), ItemSearch(nil, [.label: .text("")]),
    ]
    for search in searches {
      await #expect(throws: VaultError.invalidRequest("name what to delete: a class, items or an attribute")) {
        _ = try await vault.delete(.search(search))
      }
    }
    await #expect(throws: VaultError.itemGone) {
      _ = try await vault.delete(.search(ItemSearch(ids: [])))
    }
    try await vault.delete([])
    #expect(try await vault.status().items == 2)
  }

  @Test(
    "whorl rm and unenroll without names, and passcode --remove without the passcode, remove nothing",
    arguments: [["rm"], ["rm", ""], ["rm", "/"], ["unenroll"], ["passcode", "--remove"]])
  func commandLine(_ words: [String]) async throws {
    try await TestStore.enrolled { store in
      let listed = try await store.whorl("ls").text
      let result = try await Invocation(arguments: store.arguments(words)).run()
      #expect(result.status == 64 || result.status == 77, "\(words): \(result.diagnostics)")
      #expect(result.output.isEmpty)
      #expect(result.diagnostics.split(separator: "\n").count == 1, "\(result.diagnostics)")
      #expect(try await store.whorl("ls").text == listed)
      #expect(try await store.whorl("fingers").text.contains("right-index"))
      guard words[0] == "passcode" else { return }
      #expect(try await store.call("get", "presence", passcode: [TestStore.passcode]).run().text == "presence")
    }
  }
}
