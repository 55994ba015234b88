import Foundation
package import GRDB
import Keys
import Primitives
package import SecretModel
package import VaultStore

/// A row of the `sync_record` table: a record of the circle, with its state in this store.
package struct RecordRow: Sendable {
  /// The kind of a record, and its state in this store.
  package enum State: String, Codable, Sendable {
    /// The item is stored.
    case stored
    /// The item cannot be stored yet.
    case waiting
    /// The item was deleted.
    case deleted
    /// A version that lost a conflict.
    case kept
  }

  /// The sealed part.
  package struct Head: Codable, Sendable {
    package var state: State
    package var clock: LogicalClock
    package var seen: VersionVector
    package var writer: String
    /// The digest of the signed line.
    package var version: JSONBytes
    package var isItem: Bool
    package var service: String
    package var account: String
    package var modified: Double
    /// Why the item cannot be stored yet.
    package var reason: String?

    package var title: ItemName { ItemName(unchecked: service, account: account) }
  }

  package var name: [UInt8]
  /// The id of the stored item.
  package var item: [UInt8]?
  /// The digest of ``file``.
  package private(set) var digest: [UInt8]
  /// The digest of the file that the repository had last; nil if it had none.
  package var published: [UInt8]?
  /// The number of the record of members for which the file was encrypted.
  package private(set) var epoch: Int
  package var head: Head
  /// The encrypted file.
  package private(set) var file: [UInt8]

  package init(name: [UInt8], head: Head, file: [UInt8], epoch: Int) {
    self.name = name
    self.head = head
    self.file = file
    self.epoch = epoch
    digest = Digest.sha256(file)
  }

  /// Replaces the file with a new encryption of the same version.
  package mutating func put(_ file: [UInt8], epoch: Int) {
    self.file = file
    self.epoch = epoch
    digest = Digest.sha256(file)
  }

  package var isPublished: Bool { published == digest }

  /// Whether a file equals ``file``.
  package func has(_ file: [UInt8]) -> Bool { Digest.sha256(file) == digest }

  /// The digest of a file.
  package static func digest(of file: [UInt8]) -> [UInt8] { Digest.sha256(file) }
}

extension RecordRow {
  static let columns = "name, item, digest, published, epoch, head, file"

  /// Nil if the row does not verify.
  init?(_ row: Row, in store: OpenedStore) {
    name = row.bytes(0)
    item = row.optionalBytes(1)
    digest = row.bytes(2)
    published = row.optionalBytes(3)
    file = row.bytes(6)
    // The column is not sealed: a greater number than the file's would keep the record from being encrypted again.
    epoch = min(Int.fromDatabaseValue(row[4]) ?? 0, Revision.epoch(of: file))
    guard let line = try? openRecord(row.bytes(5), key: store.keys.derive("sync"), aad: Self.aad(name, item, digest)),
      let head = try? JSONLine.read(line, as: Head.self), Digest.sha256(file) == digest
    else { return nil }
    self.head = head
  }

  private static func aad(_ name: [UInt8], _ item: [UInt8]?, _ digest: [UInt8]) -> [UInt8] {
    var aad = CanonicalEncoding()
    aad.append(tag: 1, "sync_record")
    aad.append(tag: 2, name)
    aad.append(tag: 3, optional: item)
    aad.append(tag: 4, digest)
    return aad.bytes
  }

  package func write(_ change: StoreTransaction) throws {
    change.changesRecords = true
    let sealed = try sealRecord(
      JSONLine.line(head), key: change.store.keys.derive("sync"), aad: Self.aad(name, item, digest))
    try change.db.cachedStatement(
      sql: "INSERT OR REPLACE INTO sync_record (\(Self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?)"
    ).execute(
      arguments: [name.data, item?.data, digest.data, published?.data, epoch, sealed.data, file.data])
  }
}

extension StoreSnapshot {
  /// The record of this name; nil if there is none, or its row does not verify.
  package func record(_ name: [UInt8]) throws -> RecordRow? { try records(where: "name = ?", [name.data]).first }

  /// The record of a stored item.
  package func record(ofItem id: [UInt8]) throws -> RecordRow? { try records(where: "item = ?", [id.data]).first }

  package func records(where condition: String, _ arguments: StatementArguments = []) throws -> [RecordRow] {
    try Row.fetchAll(
      db.cachedStatement(sql: "SELECT \(RecordRow.columns) FROM sync_record WHERE \(condition)"), arguments: arguments
    ).compactMap { RecordRow($0, in: store) }
  }

  package func recordCount(where condition: String, _ arguments: StatementArguments = []) throws -> Int {
    try Int.fetchOne(
      db.cachedStatement(sql: "SELECT count(*) FROM sync_record WHERE \(condition)"), arguments: arguments) ?? 0
  }

  /// A digest over the names and digests of all records that the repository has.
  package func publishedDigest() throws -> [UInt8] {
    try digest(of: "SELECT name, published FROM sync_record WHERE published IS NOT NULL ORDER BY name")
  }

  /// ``publishedDigest()`` as it will be once all records are published that can be. Those that could not be encrypted
  /// for the newest list of members yet stay as the repository has them.
  ///
  /// - Parameter epoch: the number of that list.
  package func digestOfRecords(epoch: Int) throws -> [UInt8] {
    try digest(
      of: """
        SELECT name, iif(epoch < ?1, published, digest) FROM sync_record
        WHERE epoch >= ?1 OR published IS NOT NULL ORDER BY name
        """, [epoch])
  }

  private func digest(of query: String, _ arguments: StatementArguments = []) throws -> [UInt8] {
    var text: [UInt8] = []
    let rows = try Row.fetchCursor(db.cachedStatement(sql: query), arguments: arguments)
    while let row = try rows.next() {
      text += Array("\(Hexadecimal.text(of: row.bytes(0))) \(Hexadecimal.text(of: row.bytes(1)))\n".utf8)
    }
    return Digest.sha256(text)
  }
}

extension RecordRow.Head {
  package init(_ revision: Revision, _ state: RecordRow.State, _ title: ItemName) {
    self.init(
      state: state, clock: revision.head.clock, seen: revision.head.seen, writer: revision.writer.description,
      version: JSONBytes(revision.signed.digest), isItem: revision.head.item != nil, service: title.service,
      account: title.account, modified: revision.head.modified)
  }
}

extension RecordRow {
  /// The version in the file, with its secret still encrypted.
  ///
  /// - Throws: `storeDamaged` if the file is unreadable: the row itself has verified.
  package func revision(for circle: Circle, from authors: Authors? = nil) throws(VaultError) -> Revision {
    do throws(VaultError) {
      let known = if let authors { authors } else { try circle.everyAuthor }
      return try Revision(
        file, with: circle.keys.encryption, expectedAt: circle.place, circle: circle.circle, from: known)
    } catch .fileUnreadable(let why) {
      throw .storeDamaged("a record of what is shared: \(why)")
    }
  }
}
