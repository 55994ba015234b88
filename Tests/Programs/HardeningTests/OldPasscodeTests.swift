import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

/// After a change of the passcode, an attacker who knows the old one puts back earlier files.
@Suite("The old passcode after a change")
struct OldPasscodeTests {
  /// The part that is put back. The slots are tried with and without spoiling the record, which would refuse them.
  enum Piece: CaseIterable {
    case slots, slotsAndSpoiledRecord, sets, database, state, noState, slotsAndRecord
  }

  private static let old = ScratchStore.passcode

  @Test("an old passcode opens nothing stored after its change, whichever earlier parts of the store are put back")
  func pieces() async throws {
    let store = try await ScratchStore()
    let before = try await prepared(store)
    let after = try store.snapshot()
    for first in Piece.allCases {
      for second in Piece.allCases {
        try store.restore(["vault.db", "vault.db-wal", "vault.db-shm", "state"], from: after)
        // Restore the database first: rows are then put into it.
        for piece in Set([first, second]).sorted(by: { $0 == .database && $1 != .database }) {
          try await putBack(piece, from: before, in: store)
        }
        // The whole record with its state is a complete earlier store, which cannot be detected.
        let whole =
          Set([first, second]) == [.slotsAndRecord, .state] || Set([first, second]) == [.slotsAndRecord, .noState]
        guard !whole else { continue }
        try await attack(store, "\(first) and \(second)")
      }
    }
  }

  /// A store with a changed passcode, and the folder with its earlier files.
  private func prepared(_ store: ScratchStore) async throws -> String {
    let vault = try store.open()
    try await vault.put("old", "old secret", .passcode)
    await vault.emptyLog()
    let before = try store.snapshot()
    try await Person(passcodes: [Self.old], newPasscode: "another").with(vault) {
      try await vault.changePasscode(in: $0)
    }
    try await vault.put("new", "new secret", .passcode)
    try await vault.put("gated", "gated secret", .presence)
    await vault.emptyLog()
    return before
  }

  private func putBack(_ piece: Piece, from before: String, in store: ScratchStore) async throws {
    func rows(_ table: String) async throws {
      try await store.edit(
        "ATTACH '\(before)/vault.db' AS before; DELETE FROM main.\(table);"
          + "INSERT INTO main.\(table) SELECT * FROM before.\(table)")
    }
    switch piece {
    case .slots: try await rows("slot")
    case .slotsAndSpoiledRecord:
      try await rows("slot")
      try await store.edit("UPDATE store SET authority = x'00'")
    case .slotsAndRecord:
      try await rows("slot")
      try await rows("store")
    case .sets: try await rows("enrolment_set")
    case .database: try store.restore(["vault.db", "vault.db-wal", "vault.db-shm"], from: before)
    case .state: try store.restore(["state"], from: before)
    case .noState: try store.restore(["state"], from: "/nonexistent")
    }
  }

  /// All attempts of an attacker who knows only the old passcode and has much time.
  private func attack(_ store: ScratchStore, _ what: String) async throws {
    for hours in [UInt64(0), 2, 4] {
      let clock = BootClock(bootID: { "this boot" }, now: { hours * 3_600_000_000_000 })
      guard let vault = try? store.open(clock: clock) else { return }
      let person = { Person(passcodes: [Self.old], newPasscode: "the thief's") }
      _ = try? await vault.acceptRestore(by: person())
      try? await person().with(vault) { try await vault.unlock(in: $0) }
      for name in ["new", "gated"] {
        let got = try? await vault.get(name, ContextOptions(preferPasscode: true), by: person())
        #expect(got == nil, "\(what): \(name)")
      }
      try? await person().with(vault) { try await vault.changePasscode(in: $0) }
    }
  }
}

extension Vault {
  fileprivate func emptyLog() { store.database.forgetOldPages() }
}
