import FoundationEssentials
import GRDB
import Presence
import Primitives
import ProgramDriver
import ReaderClient
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore
import VirtualFinger

@Suite("A vault with the fingers that fprintd has", .serialized)
struct FprintdTests {
  private static let mine = SyntheticFinger(person: 1, finger: .rightIndex)
  private static let others = SyntheticFinger(person: 2, finger: .rightIndex)

  private static let keeping = ContextOptions.keepingEvidence(.never)

  private func with(_ body: (PrivateFprintd, Vault) async throws -> Void) async throws {
    try await with { fprintd, vault, _ in try await body(fprintd, vault) }
  }

  /// The private fprintd counts as the machine's own: its readers are physical and its fingers are followed.
  private func with(_ body: (PrivateFprintd, Vault, ScratchStore) async throws -> Void) async throws {
    try await PrivateFprintd.with(.image) { fprintd in
      try await fprintd.enroll("right-index-finger", pressing: Self.mine)
      let store = try await ScratchStore()
      let vault = try store.open(reader: InterposedReader.physical(Self.process(fprintd)))
      try await body(fprintd, vault, store)
      await vault.shutdown()
    }
  }

  private static func process(_ fprintd: PrivateFprintd) -> ReaderProcess {
    ReaderProcess(
      program: ReaderBuild.program, selection: .fprintd(device: nil),
      fprintd: FprintdPlace(bus: fprintd.bus, templates: fprintd.templates))
  }

  private func read(_ item: ItemID, _ vault: Vault, touch: @escaping @Sendable () async throws -> Void) async throws
    -> String
  {
    try await Person(touches: [touch]).with(vault) { try await vault.secrets(of: [item], reason: nil, in: $0)[0].text }
  }

  /// Tries several times: the last answer arrives before the reader is released.
  private func replace(_ fprintd: PrivateFprintd) async throws {
    for _ in 1...20 {
      do {
        return try await fprintd.enroll("right-index-finger", pressing: Self.others)
      } catch {
        try await Task.sleep(for: .milliseconds(100))
      }
    }
    try await fprintd.enroll("right-index-finger", pressing: Self.others)
  }

  @Test("a scan in which fprintd ends releases nothing, and the next one uses the restarted fprintd")
  func restarted() async throws {
    try await with { fprintd, vault in
      let item = try await vault.add("item", .biometryAny)
      await #expect {
        _ = try await read(item, vault) { fprintd.killDaemon() }
      } throws: {
        if case .reader(.processDied) = $0 as? VaultError { true } else { false }
      }
      try await fprintd.restart()
      #expect(try await read(item, vault) { try fprintd.image.press(Self.mine.impression(100)) } == "item")
    }
  }

  @Test("a context that a finger satisfied opens nothing bound after that finger was replaced in fprintd")
  func keptContext() async throws {
    try await with { fprintd, vault in
      let bound = try await vault.add("bound", .biometryCurrentSet)
      let person = Person(touches: [{ try fprintd.image.press(Self.mine.impression(100)) }])
      try await person.with(vault, Self.keeping) { handle in
        try await vault.evaluate(.biometrics, reason: nil, in: handle)
        #expect(try await vault.secrets(of: [bound], reason: nil, in: handle)[0].text == "bound")
        let state = try await vault.biometry().state

        try await replace(fprintd)
        await #expect(throws: VaultError.self) {
          _ = try await vault.secrets(of: [bound], reason: nil, in: handle)
        }
        #expect(try await vault.biometry().state != state)
      }
      let other = Person(touches: [{ try fprintd.image.press(Self.others.impression(100)) }])
      await #expect(throws: VaultError.self) {
        _ = try await other.with(vault) { try await vault.secrets(of: [bound], reason: nil, in: $0) }
      }
    }
  }

  @Test("a finger that another program adds to fprintd or deletes there ends the enrolment set at the next request")
  func addedAndDeleted() async throws {
    let thumb = SyntheticFinger(person: 1, finger: .leftThumb)
    try await with { fprintd, vault in
      let any = try await vault.add("any", .biometryAny)
      let press = { @Sendable (finger: SyntheticFinger) in
        { @Sendable () async throws in try fprintd.image.press(finger.impression(100)) }
      }
      for change in ["added", "deleted"] {
        let bound = try await vault.add("bound, then \(change)", .biometryCurrentSet)
        #expect(try await read(bound, vault, touch: press(Self.mine)) == "bound, then \(change)")
        await vault.shutdown()
        if change == "added" {
          try await fprintd.enroll("left-thumb", pressing: thumb)
        } else {
          try await fprintd.delete("left-thumb")
        }
        #expect(try await read(any, vault, touch: press(Self.mine)) == "any")
        let dead = await #expect(throws: VaultError.self) { _ = try await read(bound, vault, touch: press(Self.mine)) }
        #expect(dead == .itemGone, "\(change)")
      }
    }
  }

  @Test("putting a replaced finger's file back into fprintd does not bring its bound items back")
  func putBack() async throws {
    try await PrivateFprintd.with(.storage) { fprintd in
      try await fprintd.enroll("right-index-finger", scanning: "mine")
      let store = try await ScratchStore()
      let vault = try store.open(reader: InterposedReader.physical(Self.process(fprintd)))
      let scan = { @Sendable (word: String) in
        { @Sendable () async throws in try fprintd.storage.scan(word) }
      }
      let bound = try await vault.add("bound", .biometryCurrentSet)
      #expect(try await read(bound, vault, touch: scan("mine")) == "bound")
      await vault.shutdown()
      let file = try #require(try fprintd.templateFile())
      let before = try readFile(file)
      try await fprintd.enroll("right-index-finger", scanning: "another's")
      await #expect(throws: VaultError.self) { _ = try await read(bound, vault, touch: scan("another's")) }
      await vault.shutdown()
      try writeFile(file, before)
      for word in ["mine", "another's"] {
        await #expect(throws: VaultError.self) { _ = try await read(bound, vault, touch: scan(word)) }
      }
      await vault.shutdown()
    }
  }

  @Test("a store's first finger fixes which kind of reader auto means, and only the passcode changes that")
  func recorded() async throws {
    try await with { _, vault in
      #expect(try await vault.status().adapter == nil)
      _ = try await vault.add("bound", .biometryCurrentSet)
      #expect(try await vault.status().adapter == .fprintd)
      await #expect(throws: VaultError.self) {
        try await Person().with(vault) { try await vault.use(.libfprint, in: $0) }
      }
      #expect(try await vault.status().adapter == .fprintd)
      try await Person(passcodes: [ScratchStore.passcode]).with(vault) { try await vault.use(.libfprint, in: $0) }
      #expect(try await vault.status().adapter == .libfprint)
      try await Person(passcodes: [ScratchStore.passcode]).with(vault) { try await vault.use(nil, in: $0) }
      #expect(try await vault.status().adapter == nil)
    }
  }

  @Test("an edited print in the database closes bound items and destroys nothing, since fprintd has not changed")
  func edited() async throws {
    try await with { fprintd, vault, store in
      let bound = try await vault.add("bound", .biometryCurrentSet)
      func read() async throws -> String {
        let person = Person(touches: [{ try fprintd.image.press(Self.mine.impression(100)) }])
        return try await person.with(vault) { try await vault.secrets(of: [bound], reason: nil, in: $0)[0].text }
      }
      let editor = try DatabaseQueue(path: store.path + "/vault.db")
      func edit(_ template: DatabaseValue) throws -> DatabaseValue? {
        try editor.write { db in
          let before = try DatabaseValue.fetchOne(db, sql: "SELECT template FROM enrolment")
          try db.execute(sql: "UPDATE enrolment SET template = ?", arguments: [template])
          return before
        }
      }
      let before = try #require(try edit(Data(repeating: 7, count: 80).databaseValue))
      for _ in 1...2 {
        let refused = await #expect(throws: VaultError.self) { _ = try await read() }
        guard case .storeDamaged = refused else { return #expect(Bool(false), "\(String(describing: refused))") }
      }
      _ = try edit(before)
      #expect(try await read() == "bound")
    }
  }
}
