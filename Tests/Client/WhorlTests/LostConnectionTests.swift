import Primitives
import SecretModel
import Testing
import VaultDriver
import Whorl

@Suite("A store whose vault ends")
struct LostConnectionTests {
  let vault: EndingVault

  init() async throws { vault = try await EndingVault() }

  private func add(_ name: String, to store: SecretStore) async throws {
    let item = NewItem(.genericPassword, [.service: .text(name)])
    try await store.add(item, secret: SecretBytes(text: name))
  }

  private func names(in store: SecretStore) async throws -> [String?] {
    try await store.items(ItemSearch(.genericPassword)).map { $0.name?.service }
  }

  @Test("a SecretStore has no connection before its first call, and one for all calls")
  func lazy() async throws {
    let store = vault.store()
    #expect(vault.connections == 0)
    try await add("a", to: store)
    #expect(try await names(in: store) == ["a"])
    #expect(vault.connections == 1)
  }

  @Test("a SecretStore whose vault ended reconnects at the next call")
  func reopens() async throws {
    let store = vault.store()
    try await add("a", to: store)
    vault.end()
    try await eventually { try await names(in: store) == ["a"] && vault.connections == 2 }
    try await add("b", to: store)
    #expect(try await names(in: store) == ["a", "b"])
    #expect(vault.connections == 2)
  }

  @Test("the end of a vault ends the running call with systemCancelled and invalidates its context, but no new one")
  func runningCall() async throws {
    let store = vault.store(prompt: ActingPrompt { [vault] in vault.end() })
    let context = store.makeContext()
    await #expect(throws: VaultError.systemCancelled) {
      try await context.evaluate(AccessControl(.passcode), reason: "be asked")
    }
    await #expect(throws: VaultError.contextInvalidated) {
      try await context.evaluate(AccessControl(.none), reason: "go on")
    }
    try await store.makeContext().evaluate(AccessControl(.none), reason: "go on")
    #expect(vault.connections == 2)
  }

  @Test("the end of a vault invalidates the contexts of its store, also those without a prompt")
  func contexts() async throws {
    let store = vault.store()
    let context = store.makeContext()
    try await context.evaluate(AccessControl(.none), reason: "begin")
    vault.end()
    try await eventually {
      do {
        try await context.evaluate(AccessControl(.none), reason: "go on")
        return false
      } catch VaultError.contextInvalidated {
        return true
      }
    }
    #expect(try await names(in: store).isEmpty)
  }

  /// Waits until a condition holds, for ten seconds at most. A call may still be on its way when the vault ends.
  private func eventually(_ holds: () async throws -> Bool) async throws {
    for _ in 1...1_000 {
      if (try? await holds()) == true { return }
      try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("it does not become so")
  }
}
