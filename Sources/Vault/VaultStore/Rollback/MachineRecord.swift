import Glibc
import Keys
internal import Primitives

/// The last state of every store whose keys are in the machine's TPM, as the service recorded it: one authenticated
/// file beside the stores. Two counters of the TPM hold its numbers, so that an earlier copy of the file is noticed
/// (docs/decisions/0095).
struct MachineRecord {
  /// The two numbers of the record.
  enum Number: CaseIterable {
    /// Counts all changes except failed touches. The TPM writes each number to its non-volatile memory at once.
    case changes
    /// Counts failed touches. The TPM keeps the number in volatile memory. After a loss of power the counter is an
    /// upper limit.
    case touches
  }

  struct Count {
    let counter: TPMCounter
    var value: UInt64
  }

  struct Entry {
    /// The store's manifest at that time.
    var manifest: Manifest
    /// ``Authority/lineage`` of that state.
    var lineage: [UInt8]
    /// Whether there may be failed touches since then that were not recorded.
    var areTouchesUnknown = false
  }

  private var changes: Count
  private var touches: Count
  /// The stores, by the ids of their databases.
  var entries: [[UInt8]: Entry] = [:]

  init(changes: Count, touches: Count) {
    self.changes = changes
    self.touches = touches
  }

  subscript(number: Number) -> Count {
    get {
      switch number {
      case .changes: changes
      case .touches: touches
      }
    }
    set {
      switch number {
      case .changes: changes = newValue
      case .touches: touches = newValue
      }
    }
  }
}

/// The keys of the machine's record, from a key that the TPM seals for everybody who may use the TPM.
struct MachineRecordKeys: Sendable {
  let sealed: SealedObject
  /// Authenticates the file.
  let file: SharedSecret
  /// The authorization value of both counters.
  let counters: SharedSecret

  /// New keys.
  static func make(in tpm: TPM) throws(VaultError) -> MachineRecordKeys {
    do {
      let key = try Random.key()
      return try MachineRecordKeys(key, sealed: try tpm.seal(key))
    } catch {
      throw VaultError(cause: error)
    }
  }

  /// The keys that this TPM has sealed; nil if another TPM sealed them, or this one was cleared since.
  static func open(_ sealed: SealedObject, in tpm: TPM) throws(VaultError) -> MachineRecordKeys? {
    do {
      let key = try tpm.unseal(sealed)
      return try MachineRecordKeys(key, sealed: sealed)
    } catch TPMError.changed {
      return nil
    } catch {
      throw VaultError(cause: error)
    }
  }

  private init(_ key: borrowing SecretBytes, sealed: SealedObject) throws(KeysError) {
    self.sealed = sealed
    file = SharedSecret(try KDF.hkdf(key: key, info: Array("whorl machine record".utf8)))
    counters = SharedSecret(try KDF.hkdf(key: key, info: Array("whorl TPM counters".utf8)))
  }
}

/// The file: its encoding, and how it is replaced.
extension MachineRecord {
  private enum Tag {
    static let format: UInt8 = 1
    static let entries: UInt8 = 4
    static let store: UInt8 = 5
    static let manifest: UInt8 = 6
    static let areTouchesUnknown: UInt8 = 7
    static let lineage: UInt8 = 8
  }

  private static let format = "whorl machine record 1"
  /// Large enough for the entries of all stores that a machine could have.
  private static let sizeLimit = 16 << 20

  private static func path(in folder: String) -> String { folder + "/record" }

  /// The record and its keys; nil if there is none, or not one of this TPM, or a damaged one.
  static func read(in folder: String, _ tpm: TPM) throws(VaultError) -> (MachineRecord, MachineRecordKeys)? {
    guard let bytes = try contents(of: path(in: folder)), bytes.count > MAC.count else { return nil }
    let signed = Array(bytes.dropLast(MAC.count))
    var decoder = CanonicalDecoder(signed)
    guard (try? decoder.string(Tag.format)) == format, let sealed = try? SealedObject(from: &decoder),
      let keys = try MachineRecordKeys.open(sealed, in: tpm),
      MAC.verify(Array(bytes.suffix(MAC.count)), key: keys.file.bytes, signed),
      let record = try? MachineRecord(from: &decoder)
    else { return nil }
    return (record, keys)
  }

  private init(from decoder: inout CanonicalDecoder) throws(CanonicalDecoder.Unexpected) {
    changes = try Count(from: &decoder)
    touches = try Count(from: &decoder)
    for _ in 0..<(try decoder.number(Tag.entries)) {
      let store = try decoder.bytes(Tag.store)
      guard let manifest = Manifest(payload: try decoder.bytes(Tag.manifest)) else {
        throw CanonicalDecoder.Unexpected()
      }
      let areTouchesUnknown = try decoder.number(Tag.areTouchesUnknown) != 0
      // Missing before the first commit with a number.
      let lineage = decoder.nextTag == Tag.lineage ? try decoder.bytes(Tag.lineage) : []
      entries[store] = Entry(manifest: manifest, lineage: lineage, areTouchesUnknown: areTouchesUnknown)
    }
    guard decoder.isAtEnd else { throw CanonicalDecoder.Unexpected() }
  }

  private func bytes(_ keys: MachineRecordKeys) -> [UInt8] {
    var encoding = CanonicalEncoding()
    encoding.append(tag: Tag.format, Self.format)
    keys.sealed.append(to: &encoding)
    changes.append(to: &encoding)
    touches.append(to: &encoding)
    encoding.append(tag: Tag.entries, UInt64(entries.count))
    for (store, entry) in entries.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      encoding.append(tag: Tag.store, store)
      encoding.append(tag: Tag.manifest, entry.manifest.payload)
      encoding.append(tag: Tag.areTouchesUnknown, UInt64(entry.areTouchesUnknown ? 1 : 0))
      if !entry.lineage.isEmpty { encoding.append(tag: Tag.lineage, entry.lineage) }
    }
    return encoding.bytes + MAC.hmacSHA256(key: keys.file.bytes, encoding.bytes)
  }

  private static func contents(of path: String) throws(VaultError) -> [UInt8]? {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw .onFile("cannot open \(path)")
    }
    defer { Glibc.close(descriptor) }
    var info = stat()
    guard fstat(descriptor, &info) == 0 else { throw .onFile("cannot look at \(path)") }
    guard info.st_mode & S_IFMT == S_IFREG, info.st_uid == geteuid(), info.st_mode & 0o077 == 0 else {
      throw .unsafeDirectory("\(path) is not a private file of this user: chmod 600 and chown it, if you trust it")
    }
    guard info.st_size <= sizeLimit else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(info.st_size))
    guard pread(descriptor, &bytes, bytes.count, 0) == bytes.count else {
      throw .onFile("cannot read \(path)")
    }
    return bytes
  }

  /// The identity of one version of the file: which file it is, and when it was put in place.
  struct File: Equatable {
    private let device: UInt64
    private let number: UInt64
    private let seconds: Int
    private let nanoseconds: Int

    /// That of the file that is there now; nil if there is none.
    init?(in folder: String) {
      var info = stat()
      guard lstat(MachineRecord.path(in: folder), &info) == 0 else { return nil }
      (device, number) = (UInt64(info.st_dev), UInt64(info.st_ino))
      // A new file may get the number of an earlier one, and not the time of its last change.
      (seconds, nanoseconds) = (info.st_ctim.tv_sec, info.st_ctim.tv_nsec)
    }
  }

  /// Replaces the file as a whole, and waits until it is on the disk.
  ///
  /// - Returns: the new file.
  func write(in folder: String, _ keys: MachineRecordKeys) throws(VaultError) -> File? {
    let path = Self.path(in: folder)
    do throws(WholeFile.Failure) {
      let file = try WholeFile(path)
      try file.write(bytes(keys))
      try file.place()
    } catch {
      throw .onFile(error)
    }
    return File(in: folder)
  }
}

extension MachineRecord.Count {
  private enum Tag {
    static let index: UInt8 = 2
    static let value: UInt8 = 3
  }

  fileprivate init(from decoder: inout CanonicalDecoder) throws(CanonicalDecoder.Unexpected) {
    let index = try decoder.number(Tag.index)
    counter = TPMCounter(index: UInt32(truncatingIfNeeded: index))
    value = try decoder.number(Tag.value)
  }

  fileprivate func append(to encoding: inout CanonicalEncoding) {
    encoding.append(tag: Tag.index, UInt64(counter.index))
    encoding.append(tag: Tag.value, value)
  }
}
