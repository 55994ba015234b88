import Primitives
import ReaderClient
import Synchronization
import Testing
import VaultDriver
import VirtualFinger

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("Match on chip, through libfprint's virtual storage reader")
struct ChipTests {
  private static let right = ScratchStore.passcode

  private struct Chip {
    let store: ScratchStore
    let process: ReaderProcess
    let chip: VirtualStorageReader

    init() async throws {
      store = try await ScratchStore()
      let socket = store.folder + "/storage.socket"
      process = ReaderProcess(program: ReaderBuild.program, selection: .virtualStorage(socket: socket))
      chip = VirtualStorageReader(socket: socket)
    }

    func scan(_ id: String) -> @Sendable () async throws -> Void {
      { [chip] in try chip.scan(id) }
    }

    /// The finger for an enrolment: the chip asks once and takes five scans, then the confirming touch is asked for.
    func enrolment(_ id: String) -> [@Sendable () async throws -> Void] {
      let stages: @Sendable () async throws -> Void = { [chip] in for _ in 1...5 { try chip.scan(id) } }
      return [stages, scan(id)]
    }

    /// A virtual chip lives as long as its process, so the reader stays open, as a recording's does.
    func open() throws -> Vault { try store.open(reader: process, holdsReader: true) }

    func enroll(_ finger: Finger, as id: String, in vault: Vault) async throws -> SetChange {
      let person = Person(passcodes: [ChipTests.right], touches: enrolment(id))
      return try await person.with(vault) { try await vault.enroll(finger, in: $0) }
    }
  }

  @Test("a print on the reader's chip opens a bound item, and another finger does not")
  func touch() async throws {
    let chip = try await Chip()
    let vault = try chip.open()
    let change = try await chip.enroll(.rightIndex, as: "print-1", in: vault)
    #expect(change.fingers.first?.onChip == true)
    try await vault.put("bound", "secret", .currentSet)
    #expect(try await vault.get("bound", by: Person(touches: [chip.scan("print-1")])) == "secret")
    let wrong = Person(touches: (1...3).map { chip.scan("stranger-\($0)") })
    await #expect(throws: VaultError.authenticationFailed) { try await vault.get("bound", by: wrong) }
  }

  @Test("an enrolment reports that the reader's chip is full or has the finger already, and changes nothing")
  func fullOrThere() async throws {
    let chip = try await Chip()
    let vault = try chip.open()
    _ = try await chip.enroll(.rightIndex, as: "print-1", in: vault)
    try await vault.put("bound", "secret", .currentSet)
    let ends: [(DeviceErrorCode, VaultError)] = [
      (.dataFull, .reader(.storageFull)), (.dataDuplicate, .fingerDuplicate(nil)),
    ]
    for (code, wanted) in ends {
      let person = Person(passcodes: [Self.right], touches: [{ [chip] in try chip.chip.error(code) }])
      await #expect(throws: wanted) { try await person.with(vault) { try await vault.enroll(.leftThumb, in: $0) } }
    }
    #expect(try await vault.status().sets[0].fingers.map(\.finger) == [.rightIndex])
    #expect(try await vault.get("bound", by: Person(touches: [chip.scan("print-1")])) == "secret")
  }

  @Test("removing a finger removes its print from the reader's chip")
  func unenroll() async throws {
    let chip = try await Chip()
    let vault = try chip.open()
    _ = try await chip.enroll(.rightIndex, as: "print-1", in: vault)
    let person = Person(passcodes: [Self.right])
    let change = try await person.with(vault) { try await vault.unenroll(.rightIndex, in: $0) }
    #expect(change.fingers.isEmpty)
    #expect(try await chip.process.storedPrints(knowing: []).unknown.isEmpty)
    await #expect(throws: VaultError.notEnrolled) { try await vault.put("bound", "x", .currentSet) }
  }

  @Test("bound items are refused and not destroyed after the reader's chip was cleared elsewhere")
  func cleared() async throws {
    let chip = try await Chip()
    do {
      let vault = try chip.open()
      _ = try await chip.enroll(.rightIndex, as: "print-1", in: vault)
      try await vault.put("bound", "secret", .currentSet)
      for print in try await vault.prints(of: await vault.storedSet()) { try await chip.process.delete(print.template) }
      // Release the reader; its process, and with it the chip, stays.
      try await chip.process.close()
    }
    let vault = try chip.open()
    await #expect(throws: VaultError.printsGone([.rightIndex])) { try await vault.get("bound") }
    #expect(try await vault.items(.everything).first?.state == .living)
    #expect(try await vault.status().sets.first?.fingers.count == 1)
    #expect(try await vault.status().failures == 0)
  }

  @Test("bound items are closed while a finger is missing on the reader's chip, and die if the passcode removes it")
  func removedByOthers() async throws {
    let chip = try await Chip()
    do {
      let vault = try chip.open()
      _ = try await chip.enroll(.rightIndex, as: "print-1", in: vault)
      _ = try await chip.enroll(.leftIndex, as: "print-2", in: vault)
      try await vault.put("bound", "secret", .currentSet)
      try await vault.put("any", "lives", .anyFinger)
      let set = try await vault.storedSet()
      let left = try #require(set.set.enrolments.first { $0.finger == .leftIndex })
      let print = try #require(try await vault.prints(of: set).first { $0.id == left.id })
      try await chip.process.delete(print.template)
      // Release the reader; its process, and with it the chip, stays.
      try await chip.process.close()
    }
    for _ in 1...3 {
      let vault = try chip.open()
      await #expect(throws: VaultError.printsGone([.leftIndex])) { try await vault.get("bound") }
      #expect(
        try await vault.items(.everything).allSatisfy { $0.state == .living }, "what a reader says destroys nothing")
      let person = Person(touches: [chip.scan("print-1")])
      #expect(try await vault.get("any", by: person) == "lives")
      let told = person.events.contains { if case .notice(.goneFromChip([.leftIndex])) = $0 { true } else { false } }
      #expect(told, "and is said")
      try await chip.process.close()
    }
    let vault = try chip.open()
    #expect(try await vault.losses(.fingers).map(\.description) == ["bound"], "what will be lost can be listed first")
    let change = try await Person(passcodes: [Self.right]).with(vault) { try await vault.unenroll(.leftIndex, in: $0) }
    #expect(change.lost.map(\.description) == ["bound"])
    await #expect(throws: VaultError.itemInvalidated(try ItemName(parsing: "bound"))) { try await vault.get("bound") }
    #expect(try await vault.get("any", by: Person(touches: [chip.scan("print-1")])) == "lives")
    #expect(try await vault.status().sets[0].fingers.map(\.finger) == [.rightIndex])
  }

  @Test("an incomplete list of the prints on a reader's chip destroys nothing: bound items open with the full list")
  func lyingReader() async throws {
    let chip = try await Chip()
    let lies = Mutex(false)
    let reader = InterposedReader(
      real: chip.process,
      listing: { list in
        guard lies.withLock({ $0 }) else { return list }
        return ChipList(present: Set(list.present.dropFirst()), unknown: list.unknown)
      })
    // The store opens the reader for each request; the chip stays in its process.
    func request(_ body: (Vault) async throws -> Void) async throws {
      try await body(try chip.store.open(reader: reader, holdsReader: true))
      try await chip.process.close()
    }
    try await request { (vault: Vault) async throws in
      _ = try await chip.enroll(.rightIndex, as: "print-1", in: vault)
      _ = try await chip.enroll(.leftIndex, as: "print-2", in: vault)
      try await vault.put("bound", "secret", .currentSet)
    }
    lies.withLock { $0 = true }
    for _ in 1...4 {
      try await request { (vault: Vault) async throws in
        await #expect(throws: VaultError.self) { try await vault.get("bound", by: Person(touches: [])) }
        #expect(try await vault.items(.everything).allSatisfy { $0.state == .living })
      }
    }
    lies.withLock { $0 = false }
    try await request { (vault: Vault) async throws in
      #expect(try await vault.get("bound", by: Person(touches: [chip.scan("print-1")])) == "secret")
    }
  }

  @Test("an enrolment reports unknown prints on the reader's chip, and does not delete them")
  func unknown() async throws {
    let chip = try await Chip()
    let other = try await ScratchStore()
    let stranger = try other.open(reader: chip.process, holdsReader: true)
    _ = try await chip.enroll(.leftThumb, as: "of-another-system", in: stranger)
    try await chip.process.close()
    let vault = try chip.open()
    let person = Person(passcodes: [Self.right], touches: chip.enrolment("print-1"))
    _ = try await person.with(vault) { try await vault.enroll(.rightIndex, in: $0) }
    let notices = person.events.contains { event in
      if case .notice(.unknownPrintsOnChip(1)) = event { true } else { false }
    }
    #expect(notices)
    let others = try await stranger.prints(of: await stranger.storedSet())
    #expect(try await chip.process.storedPrints(knowing: others).present == Set(others.map(\.id)))
    #expect(others.count == 1)
  }

  @Test("an unplugged reader is a definite error, counts no failure, and destroys nothing")
  func unplugged() async throws {
    let chip = try await Chip()
    let vault = try chip.open()
    _ = try await chip.enroll(.rightIndex, as: "print-1", in: vault)
    try await vault.put("bound", "secret", .currentSet)
    let unplug: @Sendable () async throws -> Void = { try chip.chip.unplug() }
    await #expect(throws: VaultError.reader(.removed)) { try await vault.get("bound", by: Person(touches: [unplug])) }
    #expect(try await vault.status().failures == 0)
    #expect(try await vault.items(.everything).first?.state == .living)
  }
}

extension Vault {
  fileprivate func prints(of set: StoredSet) throws -> [EnrolledPrint] { try presence.sets.prints(of: set) }

  /// The store's only enrolment set.
  fileprivate func storedSet() throws -> StoredSet {
    let store = store
    let sets = try store.read { snapshot in try snapshot.sets() }
    return try #require(sets.first)
  }
}
