import Primitives
import SecretModel
import Testing
import VaultDriver
import Whorl

@Suite("Calls of one context at the same time")
struct ConcurrentCallTests {
  /// Cancels what it is asked.
  private struct CancellingPrompt: AuthenticationPrompt {
    func handle(_ event: AuthenticationEvent, in session: PromptSession) async {
      if case .secretWanted = event { await session.cancel() }
    }
  }

  @Test("simultaneous calls of one context all use the application password that was set before them")
  func applicationPassword() async throws {
    let vault = try await EndingVault()
    let store = vault.store(prompt: CancellingPrompt())
    let setting = store.makeContext()
    setting.setApplicationPassword(SecretBytes(text: "own"))
    let item = try await store.add(
      NewItem(.genericPassword, [.service: .text("a")], access: AccessControl(.none, applicationPassword: true)),
      secret: SecretBytes(text: "of a"), using: setting)
    for _ in 1...2 {
      let context = store.makeContext()
      context.setApplicationPassword(SecretBytes(text: "own"))
      try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 1...4 { group.addTask { try await store.secrets(of: [item.id], using: context)[0].text } }
        for try await text in group { #expect(text == "of a") }
      }
    }
  }
}
