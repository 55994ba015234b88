import GRDB
import Keys
import Primitives
import SecretModel
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultStore
@testable import VaultSync

@Suite("Items of several machines")
struct SyncTests {
  private let repository = MemoryRepository()

  @Test("a secret stored on one machine of a circle can be read on the others, by the same access rule")
  func shared() async throws {
    let machines = try await repository.circle("desk", "lap", "attic")
    try await machines[0].set("mail/alice", "gold")
    try await machines[1].set("bank", "silver", .passcode)
    for _ in 1...2 { for machine in machines { try await machine.sync(repository) } }
    for machine in [machines[0], machines[2]] {
      #expect(try await machine.status.waiting == [.init(item: ItemName(parsing: "bank"), reason: .proof)])
      #expect(try await machine.get("bank") == nil)
      try await machine.resolve(.open)
    }
    for machine in machines {
      #expect(try await machine.get("mail/alice") == "gold")
      #expect(try await machine.get("bank") == "silver")
      #expect(try await machine.status.members.count == 3)
      #expect(try await machine.status.items == 2)
      #expect(try await machine.status.pending == 0)
    }
    let bank = try ItemName(parsing: "bank")
    await #expect(throws: VaultError.interactionNotAllowed) {
      try await machines[2].session.secrets(.names([bank]), .nobody)
    }
  }

  @Test("a shared passkey signs in on another machine of the circle with the same key, after a touch there")
  func passkey() async throws {
    let machines = try await repository.circle("desk", "lap")
    let hash = Digest.sha256(Array("client data".utf8))
    let new = NewPasskey(
      relyingParty: "example.com", relyingPartyName: "Example",
      user: Passkey.User(handle: [1], name: "alice", displayName: "Alice"), algorithm: .ec(.p256), isDiscoverable: true,
      hasSecret: true, clientDataHash: hash, access: AccessControl(.presence))
    let item = try await machines[0].asking { try await machines[0].session.makePasskey(new, $0).0 }
    let made = try #require(Passkey(item))
    let change = ItemChange(attributes: [.synchronizable: .number(1)])
    _ = try await machines[0].asking {
      try await machines[0].session.update(.search(ItemSearch(.passkey)), change, secret: nil, $0)
    }
    try await machines[0].sync(repository)
    try await machines[1].sync(repository)
    let items = try await machines[1].session.allItems(ItemSearch(.passkey, synchronizable: .yes))
    let there = try #require(items.compactMap { Passkey($0) }.first)
    #expect(there.credentialID == made.credentialID && there.publicKey == made.publicKey)
    let assertion = PasskeyAssertion(clientDataHash: hash)
    await #expect(throws: VaultError.interactionNotAllowed) {
      try await machines[1].session.assertPasskeys([there.id], assertion, .nobody)
    }
    try await machines[1].enroll()
    let person = Person()
    let signed = try await person.with(machines[1].session) {
      try await machines[1].session.assertPasskeys([there.id], assertion, Asking(in: $0))[0]
    }
    #expect(person.events.contains { if case .touchWanted = $0 { true } else { false } })
    let key = try PublicKey(external: made.publicKey, family: made.algorithm.family)
    #expect(try key.verify(signed.signature, of: signed.authenticatorData + hash, .ecdsa(.sha256, .message, .x962)))
  }

  @Test("a shared item that gets another name has it on the others, and one that is shared no more is gone there")
  func renamed() async throws {
    let machines = try await repository.circle("desk", "lap")
    try await machines[0].set("mail", "gold")
    for machine in machines { try await machine.sync(repository) }
    for (name, change, left) in [
      ("mail", ItemChange(attributes: [.service: .text("post")]), ["post": "gold"]),
      ("post", ItemChange(attributes: [.synchronizable: .number(0)]), [:]),
    ] {
      let selection = ItemSelection.names([try ItemName(parsing: name)])
      _ = try await machines[0].asking { try await machines[0].session.update(selection, change, secret: nil, $0) }
      for machine in machines { try await machine.sync(repository) }
      #expect(try await machines[1].items == left, "\(name)")
    }
  }

  @Test("two machines that store the same secret at the same time keep no second version of it")
  func sameSecret() async throws {
    let machines = try await repository.circle("desk", "lap")
    let (desk, lap) = (machines[0], machines[1])
    // Of one the version of the first machine wins, of the other that of the second.
    for (machine, name) in [(desk, "mail"), (lap, "bank"), (desk, "bank"), (lap, "mail")] {
      try await machine.set(name, "gold")
    }
    for machine in [desk, lap, desk, lap] { try await machine.sync(repository) }
    for machine in machines {
      #expect(try await machine.status.kept.isEmpty, "\(machine.name)")
      #expect(try await machine.items == ["mail": "gold", "bank": "gold"])
    }
  }

  @Test("a page of what a machine publishes has at most as many bytes as a call takes")
  func pages() async throws {
    let desk = try await repository.circle("desk")[0]
    let long = String(repeating: "x", count: NewItem.secretLimit)
    for number in 1...9 { try await desk.set("item\(number)", long) }
    var (after, count) = (String?.none, 0)
    repeat {
      let batch = try await desk.session.sync.files(after: after, puttingBack: false)
      #expect(batch.files.reduce(0) { $0 + ($1.contents?.count ?? 0) } <= SyncFile.pageLimit)
      (after, count) = (batch.next, count + 1)
    } while after != nil
    #expect(count == 2)
  }

  @Test("a machine whose record of what it has seen is gone still writes versions that replace the earlier ones")
  func lostProgress() async throws {
    let machines = try await repository.circle("desk", "lap")
    for secret in ["1", "2", "3"] { try await machines[0].set("mail", secret) }
    for machine in machines { try await machine.sync(repository) }
    try await machines[0].store.edit("DELETE FROM sync_progress")
    try await machines[0].set("mail", "4")
    for machine in machines { #expect(try await machine.sync(repository).refused.isEmpty) }
    #expect(try await machines[1].get("mail") == "4")
  }

  @Test("an item that is not synchronizable stays on its machine")
  func home() async throws {
    let machines = try await repository.circle("desk", "lap")
    try await machines[0].vault.put("home", "gold")
    try await machines[0].sync(repository)
    try await machines[1].sync(repository)
    #expect(try await machines[1].get("home") == nil)
    #expect(!repository.tip.keys.contains { $0.hasPrefix("items/") })
  }

  @Test("nothing in a sync repository names an item, a machine or a secret")
  func names() async throws {
    let machines = try await repository.circle("deskmachine", "lapmachine")
    try await machines[0].set("mailservice/alice", "goldsecret")
    try await machines[0].sync(repository)
    for place in 0..<repository.count {
      for (path, contents) in repository[place] {
        for word in ["deskmachine", "lapmachine", "mailservice", "alice", "goldsecret"] {
          #expect(!path.contains(word))
          #expect(!String(decoding: contents, as: UTF8.self).contains(word))
        }
      }
    }
  }

  @Test("all machines of a circle choose the same of two concurrent changes, and keep the other for a person")
  func conflict() async throws {
    let machines = try await repository.circle("desk", "lap", "attic")
    try await machines[0].set("mail", "old")
    for machine in machines { try await machine.sync(repository) }
    try await machines[0].set("mail", "from desk")
    try await machines[1].set("mail", "from lap")
    for _ in 1...2 { for machine in machines { try await machine.sync(repository) } }
    let current = try await machines[0].get("mail")
    for machine in machines {
      #expect(try await machine.get("mail") == current)
      #expect(try await machine.status.kept.map(\.item.description) == ["mail"])
    }
    let kept = try await machines[2].status.kept[0]
    try await machines[2].resolve(.use(kept: kept.id))
    for _ in 1...2 { for machine in machines.reversed() { try await machine.sync(repository) } }
    let other = current == "from desk" ? "from lap" : "from desk"
    for machine in machines {
      #expect(try await machine.get("mail") == other)
      #expect(try await machine.status.kept == [])
    }
  }

  @Test("a synced item that was changed elsewhere survives a deletion that did not know of the change")
  func deletion() async throws {
    let machines = try await repository.circle("desk", "lap")
    try await machines[0].set("mail", "old")
    try await machines[0].set("bank", "old")
    for machine in machines { try await machine.sync(repository) }
    // Its clock is then the greater one.
    for number in 1...3 { try await machines[0].set("bank", "\(number)") }
    try await machines[0].delete("mail")
    try await machines[0].delete("bank")
    try await machines[1].set("mail", "new")
    for _ in 1...2 { for machine in machines { try await machine.sync(repository) } }
    for machine in machines {
      #expect(try await machine.get("mail") == "new")
      #expect(try await machine.get("bank") == nil)
    }
  }

  @Test("a machine removed from a circle keeps what it had, gets nothing new, and shares nothing more")
  func removal() async throws {
    let machines = try await repository.circle("desk", "lap", "attic")
    try await machines[2].set("mail", "gold")
    for machine in machines.reversed() { try await machine.sync(repository) }
    try await machines[0].remove(machines[2])
    try await machines[0].sync(repository)
    try await machines[1].sync(repository)
    try await machines[1].confirm()
    try await machines[0].set("bank", "silver")
    try await machines[0].sync(repository)
    // It writes once more before it has received its removal.
    try await machines[2].set("late", "iron")
    try await machines[2].sync(repository)
    #expect(try await machines[2].status.standing == .removed)
    #expect(try await machines[2].status.items == 0)
    #expect(try await machines[2].vault.circle.contents == nil)
    #expect(try await machines[2].get("mail") == "gold")
    #expect(try await machines[2].get("bank") == nil)
    try await machines[1].sync(repository)
    #expect(try await machines[1].get("mail") == "gold")
    #expect(try await machines[1].get("bank") == "silver")
    #expect(try await machines[1].get("late") == nil)
    #expect(try await machines[1].status.members.map(\.name).sorted() == ["desk", "lap"])
  }

  @Test("each machine of a circle detects that an earlier repository state was put back, and can publish again")
  func putBack() async throws {
    let machines = try await repository.circle("desk", "lap")
    try await machines[0].set("mail", "gold")
    for machine in machines { try await machine.sync(repository) }
    let first = repository.count - 1
    try await machines[1].set("bank", "silver")
    try await machines[1].sync(repository)
    try await machines[0].sync(repository)
    let whole = repository.tip
    for place in 0...first where repository[place] != whole && !repository[place].isEmpty {
      let count = repository.count
      repository.put(repository[place])
      for machine in machines {
        let receipt = try await machine.sync(repository)
        #expect(receipt.wentBack, "state \(place) of \(machine.name)")
        #expect(try await machine.session.sync.files(after: nil, puttingBack: false).files.isEmpty)
        #expect(repository.count == count + 1, "published to a repository that went back")
      }
      // One of them publishes again; that is enough for the others.
      try await machines[1].sync(repository, puttingBack: true)
      try await machines[0].sync(repository)
      for machine in machines {
        try await machine.sync(repository)
        #expect(try await machine.items == ["mail": "gold", "bank": "silver"])
      }
      let third = try await SyncMachine("third \(place)")
      try await third.ask(repository)
      try await machines[0].approve(third, in: repository)
      try await machines[0].sync(repository)
      #expect(try await !third.sync(repository).isMixed)
      #expect(try await third.items == ["mail": "gold", "bank": "silver"])
      try await machines[1].sync(repository)
      try await machines[1].confirm()
    }
  }

  @Test("a circle whose machines are all lost is recovered with the recovery key of one of them")
  func recovery() async throws {
    let machines = try await repository.circle("desk", "lap")
    try await machines[0].set("mail", "gold")
    try await machines[1].set("bank", "silver", .passcode)
    for _ in 1...2 { for machine in machines { try await machine.sync(repository) } }
    let fourth = try await SyncMachine("fourth")
    await #expect(throws: VaultError.wrongRecoveryKey) {
      try await fourth.recover(repository, recoveryKey: fourth.store.recoveryKey)
    }
    try await fourth.recover(repository, recoveryKey: machines[1].store.recoveryKey)
    #expect(try await fourth.get("mail") == "gold")
    #expect(try await fourth.get("bank") == "silver")
    #expect(try await fourth.status.members.map(\.name) == ["fourth"])
    let fifth = try await SyncMachine("fifth")
    try await repository.admit(fifth, by: fourth)
    #expect(try await fifth.get("mail") == "gold")
    // A machine that was not lost after all reports that the repository went back, and takes no changes.
    #expect(try await machines[0].sync(repository).wentBack)
  }

  @Test("a lost machine that puts its old circle back is not followed, and the recovered circle can publish")
  func oldCircle() async throws {
    let machines = try await repository.circle("desk", "lap")
    try await machines[0].set("mail", "gold")
    for machine in machines { try await machine.sync(repository) }
    let fourth = try await SyncMachine("fourth")
    try await fourth.recover(repository, recoveryKey: machines[1].store.recoveryKey)
    try await fourth.set("bank", "silver")
    try await fourth.sync(repository)
    // The lost machine's owner, or a thief who has its passcode, says that its circle is the right one.
    try await machines[0].set("mail", "iron")
    try await machines[0].sync(repository, puttingBack: true)
    #expect(try await fourth.sync(repository).wentBack)
    #expect(try await fourth.sync(repository) == SyncReceipt(), "it publishes nothing")
    #expect(try await fourth.items == ["mail": "gold", "bank": "silver"])
    #expect(try await fourth.status.members.map(\.name) == ["fourth"])
    try await fourth.sync(repository, puttingBack: true)
    #expect(try await !fourth.sync(repository).wentBack)
    #expect(try await machines[0].sync(repository).wentBack)
    #expect(try await machines[0].items == ["mail": "iron"])
    let fifth = try await SyncMachine("fifth")
    try await repository.admit(fifth, by: fourth)
    #expect(try await fifth.items == ["mail": "gold", "bank": "silver"])
  }

  @Test("a synced item bound to the fingers waits on another machine until a finger is touched there")
  func bound() async throws {
    let machines = try await repository.circle("desk", "lap")
    for machine in machines { try await machine.enroll() }
    try await machines[0].set("mail", "gold", .currentSet)
    try await machines[0].sync(repository)
    try await machines[1].sync(repository)
    #expect(try await machines[1].get("mail") == nil)
    #expect(try await machines[1].status.waiting == [.init(item: ItemName(parsing: "mail"), reason: .touch)])
    try await machines[1].resolve(.bind(ItemName(parsing: "mail")))
    #expect(try await machines[1].status.waiting == [])
    #expect(try await machines[1].get("mail") == "gold")
    #expect(try await machines[1].sync(repository) == SyncReceipt())
    // A later version takes its place, and is not kept beside it.
    try await machines[0].set("mail", "silver", .currentSet)
    for machine in machines { try await machine.sync(repository) }
    try await machines[1].resolve(.bind(ItemName(parsing: "mail")))
    #expect(try await machines[1].get("mail") == "silver")
    #expect(try await machines[1].status.kept == [])
  }

  @Test("a store is in one circle at a time, and cannot remove its own machine from the circle")
  func refusals() async throws {
    let machines = try await repository.circle("desk", "lap")
    for call in [{ try await machines[0].begin() }, { try await machines[0].remove(machines[0]) }] {
      await #expect {
        try await call()
      } throws: { error in
        if case VaultError.invalidRequest = error { true } else { false }
      }
    }
    #expect(try await machines[0].status.members.count == 2)
  }

  @Test("one passcode proof serves secrets or a change of a circle's members, not both")
  func freshProofs() async throws {
    let machines = try await repository.circle("desk", "lap")
    let session = machines[0].session
    try await machines[0].set("mail", "gold", .presence)
    let lap = try #require(try await machines[0].status.members.first { $0.name == "lap" }?.id)
    let mail = ItemSearch(named: try ItemName(parsing: "mail"))
    var options = ContextOptions(timeout: .seconds(20))
    (options.preferPasscode, options.keepsEvidence) = (true, true)
    let (wanted, once) = (options, [ScratchStore.passcode])
    let isRemoved = try await Person(passcodes: once).with(session, wanted) { context in
      // An evaluated context serves any number of secrets.
      _ = try await session.evaluate(.policy(.deviceOwner), Asking(in: context))
      for _ in 1...2 { _ = try await session.secrets(.search(mail), Asking(in: context)) }
      return (try? await session.sync.change(.remove(lap), Asking(in: context))) != nil
    }
    #expect(!isRemoved)
    #expect(try await machines[0].status.members.count == 2)
    let isReleased = try await Person(passcodes: once).with(session, wanted) { context in
      try await session.sync.change(.remove(lap), Asking(in: context))
      return (try? await session.secrets(.search(mail), Asking(in: context))) != nil
    }
    #expect(!isReleased)
    #expect(try await machines[0].status.members.count == 1)
  }

  @Test("an item that was never shared is kept beside a synced item of the same name")
  func unshared() async throws {
    let machines = try await repository.circle("desk")
    try await machines[0].set("mail", "gold")
    try await machines[0].sync(repository)
    let lap = try await SyncMachine("lap")
    try await lap.set("mail", "iron", .passcode)
    try await repository.admit(lap, by: machines[0])
    #expect(try await lap.get("mail") == "iron")
    #expect(try await lap.status.waiting.map(\.reason) == [.touch])
    try await lap.resolve(.bind(ItemName(parsing: "mail")))
    #expect(try await lap.get("mail") == "gold")
    let kept = try await lap.status.kept
    #expect(kept.map(\.item.description) == ["mail"])
    try await lap.resolve(.use(kept: kept[0].id))
    #expect(try await lap.get("mail") == "iron")
  }

  @Test("a store of an earlier version gets the tables for sync circles when it is opened")
  func earlierStore() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("mail", "gold")
    await vault.close()
    try await DatabaseQueue(path: store.path + "/vault.db").write { db in
      for table in ["sync_record", "sync_progress"] { try db.execute(sql: "DROP TABLE \(table)") }
      try db.execute(sql: "DELETE FROM grdb_migrations WHERE identifier = '4'")
      try db.execute(sql: "PRAGMA user_version = 3")
    }
    let later = try store.open()
    #expect(try await later.get("mail") == "gold")
    #expect(try await VaultSession(of: later).sync.status() == SyncStatus())
  }

  @Test("a store that was restored to an earlier copy leaves its sync circle, and keeps its items")
  func restored() async throws {
    let machines = try await repository.circle("desk", "lap")
    try await machines[0].set("mail", "gold")
    try await machines[0].sync(repository)
    let copy = try machines[0].store.snapshot()
    try await machines[0].set("mail", "new")
    await machines[0].vault.close()
    try machines[0].store.restore(["vault.db", "vault.db-wal", "vault.db-shm"], from: copy)
    let vault = try machines[0].store.open()
    try await vault.acceptRestore(by: Person(passcodes: [ScratchStore.passcode]))
    #expect(try await vault.get("mail") == "gold")
    #expect(try await VaultSession(of: vault).sync.status().standing == .none)
  }
}
