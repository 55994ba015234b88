import Glibc
import Primitives
import SecretModel
import Synchronization
import Testing
import VaultDriver

@Suite("One user's ids and handles in another user's calls", .timeLimit(.minutes(2)))
struct RightsAcrossUsersTests {
  /// What a user has, and how it is named in calls.
  private struct Belongings {
    var items: [ItemID]
    var key: ItemID
    var machine: MemberID
    /// A context in which the passcode has been shown, and still counts.
    var context: ContextHandle
  }

  private static func item(_ name: String, _ constraint: AccessControl.Constraint) -> NewItem {
    NewItem(.genericPassword, [.service: .text(name)], access: AccessControl(constraint))
  }

  @Test("no call of another user uses an item, a key, a circle, a draft or a touch that it knows the number of")
  func everyCall() async throws {
    let isBob = Mutex(false)
    let service = try RunningService(callers: { caller in
      isBob.withLock { $0 } ? Caller(user: caller.user + 1, process: caller.process) : caller
    })
    let alice = try service.connect()
    let draft = try await alice.create(.own, passcode: SecretBytes(text: RunningService.passcode))
    isBob.withLock { $0 = true }
    let bob = try service.connect()
    await #expect(throws: VaultError.self) { try await bob.keep(draft.id) }
    await #expect(throws: VaultError.self) { _ = try await bob.open(.own) }
    let own = try await bob.create(.own, passcode: SecretBytes(text: RunningService.passcode))
    // Not the other way round either.
    await #expect(throws: VaultError.self) { try await alice.keep(own.id) }
    try await bob.keep(own.id)
    try await alice.keep(draft.id)
    let (hers, his) = (try await alice.open(.own), try await bob.open(.own))

    let person = Person(passcodes: [RunningService.passcode, RunningService.passcode])
    var options = ContextOptions(timeout: .seconds(20))
    options.keepsEvidence = true
    options.preferPasscode = true
    try await person.with(hers, options) { context in
      let asking = Asking(in: context)
      var items: [ItemID] = []
      for (name, constraint) in [("open", AccessControl.Constraint.none), ("closed", .passcode)] {
        items.append(
          try await hers.add(
            Self.item(name, constraint), secret: SecretBytes(text: "gold"), replacing: false, asking
          ).id)
      }
      var keyItem = Self.item("key", .none)
      keyItem.itemClass = .key
      let key = try await hers.addKey(keyItem, from: .generated(.ed25519)).id
      try await hers.sync.begin(.new(machine: "desk"), asking)
      let machine = try #require(try await hers.sync.status().members.first).id
      #expect(try await hers.secrets(.ids(items), asking).count == 2)
      let known = Belongings(items: items, key: key, machine: machine, context: context)
      try await Self.attack(his, known)
      // Nothing is gone, and what was shown still counts, for her alone.
      #expect(try await hers.secrets(.ids(items), asking).allSatisfy { $0.secret.text == "gold" })
      #expect(try await hers.sync.status().members.map(\.id) == [machine])
      _ = try await hers.useKey(key, .sign([1], .ed25519), asking)
    }
    #expect(try await his.status().items == 0)
    await alice.close()
    await bob.close()
    try await service.end()
  }

  private static func attack(_ his: any VaultService, _ hers: Belongings) async throws {
    let all = hers.items + [hers.key]
    func refused(_ what: String, _ call: () async throws -> Void) async {
      do {
        try await call()
        Issue.record("\(what) was answered")
      } catch is VaultError {
      } catch {
        Issue.record("\(what): \(error)")
      }
    }
    // With no context, with one of his own, and with hers.
    let (own, _) = try await his.openContext(ContextOptions(interactionNotAllowed: true))
    for asking in [Asking.nobody, Asking(in: own), Asking(in: hers.context)] {
      for id in all {
        await refused("secrets") { _ = try await his.secrets(.ids([id]), asking) }
        await refused("first secrets") { _ = try await his.secrets(of: [id], upTo: 1 << 20, asking) }
        await refused("update") {
          let change = ItemChange(attributes: [.label: .text("his")], accessibility: .afterFirstUnlock)
          _ = try await his.update(.ids([id]), change, secret: SecretBytes(text: "iron"), asking)
        }
        for use in [KeyUse.sign([1], .ed25519), .export] {
          await refused("use of a key") { _ = try await his.useKey(id, use, asking) }
        }
        await refused("passkey") {
          let assertion = PasskeyAssertion(clientDataHash: [UInt8](repeating: 3, count: 32))
          _ = try await his.assertPasskeys([id], assertion, asking)
        }
      }
      for change in [
        SyncMemberChange.remove(hers.machine), .answer(hers.machine), .approve(hers.machine, replacing: nil),
        .confirm, .agree, .leave,
      ] {
        await refused("\(change)") { try await his.sync.change(change, asking) }
      }
    }
    for id in all {
      await refused("delete") { guard try await his.delete(.ids([id])) > 0 else { throw VaultError.itemGone } }
    }
    // Her context, in every call that asks.
    let asking = Asking(in: hers.context)
    await refused("evaluate") { _ = try await his.evaluate(.policy(.deviceOwner), asking) }
    await refused("unlock") { try await his.unlock(asking) }
    await refused("passcode") { try await his.changePasscode(asking) }
    await refused("no passcode") { _ = try await his.removePasscode(asking) }
    await refused("first unlock") { try await his.setFirstUnlock(.login, asking) }
    await refused("recovery key") { try await his.keepRecoveryKey(asking) }
    await refused("circle") { try await his.sync.begin(.new(machine: "his"), asking) }
    await refused("copy") {
      _ = try await his.sealCopy(
        of: SecretBytes(text: "x"), under: .passcodeAndRecoveryKey, replacing: nil, asking)
    }
    await his.setApplicationPassword(SecretBytes(text: "his"), of: hers.context)
    await his.respond(hers.context, .fallback)
    await his.respond(hers.context, .secret(question: 1, SecretBytes(text: "wrong")))
    await his.closeContext(hers.context, reason: .program)
    await his.closeContext(own, reason: .program)
  }
}
