import GRDB
import Glibc
import Keys
import Presence
internal import Primitives
import VaultItems
import VaultStore

/// A backup of a store as one file: a head, and the rows of the store's tables in chunks that are sealed under a key
/// derived from the root key. Without the store's device key or the recovery key, nobody can read or change the rows,
/// or try passcodes. Whoever has the recovery key can forge a backup.
struct BackupFile {
  /// The version of this layout.
  static let version: UInt64 = 2

  private static let magic = Array("whorl-backup\n".utf8)
  /// The longest head after magic and length, in bytes.
  private static let headLimit = 4 << 10
  private static let saltCount = 32

  /// The part that can be read without a key.
  struct Head {
    var databaseID: [UInt8]
    var owner: UInt64
    /// Random bytes from which each backup gets a key of its own.
    var salt: [UInt8]
    /// The root key under the recovery key.
    var recovery: Slot
  }

  let head: Head
  /// The head as it is in the file, with magic and length.
  private let headBytes: [UInt8]
  /// Open for reading, or for writing; borrowed.
  private let file: LentFile

  /// Writes the head of a new backup.
  ///
  /// - Parameter descriptor: an empty file, open for writing, borrowed for as long as this exists.
  init(to descriptor: Int32, of store: Store, recovery: Slot) throws(VaultError) {
    var info = stat()
    guard fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_size == 0 else {
      throw .invalidRequest("a backup is written into an empty file")
    }
    do {
      head = Head(
        databaseID: store.keys.databaseID, owner: UInt64(store.owner), salt: try Random.bytes(Self.saltCount),
        recovery: recovery)
    } catch {
      throw VaultError(cause: error)
    }
    let encoded = head.encoded
    headBytes = Self.magic + withUnsafeBytes(of: UInt32(encoded.count).bigEndian) { Array($0) } + encoded
    file = Self.lent(descriptor)
    try file.write(headBytes)
  }

  /// Reads the head of a backup.
  ///
  /// - Parameter descriptor: open for reading, borrowed for as long as this exists.
  /// - Throws: `fileUnreadable` for anything else than a backup; `newerFormat`, `olderFormat`.
  init(from descriptor: Int32) throws(VaultError) {
    file = Self.lent(descriptor)
    var info = stat()
    guard fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { throw .noBackup }
    let start = try file.read(at: 0, upTo: Self.magic.count + 4)
    guard start.count == Self.magic.count + 4, start.starts(with: Self.magic) else { throw .noBackup }
    let count = start.suffix(4).reduce(0) { $0 << 8 | Int($1) }
    guard count <= Self.headLimit else { throw .noBackup }
    let encoded = try file.read(at: start.count, upTo: count)
    head = try Head(encoded: encoded)
    headBytes = start + encoded
  }

  private static func lent(_ descriptor: Int32) -> LentFile { LentFile(descriptor, name: "the backup") }

  /// The length of the file in bytes. Nothing beyond it is read.
  var size: Int { file.size }

  // MARK: Contents

  /// Seals the rows of a database into the backup, and syncs the file.
  func seal(_ database: StoreDatabase, _ keys: borrowing RootKeys) throws(VaultError) {
    let chunks = try SealedChunks(to: file, key: key(keys))
    do {
      try database.queue.read { db in try BackupRows.write(db) { try chunks.append($0) } }
      try chunks.finish()
    } catch {
      throw VaultError(cause: error)
    }
    try file.sync()
  }

  /// Makes a database of the rows in the backup. SQLite never opens a file from a backup, which could be crafted to
  /// exploit a bug in SQLite.
  ///
  /// - Parameters:
  ///   - path: where the database is made.
  ///   - quota: its largest size in bytes; nil: no limit.
  /// - Throws: `fileUnreadable` where the backup was damaged, and where its rows are not those of a store; `storeFull`.
  func open(into path: String, _ keys: borrowing RootKeys, quota: Int?) throws(VaultError) -> StoreDatabase {
    let chunks = try OpenedChunks(of: file, from: headBytes.count, key: key(keys))
    let database = try StoreDatabase(at: path, creating: true, quota: quota)
    do {
      try database.queue.write { db in try BackupRows.read(into: db) { try chunks.take($0) } }
      guard try chunks.isAtEnd else { throw VaultError.otherRows }
      return database
    } catch {
      database.close()
      if (error as? DatabaseError)?.resultCode == .SQLITE_CONSTRAINT { throw .otherRows }
      throw database.error(error)
    }
  }

  func key(_ keys: borrowing RootKeys) throws(VaultError) -> SecretBytes {
    do {
      return try KDF.hkdf(key: keys.derive("backup"), salt: head.salt, info: Digest.sha256(headBytes))
    } catch {
      throw VaultError(cause: error)
    }
  }
}

extension BackupFile.Head {
  private enum Tag {
    static let version: UInt8 = 1
    static let format: UInt8 = 2
    static let databaseID: UInt8 = 3
    static let owner: UInt8 = 4
    static let salt: UInt8 = 5
    static let parameters: UInt8 = 6
    static let box: UInt8 = 7
  }

  fileprivate var encoded: [UInt8] {
    var encoding = CanonicalEncoding()
    encoding.append(tag: Tag.version, BackupFile.version)
    encoding.append(tag: Tag.format, UInt64(StoreDatabase.format))
    encoding.append(tag: Tag.databaseID, databaseID)
    encoding.append(tag: Tag.owner, owner)
    encoding.append(tag: Tag.salt, salt)
    encoding.append(tag: Tag.parameters, recovery.parameters)
    encoding.append(tag: Tag.box, recovery.box)
    return encoding.bytes
  }

  fileprivate init(encoded: [UInt8]) throws(VaultError) {
    var decoder = CanonicalDecoder(encoded)
    do {
      let version = try decoder.number(Tag.version)
      guard version == BackupFile.version else {
        throw version > BackupFile.version
          ? VaultError.newerFormat(Int(clamping: version)) : .olderFormat(Int(clamping: version))
      }
      let format = Int(clamping: try decoder.number(Tag.format))
      guard format <= StoreDatabase.format else { throw VaultError.newerFormat(format) }
      guard format == StoreDatabase.format else { throw VaultError.olderFormat(format) }
      databaseID = try decoder.bytes(Tag.databaseID)
      owner = try decoder.number(Tag.owner)
      salt = try decoder.bytes(Tag.salt)
      recovery = Slot(
        name: .recovery, parameters: try decoder.bytes(Tag.parameters), box: try decoder.bytes(Tag.box))
      guard decoder.isAtEnd else { throw VaultError.noBackup }
    } catch let error as VaultError {
      throw error
    } catch {
      throw .noBackup
    }
  }

  /// Refuses the backup of another user's store.
  func require(owner user: UInt32) throws(VaultError) {
    guard owner == UInt64(user) else {
      throw .fileUnreadable("it is a backup of another user's store (user \(owner), and this is user \(user))")
    }
  }
}

extension VaultError {
  static let noBackup = fileUnreadable("it is not a backup of whorl")
}
