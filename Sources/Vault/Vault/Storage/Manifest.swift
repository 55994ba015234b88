import Glibc
import Keys
import SecureMemory

/// The keyed record beside the database that tells an earlier copy of the database from the current one.
///
/// After each commit it holds the commit's number, the digest of the authenticated record, the failure counts, and a
/// digest of all slots and of all enrolment sets: a database put back, or a write-ahead log deleted, is noticed, never
/// lowers a count, and brings back no passcode or finger of its day. Two places take turns: a torn write spoils the new
/// one and leaves the other.
struct Manifest: Equatable {
  var sequence: UInt64
  var failures: UInt32
  var passcodeFailures: UInt32
  /// SHA-256 of the authority's box.
  var digest: [UInt8]
  /// Over all slots; zeros, which no digest is, while nobody knows which slots are right.
  var slots: [UInt8]
  /// The same over all enrolment sets.
  var sets: [UInt8]

  private static let slotSize = 512
  private static let magic: [UInt8] = Array("WHORLST3".utf8)
  /// Of the magic, the three numbers and the three digests.
  private static let payloadSize = 8 + 8 + 4 + 4 + 3 * 32

  init(of authority: Authority, box: [UInt8]) {
    self.init(of: authority, digest: Digest.sha256(box))
  }

  init(of authority: Authority, digest: [UInt8]) {
    sequence = authority.sequence
    failures = authority.lockout.failures
    passcodeFailures = authority.lockout.passcode.failures
    self.digest = digest
    slots = authority.doubts.contains(.slots) ? Self.unknown : authority.digest(of: .slots)
    sets = authority.doubts.contains(.sets) ? Self.unknown : authority.digest(of: .sets)
  }

  private init(verified bytes: [UInt8]) {
    sequence = Self.number(bytes[8..<16])
    failures = UInt32(Self.number(bytes[16..<20]))
    passcodeFailures = UInt32(Self.number(bytes[20..<24]))
    digest = Array(bytes[24..<56])
    slots = Array(bytes[56..<88])
    sets = Array(bytes[88..<120])
  }

  private static let unknown = [UInt8](repeating: 0, count: 32)

  private var payload: [UInt8] {
    var bytes = Self.magic
    withUnsafeBytes(of: sequence.bigEndian) { bytes += $0 }
    withUnsafeBytes(of: failures.bigEndian) { bytes += $0 }
    withUnsafeBytes(of: passcodeFailures.bigEndian) { bytes += $0 }
    return bytes + digest + slots + sets
  }

  /// The newer of the two slots that verify; nil when the file is missing or neither does.
  static func read(from path: String, key: borrowing SecretBytes) throws(VaultError) -> Manifest? {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw .inputOutput("cannot open \(path): \(errnoText())")
    }
    defer { Glibc.close(descriptor) }
    var newest: Manifest?
    for slot in 0..<2 {
      var bytes = [UInt8](repeating: 0, count: payloadSize + 32)
      guard pread(descriptor, &bytes, bytes.count, slot * slotSize) == bytes.count else { continue }
      guard MAC.verify(Array(bytes[payloadSize...]), key: key, Array(bytes[..<payloadSize])),
        Array(bytes[..<8]) == magic
      else { continue }
      let manifest = Manifest(verified: bytes)
      if manifest.sequence >= newest?.sequence ?? 0 { newest = manifest }
    }
    return newest
  }

  /// Writes the slot of this sequence number and, unless it is left to ``sync(_:)``, waits until it is on the disk.
  func write(to path: String, key: borrowing SecretBytes, syncing: Bool = true) throws(VaultError) {
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .inputOutput("cannot open \(path): \(errnoText())") }
    defer { Glibc.close(descriptor) }
    let bytes = payload + MAC.hmacSHA256(key: key, payload)
    let offset = Int(sequence % 2) * Self.slotSize
    guard pwrite(descriptor, bytes, bytes.count, offset) == bytes.count, !syncing || fdatasync(descriptor) == 0 else {
      throw .inputOutput("cannot write \(path): \(errnoText())")
    }
  }

  /// Waits until what was written is on the disk; does nothing where there is no manifest.
  static func sync(_ path: String) throws(VaultError) {
    let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      if errno == ENOENT { return }
      throw .inputOutput("cannot open \(path): \(errnoText())")
    }
    defer { Glibc.close(descriptor) }
    guard fdatasync(descriptor) == 0 else { throw .inputOutput("cannot write \(path): \(errnoText())") }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}
