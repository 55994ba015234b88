import Presence
import Primitives
import SecretModel
import Synchronization
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore

@Suite("The log of a session")
struct SessionLogTests {
  /// Keeps the entries in this process.
  private final class RecordedLog: AuditLog {
    private let recorded = Mutex<[AuditEntry]>([])

    func record(_ entry: AuditEntry) { recorded.withLock { $0.append(entry) } }
    func entries(_ search: AuditSearch) async throws(VaultError) -> [AuditEntry] { recorded.withLock { $0 } }

    /// The entries since the last time.
    func take() -> [AuditEntry] {
      recorded.withLock { entries in
        defer { entries = [] }
        return entries
      }
    }
  }

  private let log = RecordedLog()
  private let image: ImageReaderStore
  private let vault: Vault
  private let session: VaultSession
  private let name: ItemName

  init() async throws {
    image = try await ImageReaderStore()
    vault = try image.store.open(reader: image.process)
    session = try VaultSession(
      of: vault,
      for: Caller(
        user: vault.owner, process: Caller.ProcessInstance(id: 77, started: 1), label: "mail (org.example.Mail)"),
      log: log)
    name = try ItemName(parsing: "mail/alice")
  }

  private func add(_ constraint: AccessControl.Constraint) async throws -> ItemID {
    try await session.add(
      NewItem(named: name, access: AccessControl(constraint)), secret: SecretBytes(text: "gold"), replacing: true,
      .nobody
    ).id
  }

  @Test("a session's log has an entry for each call that asks somebody or changes something, also if refused")
  func everyCall() async throws {
    let (session, name) = (session, name)
    // Close the context, so that each call is refused before it does anything.
    let (handle, _) = try await session.openContext(ContextOptions())
    await session.closeContext(handle, reason: .program)
    let asking = Asking(in: handle)
    let item = NewItem(named: name, access: .none)
    let calls: [AuditEntry.Request: @Sendable () async throws -> Void] = [
      .read: { _ = try await session.secrets(.names([name]), asking) },
      .add: { _ = try await session.add(item, secret: SecretBytes(text: "gold"), replacing: false, asking) },
      .change: { _ = try await session.update(.names([name]), ItemChange(), secret: nil, asking) },
      .delete: { _ = try await session.delete(.names([name])) },
      .useKey: { _ = try await session.useKey(ItemID(bytes: [1]), .export, asking) },
      .makePasskey: {
        let user = Passkey.User(handle: [1], name: "", displayName: "")
        let hash = [UInt8](repeating: 0, count: 32)
        let new = NewPasskey(relyingParty: "example.com", user: user, isDiscoverable: true, clientDataHash: hash)
        _ = try await session.makePasskey(new, asking)
      },
      .assertPasskey: {
        _ = try await session.assertPasskeys([ItemID(bytes: [1])], PasskeyAssertion(clientDataHash: []), asking)
      },
      .evaluate: { _ = try await session.evaluate(.policy(.deviceOwner), asking) },
      .enroll: { _ = try await session.enroll(.leftThumb, asking) },
      .unenroll: { _ = try await session.unenroll(.leftThumb, asking) },
      .unlock: { try await session.unlock(asking) },
      .lock: { try await session.lock() },
      .changePasscode: { try await session.changePasscode(asking) },
      .removePasscode: { _ = try await session.removePasscode(asking) },
      .reseal: { try await session.reseal(to: [], asking) },
      .setFirstUnlock: { try await session.setFirstUnlock(.login, asking) },
      .recover: { _ = try await session.recover(accepting: nil, asking) },
      .newRecoveryKey: { try await session.keepRecoveryKey(asking) },
      .acceptRestore: { _ = try await session.acceptRestore(DetectedRestore.ID(digest: [1]), asking) },
      .joinCircle: { try await session.sync.begin(.new(machine: "desk"), asking) },
      .changeCircle: { try await session.sync.change(.leave, asking) },
      .resolve: { try await session.sync.resolve(.drop(kept: "0"), asking) },
      .sealCopy: {
        _ = try await session.sealCopy(
          of: SecretBytes(text: "gold"), under: .passcodeAndRecoveryKey, replacing: nil, asking)
      },
      .backUp: { try await session.backUp(to: -1) },
      .restore: { _ = try await session.restore(-1, accepting: BackupContents.ID(digest: [1]), asking) },
      .useAdapter: { try await session.useAdapter(nil, asking) },
      .verifyLogin: { try await session.verifyForLogin(asking) },
      .unlockScreen: { try await session.verifyForLogin(asking, unlocking: true) },
      .loginPassword: { try await session.unlockForLogin(asking) },
    ]
    // The other requests create the store itself.
    #expect(Set(calls.keys) == Set(AuditEntry.Request.allCases).subtracting([.makeStore, .rebuildDeviceKey]))
    for (request, call) in calls {
      var thrown: VaultError?
      do { try await call() } catch { thrown = error as? VaultError }
      let entries = log.take()
      #expect(entries.map(\.request) == [request])
      let entry = try #require(entries.first)
      let expected: AuditEntry.Outcome = if let thrown { .failed(thrown.name) } else { .done }
      #expect(entry.outcome == expected, "\(request)")
      #expect(entry.program == "mail (org.example.Mail)")
      #expect(entry.process == 77)
      #expect(entry.prompts.isEmpty && !entry.isSetChanged && entry.wrongPasscodes == 0)
    }
  }

  @Test("a session's log lists all items of a call that stores or reads many, in several entries")
  func manyItems() async throws {
    let items = try (0..<150).map { number in
      ItemToAdd(
        NewItem(named: try ItemName(parsing: "item \(number)"), access: .none),
        secret: SharedSecret(SecretBytes(text: "secret")))
    }
    let session = session
    #expect(try await session.add(items).isEmpty)
    let ids = try await session.items(.everything, .nobody).items.map(\.id)
    let added = log.take()
    #expect(added.map(\.request) == [.add, .add, .add] && added.flatMap(\.items) == ids)
    _ = try await session.secrets(of: ids, upTo: 1 << 20, .nobody)
    let read = log.take()
    #expect(read.map(\.request) == [.read, .read, .read] && read.flatMap(\.items) == ids)
  }

  @Test("a session's log has no entry for calls that ask and change nothing or only check for a prompt")
  func noEntries() async throws {
    let id = try await add(.passcode)
    #expect(log.take().map(\.request) == [.add])
    let (handle, _) = try await session.openContext(ContextOptions())
    await session.respond(handle, .cancel)
    await session.closeContext(handle, reason: .program)
    _ = try await session.items(.everything, .nobody)
    _ = try await session.biometry()
    _ = try await session.losses(.passcode)
    _ = try await session.detectedRestore()
    _ = try await session.readers()
    _ = try await session.status()
    _ = try await session.problems()
    _ = try await session.log(AuditSearch())
    await #expect(throws: VaultError.interactionNotAllowed) { _ = try await session.secrets(.ids([id]), .nobody) }
    let open = ItemSelection.open([name], group: AccessGroup.commandLine)
    #expect(try await session.secrets(open, .nobody).isEmpty)
    let other = ItemSearch(.genericPassword, [.service: .text("other")])
    #expect(try await session.secrets(.search(other), .nobody).isEmpty)
    #expect(log.take().isEmpty)
    let free = try await add(.none)
    #expect(try await session.secrets(open, .nobody).count == 1)
    #expect(log.take().map(\.items) == [[free], [free]])
  }

  @Test("a session's log entry has the items, the prompts, the number of wrong passcodes, and the outcome")
  func passcodes() async throws {
    let id = try await add(.passcode)
    #expect(log.take().first?.items == [id])
    let (session, name) = (session, name)
    let forgetful = Person(passcodes: ["wrong", "wrong again", ScratchStore.passcode])
    _ = try await forgetful.with(session) { try await session.secrets(.names([name]), Asking(in: $0)).count }
    var entry = try #require(log.take().first)
    #expect(entry.items == [id])
    #expect(entry.prompts == [.passcode])
    #expect(entry.wrongPasscodes == 2)
    #expect(entry.outcome == .done)
    let guesser = Person(passcodes: ["wrong"])
    await #expect(throws: VaultError.wrongPasscode) {
      try await guesser.with(session) { try await session.unlock(Asking(in: $0)) }
    }
    entry = try #require(log.take().first)
    #expect(entry.request == .unlock && entry.outcome == .failed(.wrongPasscode))
    #expect(entry.wrongPasscodes == 1)
    // In one context, a call's entry covers only that call.
    let person = Person(passcodes: [ScratchStore.passcode])
    try await person.with(session, .keepingEvidence(.never)) { handle in
      for _ in 1...2 { _ = try await session.secrets(.names([name]), Asking(in: handle)).count }
    }
    #expect(log.take().map(\.prompts) == [[.passcode], []])
    #expect(try await session.delete(.names([name])) == 1)
    entry = try #require(log.take().first)
    #expect(entry.items == [id], "what was deleted is named")
  }

  @Test("a session's log has prompts and wrong passcodes also if the program closes the context in a prompt")
  func closedMeanwhile() async throws {
    let session = session
    for _ in 1...3 {
      let (handle, events) = try await session.openContext(ContextOptions())
      let call = Task { try await session.unlock(Asking(in: handle)) }
      for await event in events {
        guard case .secretWanted(.passcode(let attempt)) = event.event else { continue }
        guard attempt == 1 else { break }
        await session.respond(handle, .secret(question: event.number, SecretBytes(text: "wrong")))
      }
      await session.closeContext(handle, reason: .program)
      await #expect(throws: VaultError.self) { try await call.value }
      let entry = try #require(log.take().first)
      #expect(entry.request == .unlock && entry.prompts == [.passcode] && entry.wrongPasscodes == 1)
      #expect(entry.outcome != .done)
      _ = try await Person(passcodes: [ScratchStore.passcode]).with(session) {
        try await session.unlock(Asking(in: $0))
      }
      _ = log.take()
    }
  }

  @Test("a session's log records that fingers were asked for, did not match, or have changed")
  func fingers() async throws {
    let (session, name) = (session, name)
    let touches = (1...6).map { image.press(.rightIndex, UInt64($0)) }
    let owner = Person(passcodes: [ScratchStore.passcode], touches: touches)
    _ = try await owner.with(session) { try await session.enroll(.rightIndex, Asking(in: $0)) }
    var entry = try #require(log.take().first)
    #expect(entry.request == .enroll && entry.isSetChanged)
    #expect(entry.prompts == [.touch, .passcode])
    let id = try await add(.currentSet)
    _ = log.take()
    let person = Person(touches: [image.press(.rightIndex, person: 2), image.press(.rightIndex)])
    _ = try await person.with(session) { try await session.secrets(.names([name]), Asking(in: $0)).count }
    entry = try #require(log.take().first)
    #expect(entry.items == [id] && entry.prompts == [.touch] && entry.unmatchedTouches == 1)
    #expect(!entry.isSetChanged)
    _ = try await Person(passcodes: [ScratchStore.passcode]).with(session) {
      try await session.unenroll(.rightIndex, Asking(in: $0))
    }
    entry = try #require(log.take().first)
    #expect(entry.request == .unenroll && entry.isSetChanged)
    await vault.shutdown()
  }

  @Test("a session's log records that nobody answered a prompt, and on whose behalf the program asked")
  func unanswered() async throws {
    let (session, name) = (session, name)
    let touches = (1...6).map { image.press(.rightIndex, UInt64($0)) }
    let owner = Person(passcodes: [ScratchStore.passcode], touches: touches)
    _ = try await owner.with(session) { try await session.enroll(.rightIndex, Asking(in: $0)) }
    let id = try await add(.currentSet)
    _ = log.take()
    // The context's timeout ends the call, or the program cancels it.
    for limit: Duration? in [.milliseconds(300), nil] {
      let (handle, events) = try await session.openContext(ContextOptions(timeout: limit))
      let listener = Task {
        var isTold = false
        for await event in events {
          switch event.event {
          case .touchWanted where limit == nil: await session.closeContext(handle, reason: .time)
          case .notice(.unanswered): isTold = true
          default: break
          }
        }
        return isTold
      }
      await #expect(throws: VaultError.timedOut) {
        _ = try await session.secrets(.names([name]), Asking(in: handle, behalf: "/usr/bin/mail")).count
      }
      await session.closeContext(handle, reason: .program)
      #expect(await listener.value)
      let entry = try #require(log.take().first)
      #expect(entry.items == [id] && entry.prompts == [.touch])
      #expect(entry.outcome == .failed(.timedOut))
      #expect(entry.behalf == "/usr/bin/mail")
    }
    await vault.shutdown()
  }

  @Test("a private store has no log of its sessions")
  func noLog() async throws {
    await #expect {
      _ = try await VaultSession(of: vault).log(AuditSearch())
    } throws: {
      if case .invalidRequest = $0 as? VaultError { true } else { false }
    }
  }
}
