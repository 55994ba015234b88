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
  /// The messages of this machine, which asks to join, that the repository has.
  package var ownMessages: [String] = []
  /// Whether the repository has ``SyncPath/format``.
  package var hasFormat = false
  /// How many records of members the repository has.
  package var circleRecords = 0
  /// Files to remove from the repository.
  package var obsolete: [String] = []

  package struct Head: Codable, Sendable, Hashable {
    package var sequence: Int
    package var records: JSONBytes
    /// The digest of the newest list of members that it knows; nil from a version of Whorl that did not keep it.
    package var list: JSONBytes?

    package init(sequence: Int, records: JSONBytes, list: JSONBytes) {
      (self.sequence, self.records, self.list) = (sequence, records, list)
    }

    /// Whether the member knows a list of members that this machine has not seen.
    package func knowsMore(than circle: Circle) -> Bool {
      list.map { list in !circle.chain.contains { $0.digest == list.bytes } } ?? false
    }
  }

  /// A machine that asks to join, with the messages that were exchanged with it.
  package struct Candidate: Codable, Sendable, Hashable {
    package let id: String
    package let request: JSONBytes
    /// This machine's answer; nil until its owner has begun to approve the other one.
    package var answer: JSONBytes?
    /// Whether the repository has the answer.
    package var isAnswerPublished = false
    /// Whether another member has answered, which then is the one to approve the machine.
    package var isAnsweredElsewhere = false
    package var opening: JSONBytes?
    package var consent: JSONBytes?

    /// Whether this machine's answer has to be published.
    package var isAnswerPending: Bool { answer != nil && !isAnswerPublished && !isAnsweredElsewhere }

    package init(id: MemberID, request: [UInt8]) { (self.id, self.request) = (id.description, JSONBytes(request)) }
  }

  package init() {}
}

extension StoreSnapshot {
  /// The store's circle; nil if it is in none, or in one of the first format.
  package func circle() throws -> Circle? { try slot(.circle).flatMap { try Circle($0, in: store) } }

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

  /// Has records encrypted again that were for this machine's own lists of members from a number on: another machine has
  /// published that one first, so these lists come later now, or not at all.
  package func encryptAgain(from epoch: Int) throws {
    try db.execute(sql: "UPDATE sync_record SET epoch = ?1 - 1 WHERE epoch >= ?1", arguments: [epoch])
  }

  package func remove(_ row: RecordRow) throws {
    try db.execute(sql: "DELETE FROM sync_record WHERE name = ?", arguments: [row.name.data])
  }
}
