import Primitives
import SecretModel
import Synchronization
import Testing
import VaultDriver
import Whorl

@Suite("A request that may ask a person")
struct InquiryTests {
  /// Gives the passcode, after an action at the first question, and counts the questions.
  private final class Answering: AuthenticationPrompt {
    private let questions = Mutex(0)
    private let atFirst: @Sendable () -> Void
    var count: Int { questions.withLock { $0 } }

    init(atFirst: @escaping @Sendable () -> Void = {}) { self.atFirst = atFirst }

    func handle(_ event: AuthenticationEvent, in session: PromptSession) async {
      guard case .secretWanted = event else { return }
      let number = questions.withLock { questions in
        questions += 1
        return questions
      }
      if number == 1 { atFirst() }
      await session.answer(SecretBytes(text: ScratchStore.passcode))
    }
  }

  private func add(_ name: String, _ access: AccessControl, to store: SecretStore) async throws -> ItemID {
    let item = NewItem(.genericPassword, [.service: .text(name)], access: access)
    return try await store.add(item, secret: SecretBytes(text: name)).id
  }

  private func read(_ id: ItemID, in store: SecretStore, _ inquiry: Inquiry) async throws -> String {
    try await inquiry.ask(in: store) { vault, asking throws(VaultError) in
      try await vault.secrets(.ids([id]), asking)[0].text
    }
  }

  @Test("a request asks nobody for an item that needs nobody, and once for one that needs the passcode")
  func silently() async throws {
    let store = try await EndingVault(takesPasscode: true).store()
    let (open, guarded) = (
      try await add("open", AccessControl(.none), to: store),
      try await add("guarded", AccessControl(.passcode), to: store)
    )
    let prompt = Answering()
    #expect(try await read(open, in: store, Inquiry("test", prompt: prompt)) == "open")
    #expect(prompt.count == 0)
    #expect(try await read(guarded, in: store, Inquiry("test", prompt: prompt)) == "guarded")
    #expect(prompt.count == 1)
    var inquiry = Inquiry("test", prompt: prompt)
    inquiry.mayAsk = false
    await #expect(throws: VaultError.interactionNotAllowed) { try await read(guarded, in: store, inquiry) }
    #expect(prompt.count == 1)
  }

  @Test("the passcode of a first unlock is asked for once, and only where the program says so")
  func firstUnlock() async throws {
    for firstUnlock in [Inquiry.FirstUnlock.together, .apart] {
      let vault = try await EndingVault(takesPasscode: true)
      let id = try await add("everyday", AccessControl(.none), to: vault.store())
      vault.end()
      try await makeWaitForPasscode(storeAt: vault.path, passcode: ScratchStore.passcode)
      let prompt = Answering()
      var inquiry = Inquiry("test", prompt: prompt)
      await #expect(throws: VaultError.self) { try await read(id, in: vault.store(), inquiry) }
      #expect(prompt.count == 0)
      inquiry.firstUnlock = firstUnlock
      #expect(try await read(id, in: vault.store(), inquiry) == "everyday")
      #expect(prompt.count == 1, "\(firstUnlock)")
    }
  }

  @Test("a request is made again where the vault ends meanwhile, if the program says so")
  func endedVault() async throws {
    let vault = try await EndingVault(takesPasscode: true)
    let id = try await add("guarded", AccessControl(.passcode), to: vault.store())
    let prompt = Answering { vault.end() }
    var inquiry = Inquiry("test", prompt: prompt)
    await #expect(throws: VaultError.systemCancelled) { try await read(id, in: vault.store(), inquiry) }
    let again = Answering { vault.end() }
    inquiry.prompt = again
    inquiry.repeatsWhereVaultEnds = true
    #expect(try await read(id, in: vault.store(), inquiry) == "guarded")
    #expect(again.count == 2)
  }

  @Test("a kept touch counts for its purpose until it is forgotten, and asks nobody again")
  func kept() async throws {
    let store = try await EndingVault(takesPasscode: true).store()
    let id = try await add("guarded", AccessControl(.passcode), to: store)
    let (prompt, kept) = (Answering(), KeptTouches<String>())
    func reuse(_ purpose: String) async throws -> String? {
      try await kept.reuse(purpose) { context throws(VaultError) in
        try await store.secrets(of: [id], using: context)[0].text
      }
    }
    let read: AskingRequest<String, VaultError> = { vault, asking throws(VaultError) in
      try await vault.secrets(.ids([id]), asking)[0].text
    }
    _ = try await Inquiry("test", prompt: prompt).ask(
      in: store, keep: { kept.keep($0, for: "one", lasting: nil) }, read)
    #expect(try await reuse("one") == "guarded")
    #expect(try await reuse("two") == nil)
    kept.forget { $0 == "one" }
    #expect(try await reuse("one") == nil)
    #expect(prompt.count == 1)
  }

  @Test("a kept touch ends after its time, and the one that ends first makes room for another")
  func limits() async throws {
    let store = try await EndingVault(takesPasscode: true).store()
    let kept = KeptTouches<Int>(limit: 2)
    kept.keep(store.makeContext(), for: 0, lasting: .zero)
    #expect(kept.context(for: 0) == nil)
    kept.keep(store.makeContext(), for: 1, lasting: nil)
    kept.keep(store.makeContext(), for: 2, lasting: .seconds(60))
    kept.keep(store.makeContext(), for: 3, lasting: nil)
    #expect([1, 2, 3].map { kept.context(for: $0) != nil } == [true, false, true])
  }
}
