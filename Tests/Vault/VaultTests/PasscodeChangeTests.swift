import GRDB
import Keys
import Primitives
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("A passcode change")
struct PasscodeChangeTests {
  private static let right = ScratchStore.passcode

  private func change(_ vault: Vault, from old: String, to new: String) async throws {
    try await Person(passcodes: [old], newPasscode: new).with(vault) { try await vault.changePasscode(in: $0) }
  }

  @Test("a passcode change keeps items of every passcode rule, without asking for application passwords")
  func everyRule() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    let locked = try AccessControl([.devicePasscode, .applicationPassword])
    try await vault.put("bank", "1", .passcode)
    try await vault.put("door", "2", .passcode, accessibility: .passcodeSet)
    try await Person(applicationPassword: "of the program").with(vault) {
      _ = try await vault.add(
        NewItem(named: try ItemName(parsing: "both"), access: locked), secret: SecretBytes(text: "3"), in: $0)
    }
    try await vault.put("gated", "4", .presence)
    try await change(vault, from: Self.right, to: "the second")
    try await change(vault, from: "the second", to: "the third")
    for (name, secret) in [("bank", "1"), ("door", "2"), ("both", "3"), ("gated", "4")] {
      let person = Person(passcodes: ["the third"], applicationPassword: "of the program")
      #expect(try await vault.get(name, ContextOptions(preferPasscode: true), by: person) == secret, "\(name)")
      for old in [Self.right, "the second"] {
        await #expect(throws: VaultError.wrongPasscode) {
          let person = Person(passcodes: [old], applicationPassword: "of the program")
          _ = try await vault.get(name, ContextOptions(preferPasscode: true), by: person)
        }
      }
      try await Person(passcodes: ["the third"]).with(vault) { try await vault.unlock(in: $0) }
    }
    await #expect(throws: VaultError.wrongApplicationPassword) {
      try await vault.get("both", by: Person(passcodes: ["the third"], applicationPassword: "another"))
    }
  }

  @Test("an unlock fails if the passcode is changed during its prompt, and clears no count of wrong passcodes")
  func meanwhile() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    await #expect(throws: VaultError.busy("the passcode was changed meanwhile")) {
      let person = Person(
        passcodes: [Self.right],
        before: { _ in
          try await change(vault, from: Self.right, to: "another")
          for _ in 1...4 {
            _ = try? await Person(passcodes: ["wrong"]).with(vault) { try await vault.unlock(in: $0) }
          }
        })
      try await person.with(vault) { try await vault.unlock(in: $0) }
    }
    // With the old passcode, which counts as well, the fifth try starts a delay.
    #expect(try await vault.status().passcodeDelay > 0)
  }

  @Test("the passcode key from before a passcode change opens no old or new item, and wraps no root key")
  func oldKey() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("before", "1", .passcode)
    let old = try await passcodeKey(Self.right, vault)
    #expect(try await opens(old, "before", vault))
    try await change(vault, from: Self.right, to: "another")
    try await vault.put("after", "2", .passcode)
    let new = try await passcodeKey("another", vault)
    for name in ["before", "after"] {
      #expect(try await !opens(old, name, vault), "\(name)")
      #expect(try await opens(new, name, vault), "\(name)")
    }
    let names = try await DatabaseQueue(path: store.path + "/vault.db").read { db in
      try String.fetchAll(db, sql: "SELECT name FROM slot ORDER BY name")
    }
    // The root key's slots under the key file and the recovery key do not change with the passcode.
    #expect(
      names == [
        "class after-first-unlock", "class passcode-set", "class when-unlocked", "device", "passcode",
        "passcode public key", "passcode-key by recovery", "recovery", "recovery public key",
      ])
  }

  @Test("the recovery key restores all items after a passcode change for which it was not given")
  func recovery() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("bank", "1", .passcode)
    try await change(vault, from: Self.right, to: "forgotten")
    let old = try await passcodeKey("forgotten", vault)
    _ = try await Person(newPasscode: "found again", recoveryKey: store.recoveryKey).with(vault) {
      try await vault.recover(in: $0)
    }
    #expect(try await vault.get("bank", by: Person(passcodes: ["found again"])) == "1")
    #expect(try await !opens(old, "bank", vault))
    try await change(vault, from: "found again", to: "once more")
    #expect(try await vault.get("bank", by: Person(passcodes: ["once more"])) == "1")
  }

  @Test("a planted recovery key gets no copy of the next passcode key")
  func plantedRecoveryKey() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    let planted = try X25519.publicKey(of: Random.key())
    try await vault.plant(recoveryPublicKey: planted, under: Random.key())
    await #expect(throws: VaultError.storeDamaged("a sealed part does not verify")) {
      try await change(vault, from: Self.right, to: "another")
    }
    #expect(try await vault.status().passcodeSet)
    try await Person(passcodes: [Self.right]).with(vault) { try await vault.unlock(in: $0) }
  }

  @Test("a damaged item does not stop a passcode change, and is not confused with another item")
  func damaged() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("a", "1", .passcode)
    try await vault.put("b", "2", .passcode)
    try await store.edit("UPDATE item SET item_key = x'00' WHERE row = (SELECT min(row) FROM item)")
    try await change(vault, from: Self.right, to: "another")
    await #expect(throws: VaultError.itemDamaged(try ItemName(parsing: "a"))) {
      try await vault.get("a", by: Person(passcodes: ["another"]))
    }
    #expect(try await vault.get("b", by: Person(passcodes: ["another"])) == "2")
  }

  @Test("a passcode change works in a store of ten thousand items")
  func many() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    let count = 10_000
    let started = ContinuousClock.now
    try await vault.fill((0..<count).map { ("item \($0)", "\($0)") }, AccessControl(.passcode))
    let filled = ContinuousClock.now
    let before = try residentPeak()
    try await change(vault, from: Self.right, to: "another")
    print(
      "passcode change: \(count) items stored in \(filled - started), moved in \(ContinuousClock.now - filled), "
        + "\(try residentPeak() - before) KiB more at the peak")
    for number in [0, count / 2, count - 1] {
      #expect(try await vault.get("item \(number)", by: Person(passcodes: ["another"])) == "\(number)")
    }
  }

  @Test("removing the passcode lists first what will die: items of all classes and rules that need it")
  func losses() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    let passcode = AccessControl(.passcode)
    let both = try AccessControl([.devicePasscode, .biometryAny, .and])
    let either = try AccessControl([.devicePasscode, .biometryAny, .or])
    for (name, item) in [
      ("server", NewItem(.internetPassword, [.server: .text("server")], access: passcode)),
      ("key", NewItem(.key, [.label: .text("key")], access: passcode)),
      ("set", NewItem(.genericPassword, [.service: .text("set")], accessibility: .passcodeSet)),
      ("group", NewItem(.genericPassword, [.service: .text("group"), .accessGroup: .text("other")], access: passcode)),
    ] {
      _ = try await vault.add(item, secret: SecretBytes(text: name), in: nil)
    }
    try await vault.fill([("both", "1")], both)
    try await vault.fill([("either", "2")], either)
    let losses = try await vault.losses(.passcode).map(\.description)
    #expect(Set(losses) == ["server", "key", "set", "group", "both"])
    #expect(losses.count == 5, "each once")
    let lost = try await Person(passcodes: [Self.right]).with(vault) { try await vault.removePasscode(in: $0) }
    #expect(lost.map(\.description).sorted() == losses.sorted())
  }

  private func passcodeKey(_ passcode: String, _ vault: Vault) async throws -> SharedSecret {
    try await vault.passcodeKey(SharedSecret(SecretBytes(text: passcode)))
  }

  private func opens(_ key: SharedSecret, _ name: String, _ vault: Vault) async throws -> Bool {
    try await vault.opensPasscodeLayer(key, ItemName(parsing: name))
  }

  private func residentPeak() throws -> Int {
    let status = String(decoding: try ScratchStore.contents(of: "/proc/self/status"), as: UTF8.self)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    return try #require(Int(line.filter(\.isNumber)))
  }
}

extension ItemRecord {
  fileprivate init(name: ItemName) {
    self.init(
      itemClass: .genericPassword, attributes: NewItem(named: name, access: .none).attributes, created: 0, modified: 0)
  }
}

extension Vault {
  /// The passcode key from the rows of the store, without the vault's rules.
  fileprivate func passcodeKey(_ passcode: SharedSecret) async throws -> SharedSecret {
    let slot = try #require(try store.database.rawSlot(.passcode))
    let turn = try await presence.passcodes.scrypt.turn(for: store.owner)
    let stretched = try await turn.stretch(passcode, .init(encoded: slot.parameters), store.floor)
    return SharedSecret(try slot.unwrap(under: stretched.bytes, databaseID: store.keys.databaseID))
  }

  /// Whether a passcode key opens the outer layer of an item's wrapping.
  fileprivate func opensPasscodeLayer(_ key: SharedSecret, _ name: ItemName) throws -> Bool {
    let store = store
    return try store.read { snapshot in
      let row = try #require(try snapshot.item(like: ItemRecord(name: name)))
      let access = try #require(row.accessControl)
      let wrapping = try #require(Wrapping.decode(row.itemKey ?? [], Requirement(access))?.first)
      let aad = row.secretAAD(store.keys.databaseID, ItemRecord(name: name))
      let privateKey = try DerivedPair.passcode.privateKey(of: key.bytes, store.keys.databaseID)
      return (try? wrapping.openedPasscodeLayer(with: privateKey, place: Wrapping.aad(aad, wrapping.keys))) != nil
    }
  }

  /// Replaces the public key of the recovery key's pair, which is possible with the root key.
  fileprivate func plant(recoveryPublicKey: [UInt8], under key: borrowing SecretBytes) throws {
    let store = store
    let slot = try Slot(
      .recoveryPublicKey, wrapping: SecretBytes(copying: recoveryPublicKey.span), under: key,
      databaseID: store.keys.databaseID)
    try store.commit { change in try change.put(slot) }
  }

  /// Stores items at once, without a finger enrolled for those that name one.
  fileprivate func fill(_ items: [(name: String, secret: String)], _ access: AccessControl) throws {
    let store = store
    try store.commit { change in
      for (name, secret) in items {
        let record = ItemRecord(name: try ItemName(parsing: name))
        var row = ItemRow(
          id: randomID(), owner: store.owner, nameIndex: store.nameIndex(record), access: access,
          accessibility: .whenUnlocked, derivation: nil)
        let box = try ItemSealer(change, ItemKeys(change)).fill(
          &row, record, Requirement(access), secret: SecretBytes(text: secret), bound: nil, password: nil,
          accessibility: .whenUnlocked)
        try row.write(change.db, secret: box)
      }
    }
  }
}
