import Presence
import Primitives
import SecretModel
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore

@Suite("A session of a vault")
struct SessionTests {
  let store: ScratchStore
  let session: VaultSession
  let other: VaultSession

  init() async throws {
    store = try await ScratchStore()
    let vault = try store.open()
    session = try VaultSession(of: vault, for: Caller(user: vault.owner))
    other = try VaultSession(of: vault, for: Caller(user: vault.owner))
  }

  @Test("a vault session refuses contexts of another session, and does not affect them")
  func handles() async throws {
    let (handle, events) = try await session.openContext(ContextOptions())
    await #expect(throws: VaultError.contextInvalidated) { try await other.unlock(Asking(in: handle)) }
    await #expect(throws: VaultError.contextInvalidated) { _ = try await other.items(ItemSearch(), Asking(in: handle)) }
    await other.closeContext(handle, reason: .person)
    // The context is still open: the first session is asked for a passcode.
    let unlocked = Task { try await session.unlock(Asking(in: handle)) }
    for await numbered in events {
      guard case .secretWanted(.passcode) = numbered.event else { continue }
      await other.respond(handle, .cancel)
      await session.respond(handle, .secret(question: numbered.number, SecretBytes(text: ScratchStore.passcode)))
      break
    }
    try await unlocked.value
  }

  @Test("a vault session ends its contexts when it is closed, and no others")
  func closing() async throws {
    let (handle, events) = try await session.openContext(ContextOptions())
    let (others, _) = try await other.openContext(ContextOptions(interactionNotAllowed: true))
    let unlocked = Task { try await session.unlock(Asking(in: handle)) }
    for await numbered in events {
      if case .secretWanted = numbered.event { await session.close() }
    }
    await #expect(throws: VaultError.systemCancelled) { try await unlocked.value }
    await #expect(throws: VaultError.contextInvalidated) { try await session.unlock(Asking(in: handle)) }
    await #expect(throws: VaultError.interactionNotAllowed) { try await other.unlock(Asking(in: others)) }
  }

  @Test("a vault session shows no prompt for a call without a context")
  func nobody() async throws {
    await #expect(throws: VaultError.interactionNotAllowed) { try await session.unlock(.nobody) }
    await #expect(throws: VaultError.interactionNotAllowed) {
      _ = try await session.evaluate(.policy(.deviceOwner), .nobody)
    }
  }

  @Test("a vault session finds, releases, changes and removes items by id, by name and by a search")
  func items() async throws {
    let names = try ["mail/alice", "mail/bob"].map { try ItemName(parsing: $0) }
    for name in names {
      let added = try await session.add(
        NewItem(named: name, access: .none), secret: SecretBytes(text: name.account), replacing: false, .nobody)
      #expect(added.name == name)
    }
    let search = ItemSearch(.genericPassword, [.service: .text("mail")])
    let found = try await session.items(search, .nobody)
    #expect(found.items.map(\.name) == names)
    #expect(found.next == nil)
    for selection in [ItemSelection.ids(found.items.map(\.id)), .names(names), .search(search)] {
      let released = try await session.secrets(selection, .nobody)
      #expect(released.map(\.text) == ["alice", "bob"])
      #expect(released.map(\.item) == found.items)
    }
    await #expect(throws: VaultError.itemGone) {
      _ = try await session.secrets(.names([ItemName(parsing: "mail/carol")]), .nobody)
    }
    let changed = try await session.update(
      .names([names[0]]), ItemChange(), secret: SecretBytes(text: "new"), .nobody)
    #expect(changed == 1)
    #expect(try await session.secrets(.names(names), .nobody).map(\.text) == ["new", "bob"])
    #expect(try await session.delete(.names([names[0]])) == 1)
    #expect(try await session.delete(.ids(found.items.map(\.id))) == 1)
    await #expect(throws: VaultError.itemGone) { _ = try await session.delete(.search(search)) }
  }
}

@Suite("Rules about who may enrol")
struct SessionRuleTests {
  @Test("accepting fprintd's fingers and leaving libfprint need the permission to enrol")
  func adapters() async throws {
    let image = try await ImageReaderStore()
    let vault = try image.store.open(reader: image.process)
    _ = try await image.enroll(.rightIndex, in: vault)
    let refused = VaultError.notAuthorized(.denied, action: "enrolment")
    let session = try VaultSession(
      of: vault, for: Caller(user: vault.owner),
      rules: FingerRules(
        change: { () throws(VaultError) in }, enrolment: { () throws(VaultError) in throw refused },
        owner: { (_) throws(VaultError) in }))
    for adapter in [ReaderAdapter.fprintd, nil] {
      await #expect(throws: refused) {
        try await Person(passcodes: [ScratchStore.passcode]).with(session) {
          try await session.useAdapter(adapter, Asking(in: $0))
        }
      }
      #expect(try await session.status().adapter == .libfprint)
    }
    try await Person(passcodes: [ScratchStore.passcode]).with(session) {
      try await session.useAdapter(.libfprint, Asking(in: $0))
    }
    await vault.shutdown()
  }
}

@Suite("A match that is reused")
struct SessionMatchTests {
  @Test("a match can be reused in the vault session that it was made in, and in no other")
  func reuse() async throws {
    let image = try await ImageReaderStore()
    let vault = try image.store.open(reader: image.process)
    _ = try await image.enroll(.rightIndex, in: vault)
    let first = try VaultSession(of: vault, for: Caller(user: vault.owner))
    let second = try VaultSession(of: vault, for: Caller(user: vault.owner))
    let state = try await Person(touches: [image.press(.rightIndex)]).with(first, .keepingEvidence(.never)) {
      try await first.evaluate(.policy(.biometrics), Asking(in: $0))
    }
    #expect(state != nil)
    #expect(try await state == first.biometry().state)
    var reusing = ContextOptions.keepingEvidence(.never)
    (reusing.interactionNotAllowed, reusing.reuseDuration) = (true, .seconds(60))
    for (session, isReused) in [(first, true), (second, false)] {
      let (handle, _) = try await session.openContext(ContextOptions())
      // The options come with the call.
      let asking = Asking(in: handle, options: reusing)
      if isReused {
        #expect(try await session.evaluate(.policy(.biometrics), asking) == state)
      } else {
        await #expect(throws: VaultError.interactionNotAllowed) {
          _ = try await session.evaluate(.policy(.biometrics), asking)
        }
      }
    }
    await vault.shutdown()
  }
}
