import GRDB
import Primitives
import Synchronization
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultStore

@Suite("A read of an item behind a finger")
struct TransactionCountTests {
  @Test("a read of an item behind a finger takes at most 8 reading and 2 writing transactions of the store")
  func count() async throws {
    let image = try await ImageReaderStore()
    let vault = try image.store.open(reader: image.process)
    _ = try await image.enroll(.rightIndex, in: vault)
    for access in [AccessControl.Constraint.currentSet, .presence] {
      try await vault.put("item", "secret", access, replace: true)
      let item = try #require(try await vault.items(.everything).first)
      let counts = TransactionCounts()
      await vault.count(with: counts)
      let person = Person(touches: [image.press(.rightIndex)])
      let secret = try await person.with(vault) { context in
        try await vault.secrets(of: [item.id], reason: nil, in: context)[0].text
      }
      #expect(secret == "secret")
      let (reads, commits) = counts.value
      #expect((1...8).contains(reads), "\(reads)")
      #expect((1...2).contains(commits), "\(commits)")
    }
  }
}

/// Counts the transactions of a database.
private final class TransactionCounts: Sendable {
  private let counts = Mutex((reads: 0, commits: 0))

  var value: (reads: Int, commits: Int) { counts.withLock { $0 } }

  func note(_ statement: String) {
    counts.withLock { counts in
      if statement.hasPrefix("BEGIN DEFERRED") { counts.reads += 1 }
      if statement.hasPrefix("BEGIN IMMEDIATE") { counts.commits += 1 }
    }
  }
}

extension Vault {
  fileprivate func count(with counts: TransactionCounts) {
    store.database.queue.inDatabase { db in db.trace { counts.note("\($0)") } }
  }
}
