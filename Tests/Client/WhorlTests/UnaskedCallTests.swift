import Primitives
import SecretModel
import Synchronization
import Testing
import VaultDriver
import Whorl

@Suite("A call without a context")
struct UnaskedCallTests {
  /// Counts the calls whose end was reported to it.
  private final class CountingPrompt: AuthenticationPrompt {
    private let calls = Mutex(0)
    var count: Int { calls.withLock { $0 } }

    func handle(_ event: AuthenticationEvent, in session: PromptSession) async {
      if case .secretWanted = event { await session.cancel() }
    }
    func finished(in session: PromptSession) async { calls.withLock { $0 += 1 } }
  }

  @Test("an update without a context creates a context only if the item needs a prompt")
  func updates() async throws {
    let vault = try await EndingVault()
    let prompt = CountingPrompt()
    let store = vault.store(prompt: prompt)
    let open = try await store.add(NewItem(.genericPassword, [.service: .text("a")]), secret: SecretBytes(text: "1"))
    try await store.update([open.id], ItemChange(attributes: [.label: .text("x")]), secret: SecretBytes(text: "2"))
    try await store.update(ItemSearch(.genericPassword), ItemChange(attributes: [.label: .text("y")]))
    #expect(try await store.items(ItemSearch(.genericPassword)).map(\.attributes[.label]) == [.text("y")])
    #expect(prompt.count == 0)
    let guarded = try await store.add(
      NewItem(.genericPassword, [.service: .text("b")], access: AccessControl(.passcode)),
      secret: SecretBytes(text: "1"))
    await #expect(throws: VaultError.self) {
      try await store.update([guarded.id], ItemChange(accessibility: .afterFirstUnlock))
    }
    #expect(prompt.count == 1)
  }

  @Test("an update by a search that has no match fails with itemGone")
  func nothingMeant() async throws {
    let store = try await EndingVault().store()
    await #expect(throws: VaultError.itemGone) {
      try await store.update(ItemSearch(.genericPassword), ItemChange(attributes: [.label: .text("y")]))
    }
  }
}
