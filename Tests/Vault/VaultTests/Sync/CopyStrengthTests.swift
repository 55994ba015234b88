import Foundation
import Glibc
import Keys
import Primitives
import SecretModel
import Synchronization
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore
@testable import VaultSync

extension Vault {
  /// The versions of shared items as somebody sees them who has all of the store but the passcode: its files, its root
  /// key, and what is open of its classes.
  private func versions<Value>(_ look: (String, Revision, SecretKeys) -> Value) throws -> [Value] {
    try presence.passcodes.store.read { snapshot in
      let circle = try #require(try snapshot.circle())
      let keys = try SecretKeys(of: snapshot)
      return try snapshot.records(where: "1").map {
        look($0.head.title.description, try $0.revision(for: circle), keys)
      }
    }
  }

  /// What keeps that person from reading the secrets of the copies. Nil for a copy that opens.
  fileprivate func obstacles() throws -> [String: SyncStatus.Waiting.Reason?] {
    Dictionary(
      uniqueKeysWithValues: try versions { title, revision, keys in
        do throws(SecretObstacle) {
          _ = try revision.secret(with: keys)
          return (title, nil)
        } catch {
          return (title, error.reason)
        }
      })
  }

  /// For each copy, whether its secret opens with these keys.
  fileprivate func copies(openWith keys: SecretKeys) throws -> [String: Bool] {
    Dictionary(
      uniqueKeysWithValues: try versions { title, revision, _ in (title, (try? revision.secret(with: keys)) != nil) })
  }

  /// The keys of the classes for shared items.
  fileprivate func classPairs() throws -> [Accessibility: EncryptedFile.KeyPair] {
    try presence.passcodes.store.read { snapshot in
      var pairs: [Accessibility: EncryptedFile.KeyPair] = [:]
      for each in Accessibility.allCases {
        guard let key = try snapshot.circleClassKey(each) else { continue }
        pairs[each] = try EncryptedFile.KeyPair(privateKey: SharedSecret(key))
      }
      return pairs
    }
  }

  /// Everything in the copies that the root key opens.
  fileprivate func readable() throws -> [UInt8] {
    try versions { _, revision, _ in revision.signed.bytes + revision.secretFile }.flatMap(\.self)
  }
}

@Suite("The copies that sync keeps of an item are as strong as the item")
struct CopyStrengthTests {
  private let repository = MemoryRepository()

  @Test("a shared item under the passcode does not open without the passcode, on the machine that wrote it or another")
  func passcode() async throws {
    let machines = try await repository.circle("desk", "lap")
    try await machines[0].set("bank", "silver", .passcode)
    try await machines[0].set("mail", "gold", .presence)
    for machine in machines { try await machine.sync(repository) }
    for machine in machines {
      // Without a passcode for the first unlock, the root key opens the classes, as it does for items that are not shared.
      #expect(try await machine.vault.obstacles() == ["bank": .proof, "mail": nil], "\(machine.name)")
    }
    try await machines[1].resolve(.open)
    #expect(try await machines[1].get("bank") == "silver")
  }

  @Test("no copy of a shared item opens while the item's class is closed, whatever its rule", arguments: [false, true])
  func closedClasses(isReceiver: Bool) async throws {
    let machines = [
      try await SyncMachine("desk", classKeys: ClassKeys(firstUnlock: .passcode)),
      try await SyncMachine("lap", classKeys: ClassKeys(firstUnlock: .passcode)),
    ]
    try await machines[0].begin()
    try await machines[0].sync(repository)
    try await repository.admit(machines[1], by: machines[0])
    try await machines[0].enroll()
    let rules: [AccessControl.Constraint] = [.none, .presence, .anyFinger, .currentSet, .passcode]
    for (number, rule) in rules.enumerated() { try await machines[0].set("item \(number)", "gold", rule) }
    let machine = machines[isReceiver ? 1 : 0]
    for machine in machines { try await machine.sync(repository) }
    machine.classKeys.close()
    let obstacles = try await machine.vault.obstacles()
    #expect(obstacles.count == rules.count)
    #expect(obstacles.values.allSatisfy { $0 == .locked }, "\(obstacles)")
    #expect(try await !String(decoding: machine.vault.readable(), as: UTF8.self).contains("gold"))
  }

  /// One item for each rule and class, shared and not.
  private func everyKind() throws -> [(title: String, item: NewItem)] {
    var items: [(String, NewItem)] = []
    for rule in AccessControl.Constraint.allCases {
      for accessibility in Accessibility.allCases {
        for isShared in [true, false] {
          let title = "\(rule.rawValue) \(accessibility.rawValue) \(isShared ? "shared" : "own")"
          var item = NewItem(
            named: try ItemName(parsing: title), access: AccessControl(rule), accessibility: accessibility)
          if isShared { item.attributes[.synchronizable] = .number(1) }
          items.append((title, item))
        }
      }
    }
    return items
  }

  @Test(
    "with closed classes nothing of any rule opens with the root key, a slot, a backup or the repository, shared or not"
  )
  func thief() async throws {
    let machines = [
      try await SyncMachine("desk", classKeys: ClassKeys(firstUnlock: .passcode)),
      try await SyncMachine("lap", classKeys: ClassKeys(firstUnlock: .passcode)),
    ]
    let desk = machines[0]
    try await desk.begin()
    try await desk.sync(repository)
    try await repository.admit(machines[1], by: desk)
    try await desk.enroll()
    let items = try everyKind()
    for (_, item) in items {
      _ = try await desk.asking {
        try await desk.session.add(item, secret: SecretBytes(text: "the canary"), replacing: true, $0)
      }
    }
    // As an import does, and as it comes back from a backup.
    let imported = NewItem(named: try ItemName(parsing: "imported"), access: AccessControl(.none))
    _ = try await desk.vault.add([ItemToAdd(imported, secret: SharedSecret(SecretBytes(text: "the canary")))])
    for machine in machines { try await machine.sync(repository) }
    let backup = desk.store.folder + "/backup"
    let file = open(backup, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    try await desk.vault.backUp(to: file)
    close(file)

    for machine in machines {
      machine.classKeys.close()
      // The store with its key file opens, and so does its root key.
      #expect(try await machine.vault.obstacles().values.allSatisfy { $0 != nil }, "\(machine.name)")
      var seen = try await machine.vault.readable()
      for path in try FileManager.default.subpathsOfDirectory(atPath: machine.store.folder) {
        seen += FileManager.default.contents(atPath: "\(machine.store.folder)/\(path)").map { Array($0) } ?? []
      }
      for contents in repository.tip.values { seen += contents }
      #expect(seen.firstRange(of: Array("the canary".utf8)) == nil, "\(machine.name)")
    }
    for (title, item) in items + [("imported", imported)] {
      let search = ItemSearch(named: try ItemName(parsing: title))
      await #expect(throws: VaultError.self, "\(title) \(item.accessibility)") {
        try await desk.session.secrets(.search(search), .nobody)
      }
    }
  }

  @Test("a key for one class, or for the passcode, opens no copy of a shared item that needs another key")
  func oneKey() async throws {
    let machines = try await repository.circle("desk", "lap")
    try await machines[0].enroll()
    for (_, item) in try everyKind() where item.attributes[.synchronizable] != nil {
      _ = try await machines[0].asking {
        try await machines[0].session.add(item, secret: SecretBytes(text: "gold"), replacing: true, $0)
      }
    }
    let vault = machines[0].vault
    let all = try await vault.classPairs()
    #expect(all.count == Accessibility.allCases.count)
    let stranger = try MemberKeys.make().encryption
    for open in Accessibility.allCases {
      let keys = SecretKeys(classes: all.filter { $0.key == open }, passcode: stranger)
      for (title, isOpen) in try await vault.copies(openWith: keys) {
        let isItsClass = title.contains(" \(open.rawValue) ") && !title.hasPrefix("passcode ")
        #expect(isOpen == isItsClass, "\(title) with the key of \(open)")
      }
    }
  }

  @Test("what arrives while its class is closed waits as it came, is merged, and is stored once the class is open")
  func arrivesClosed() async throws {
    let desk = try await repository.circle("desk")[0]
    let lap = try await SyncMachine("lap", classKeys: ClassKeys(firstUnlock: .passcode))
    try await repository.admit(lap, by: desk)
    try await lap.set("other", "iron", .passcode)
    lap.classKeys.close()
    for secret in ["old", "new"] {
      try await desk.set("mail", secret)
      try await desk.sync(repository)
      try await lap.sync(repository)
      #expect(try await lap.status.waiting.map(\.reason) == [.locked])
    }
    // The passcode opens the class.
    #expect(try await lap.get("other") == "iron")
    try await lap.forgetAndSync(repository)
    #expect(try await lap.get("mail") == "new")
    #expect(try await lap.status.waiting == [])
  }

  @Test("a machine that joins while its sessions are locked gets what it can read once they are unlocked")
  func joinsLocked() async throws {
    let desk = try await repository.circle("desk")[0]
    let lap = try await SyncMachine("lap", classKeys: ClassKeys(firstUnlock: .passcode))
    lap.sessions.unlocked.withLock { $0 = false }
    try await repository.admit(lap, by: desk)
    try await desk.set("mail", "gold")
    for machine in [desk, lap] { try await machine.sync(repository) }
    #expect(try await lap.status.waiting.map(\.reason) == [.locked])
    lap.sessions.unlocked.withLock { $0 = true }
    try await lap.forgetAndSync(repository)
    #expect(try await lap.get("mail") == "gold")
  }

  @Test("a machine whose sessions were locked before is not taken for locked when it joins")
  func joinsAfterLock() async throws {
    let desk = try await repository.circle("desk")[0]
    let lap = try await SyncMachine("lap", classKeys: ClassKeys(firstUnlock: .passcode))
    lap.classKeys.sessionsLocked()
    try await repository.admit(lap, by: desk)
    try await desk.set("mail", "gold")
    for machine in [desk, lap] { try await machine.sync(repository) }
    #expect(try await lap.get("mail") == "gold")
    // Its entry was complete at once, so that nobody has to confirm another one.
    #expect(try await desk.status.unconfirmed.isEmpty)
  }

  @Test("a signature of a shared item's version says nothing about its secret: the same secret is signed differently")
  func noOracle() throws {
    let secret = SecretBytes(text: "1234")
    let (one, other) = (try HiddenSecret(secret), try HiddenSecret(secret))
    #expect(one.commitment != other.commitment)
    #expect(one.commitment != Digest.sha256(Array("1234".utf8)))
  }

  @Test("a machine without a passcode offers no key for what needs one, gets no such secret, and says so")
  func withoutPasscode() async throws {
    let desk = try await repository.circle("desk")[0]
    let lap = try await SyncMachine("lap", passcode: nil)
    try await repository.admit(lap, by: desk)
    #expect(try await desk.status.members.first { $0.name == "lap" }?.hasPasscode == false)
    try await desk.set("bank", "silver", .passcode)
    try await desk.set("mail", "gold")
    for machine in [desk, lap] { try await machine.sync(repository) }
    #expect(try await lap.get("mail") == "gold")
    #expect(try await lap.status.waiting == [.init(item: ItemName(parsing: "bank"), reason: .passcode)])
  }

  @Test("a passcode that is changed still opens what other machines have shared under it before")
  func changedPasscode() async throws {
    let machines = try await repository.circle("desk", "lap")
    try await machines[0].set("bank", "silver", .passcode)
    for machine in machines { try await machine.sync(repository) }
    try await machines[1].changePasscode(to: "another passcode")
    try await machines[1].resolve(.open)
    #expect(try await machines[1].get("bank") == "silver")
  }

  @Test("a machine that is let in gets what is shared under the passcode, with the passcode of the one that lets it in")
  func admittedLater() async throws {
    let machines = try await repository.circle("desk", "lap")
    try await machines[0].set("bank", "silver", .passcode)
    for machine in machines { try await machine.sync(repository) }
    let attic = try await SyncMachine("attic")
    try await repository.admit(attic, by: machines[0])
    try await attic.resolve(.open)
    #expect(try await attic.get("bank") == "silver")
  }
}
