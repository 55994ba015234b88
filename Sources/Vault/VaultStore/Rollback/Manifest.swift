import Glibc
import Keys
package import Primitives

/// An authenticated record beside the database, to detect that an earlier copy of the database was put back.
///
/// After each commit it holds the commit's number, the digest of the authority record, the failure counts, and a digest
/// each of all slots and all enrolment sets. So a restored database, or a deleted write-ahead log, is noticed, lowers
/// no count, and brings back no earlier passcode or finger. Two slots are written in turn: a torn write damages one and
/// leaves the other.
package struct Manifest: Equatable {
  var sequence: UInt64
  var failures: UInt32
  var passcodeFailures: UInt32
  /// SHA-256 of the authority's box.
  var digest: [UInt8]
  /// The digest of all slots; ``unknown`` while it is not known which slots are right.
  var slots: [UInt8]
  /// The digest of all enrolment sets.
  var sets: [UInt8]

  private static let slotSize = 512
  private static let magic: [UInt8] = Array("WHORLST3".utf8)
  /// The size of the magic, the three numbers and the three digests.
  private static let payloadSize = 8 + 8 + 4 + 4 + 3 * 32

  init(
    sequence: UInt64, failures: UInt32, passcodeFailures: UInt32, digest: [UInt8], slots: [UInt8], sets: [UInt8]
  ) {
    self.sequence = sequence
    self.failures = failures
    self.passcodeFailures = passcodeFailures
    self.digest = digest
    self.slots = slots
    self.sets = sets
  }

  /// From bytes whose MAC was verified.
  private init(verified bytes: [UInt8]) {
    sequence = Self.number(bytes[8..<16])
    failures = UInt32(Self.number(bytes[16..<20]))
    passcodeFailures = UInt32(Self.number(bytes[20..<24]))
    digest = Array(bytes[24..<56])
    slots = Array(bytes[56..<88])
    sets = Array(bytes[88..<120])
  }

  /// From the payload in another authenticated record; nil for other bytes.
  init?(payload: [UInt8]) {
    guard payload.count == Self.payloadSize, Array(payload[..<8]) == Self.magic else { return nil }
    self.init(verified: payload)
  }

  /// Stands for an unknown digest; no digest is all zeros.
  static let unknown = [UInt8](repeating: 0, count: 32)

  /// Everything that is authenticated.
  var payload: [UInt8] {
    var bytes = Self.magic
    withUnsafeBytes(of: sequence.bigEndian) { bytes += $0 }
    withUnsafeBytes(of: failures.bigEndian) { bytes += $0 }
    withUnsafeBytes(of: passcodeFailures.bigEndian) { bytes += $0 }
    return bytes + digest + slots + sets
  }

  /// The newer of the two slots that verify; nil if neither does.
  fileprivate init?(newestIn file: [UInt8], key: borrowing SecretBytes) {
    var newest: Manifest?
    for start in [0, Self.slotSize] where file.count >= start + Self.sealedSize {
      let bytes = Array(file[start..<start + Self.sealedSize])
      guard MAC.verify(Array(bytes[Self.payloadSize...]), key: key, Array(bytes[..<Self.payloadSize])),
        Array(bytes[..<8]) == Self.magic
      else { continue }
      let manifest = Manifest(verified: bytes)
      if manifest.sequence >= newest?.sequence ?? 0 { newest = manifest }
    }
    guard let newest else { return nil }
    self = newest
  }

  /// The size of a payload and its MAC.
  private static let sealedSize = payloadSize + 32
  /// The size of a file with both slots.
  fileprivate static let fileSize = slotSize + sealedSize

  /// Writes the slot for this sequence number. Waits until it is on the disk if `syncing`; else call ``sync(_:)``.
  package func write(to path: String, key: borrowing SecretBytes, syncing: Bool = true) throws(VaultError) {
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .onFile("cannot open \(path)") }
    defer { Glibc.close(descriptor) }
    let bytes = payload + MAC.hmacSHA256(key: key, payload)
    let offset = Int(sequence % 2) * Self.slotSize
    guard pwrite(descriptor, bytes, bytes.count, offset) == bytes.count, !syncing || fdatasync(descriptor) == 0 else {
      throw .onFile("cannot write \(path)")
    }
  }

  /// Waits until the manifest is on the disk. Does nothing if there is none.
  static func sync(_ path: String) throws(VaultError) {
    let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      if errno == ENOENT { return }
      throw .onFile("cannot open \(path)")
    }
    defer { Glibc.close(descriptor) }
    guard fdatasync(descriptor) == 0 else { throw .onFile("cannot write \(path)") }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// Reads the manifest of a store. Caches the result, so that unchanged bytes are not verified again.
final class ManifestReader {
  private let path: String
  private var last: (file: [UInt8], newest: Manifest?)?

  init(of path: String) { self.path = path }

  /// The newer of the two slots that verify; nil if the file is missing or neither verifies.
  ///
  /// - Parameter key: always the same for a reader.
  func newest(key: borrowing SecretBytes) throws(VaultError) -> Manifest? {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw .onFile("cannot open \(path)")
    }
    defer { Glibc.close(descriptor) }
    var file = [UInt8](repeating: 0, count: Manifest.fileSize)
    let count = pread(descriptor, &file, file.count, 0)
    // A file that cannot be read counts like one in which no slot verifies.
    file.removeLast(file.count - max(count, 0))
    if let last, last.file == file { return last.newest }
    let newest = Manifest(newestIn: file, key: key)
    last = (file, newest)
    return newest
  }
}
