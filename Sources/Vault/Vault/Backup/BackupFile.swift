import Glibc
import Keys
import SecureMemory

/// A backup of a store as one file: a head, and the database in chunks that are sealed under a key derived from the root
/// key. Nobody can try passcodes on it, change it or open the database in it without the store's device key or the recovery key.
struct BackupFile {
  /// The version of this layout.
  static let version: UInt64 = 1

  private static let magic = Array("whorl-backup\n".utf8)
  /// The longest head after magic and length, in bytes.
  private static let headLimit = 4 << 10
  private static let chunkCount = 64 << 10
  private static let saltCount = 32

  /// What can be read without a key.
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
      throw VaultError(keys: error)
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

  /// The length of the file in bytes.
  var size: Int {
    var info = stat()
    return fstat(file.descriptor, &info) == 0 ? Int(info.st_size) : .max
  }

  // MARK: Contents

  /// Seals a file into the backup, and syncs that.
  func seal(_ database: String, _ keys: borrowing RootKeys) throws(VaultError) {
    let source = Glibc.open(database, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard source >= 0 else { throw .inputOutput("cannot open \(database): \(errnoText())") }
    defer { close(source) }
    let contents = LentFile(source, name: database)
    let key = try key(keys)
    var (place, number) = (0, UInt64(0))
    var chunk = try contents.read(at: place, upTo: Self.chunkCount)
    while true {
      place += chunk.count
      let next = try contents.read(at: place, upTo: Self.chunkCount)
      do {
        try file.write(
          AEAD.seal(SecretBytes(copying: chunk.span), key: key, aad: aad(number, isLast: next.isEmpty)))
      } catch let error as KeysError {
        throw VaultError(keys: error)
      } catch {
        throw VaultError(storage: error)
      }
      number += 1
      if next.isEmpty { break }
      chunk = next
    }
    try file.sync()
  }

  /// Opens the backup into a new private file.
  ///
  /// - Throws: `fileUnreadable` where the backup was damaged.
  func open(into path: String, _ keys: borrowing RootKeys) throws(VaultError) {
    let target = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard target >= 0 else { throw .inputOutput("cannot make \(path): \(errnoText())") }
    defer { close(target) }
    let key = try key(keys)
    let boxCount = Self.chunkCount + AEAD.overhead
    var (place, number) = (headBytes.count, UInt64(0))
    var box = try file.read(at: place, upTo: boxCount)
    while true {
      place += box.count
      let next = try file.read(at: place, upTo: boxCount)
      do {
        try AEAD.open(box, key: key, aad: aad(number, isLast: next.isEmpty)).write(to: target)
      } catch KeysError.authenticationFailed {
        throw .fileUnreadable("the backup was damaged or cut off, or something was appended")
      } catch let error as KeysError {
        throw VaultError(keys: error)
      } catch {
        throw .inputOutput("cannot write \(path): \(error)")
      }
      number += 1
      if next.isEmpty { break }
      box = next
    }
    guard fsync(target) == 0 else { throw .inputOutput("cannot write \(path): \(errnoText())") }
  }

  private func key(_ keys: borrowing RootKeys) throws(VaultError) -> SecretBytes {
    do {
      return try KDF.hkdf(key: keys.derive("backup"), salt: head.salt, info: Digest.sha256(headBytes))
    } catch {
      throw VaultError(storage: error)
    }
  }

  /// Binds a chunk to its place, so that none can be moved, left out or added.
  private func aad(_ number: UInt64, isLast: Bool) -> [UInt8] {
    var aad = CanonicalEncoding()
    aad.append(tag: 1, "backup")
    aad.append(tag: 2, number)
    aad.append(tag: 3, UInt64(isLast ? 1 : 0))
    return aad.bytes
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
      guard version == BackupFile.version else { throw VaultError.newerFormat(Int(clamping: version)) }
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
      throw .fileUnreadable("it is a backup of the store of user \(owner), and this is user \(user)")
    }
  }
}

extension VaultError {
  fileprivate static let noBackup = fileUnreadable("it is not a backup of whorl")
}
