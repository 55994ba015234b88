import GRDB
import Glibc
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("Committed changes are on the disk")
struct DurabilityTests {
  @Test("every commit to a store's database syncs its write-ahead log to the disk")
  func synchronous() async throws {
    let store = try await ScratchStore()
    let database = try StoreDatabase(at: store.path + "/vault.db")
    let (synchronous, journal) = try await database.queue.read { db in
      (try Int.fetchOne(db, sql: "PRAGMA synchronous"), try String.fetchOne(db, sql: "PRAGMA journal_mode"))
    }
    #expect(synchronous == 2, "FULL")
    #expect(journal == "wal")
  }

  @Test("opening and reading a store writes nothing")
  func looking() async throws {
    let store = try await ScratchStore()
    try await store.open().put("a", "1")
    let before = try ScratchStore.contents(of: store.path + "/vault.db")
    do {
      let vault = try store.open()
      #expect(try await vault.get("a") == "1")
      let log = store.path + "/vault.db-wal"
      let written = access(log, F_OK) == 0 ? try ScratchStore.contents(of: log).count : 0
      #expect(written == 0)
    }
    let same = try ScratchStore.contents(of: store.path + "/vault.db") == before
    #expect(same)
  }
}
