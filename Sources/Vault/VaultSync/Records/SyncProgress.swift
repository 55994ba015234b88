import GRDB
import Keys
package import SecretModel
package import VaultStore

/// What this machine has seen of the others and of the repository. Stored apart from the circle, since it changes with
/// every run.
package struct SyncProgress: Codable, Sendable {
  /// The greatest logical clock of all records that are known here.
  package var clock = LogicalClock.start
  /// How often this machine has published.
  package var sequence = 0
  /// The last ``MemberHead`` of each member.
  package var heads: [String: Head] = [:]
  /// How many records the repository has lost.
  package var lost = 0
  /// Machines that ask to join.
  package var candidates: [Candidate] = []
  /// Whether the repository has this machine's request to join.
  package var hasRequest = false
  /// Whether the repository has ``SyncPath/format``.
  package var hasFormat = false
  /// How many records of members the repository has.
  package var circleRecords = 0
  /// Files to remove from the repository.
  package var obsolete: [String] = []

  package struct Head: Codable, Sendable, Hashable {
    package var sequence: Int
    package var records: JSONBytes

    package init(sequence: Int, records: JSONBytes) { (self.sequence, self.records) = (sequence, records) }
  }

  package struct Candidate: Codable, Sendable, Hashable {
    package var id: String
    package var name: String
    package var words: [String]
    package var file: JSONBytes

    package init(id: String, name: String, words: [String], file: JSONBytes) {
      (self.id, self.name, self.words, self.file) = (id, name, words, file)
    }
  }

  package init() {}
}

extension StoreSnapshot {
  /// The store's circle; nil if it is in none.
  package func circle() throws -> Circle? { try slot(.circle).map { try Circle($0, in: store) } }

  package func syncProgress() throws -> SyncProgress {
    guard
      let row = try Row.fetchOne(db.cachedStatement(sql: "SELECT progress FROM sync_progress WHERE id = 1")),
      let line = try? openRecord(row.bytes(0), key: store.keys.derive("sync"), aad: SyncProgress.aad)
    else { return SyncProgress() }
    return try JSONLine.read(line)
  }
}

extension SyncProgress {
  fileprivate static let aad = Array("sync_progress".utf8)
}

extension StoreTransaction {
  package func put(_ circle: Circle) throws {
    changesRecords = true
    try put(circle.slot(in: store))
  }

  package func put(_ progress: SyncProgress) throws {
    let sealed = try sealRecord(
      JSONLine.line(progress), key: store.keys.derive("sync"), aad: SyncProgress.aad)
    try db.cachedStatement(sql: "INSERT OR REPLACE INTO sync_progress (id, progress) VALUES (1, ?)")
      .execute(arguments: [sealed.data])
  }

  package func remove(_ row: RecordRow) throws {
    try db.execute(sql: "DELETE FROM sync_record WHERE name = ?", arguments: [row.name.data])
  }
}
