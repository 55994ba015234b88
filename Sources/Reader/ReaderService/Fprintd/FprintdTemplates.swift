internal import CFprint
internal import Fingerprint
internal import Glibc
internal import Primitives

/// fprintd's own template files of one user: `USER/DRIVER/DEVICE/FINGER`, which only root may read.
///
/// fprintd does not report the driver and device of a reader. The digest of a finger therefore covers every file that
/// the user has for that finger: with two readers under fprintd, enrolling on one counts as a change on the other.
struct FprintdTemplates: Sendable {
  /// The folder that contains one folder for each user.
  let root: String
  /// The user's name. Nil if the user has none.
  let user: String?

  /// The user's folder.
  var folder: String? { user.map { "\(root)/\($0)" } }

  init(of user: String?, in root: String) {
    self.root = root
    self.user = user
  }

  /// The name of the user this process runs as. Nil if the user has none.
  static var ownUser: String? {
    // getpwuid: the entry belongs to libc and is valid until the next call.
    getpwuid(getuid()).flatMap { $0.pointee.pw_name }.map { String(cString: $0) }
  }

  /// A print for each finger: all with digests, or all without if one file cannot be read, because a partly known set
  /// cannot be compared.
  func prints(of fingers: [Finger]) -> [FprintdPrint] {
    let prints = fingers.map { FprintdPrint(finger: $0, digest: digest(of: $0)) }
    guard prints.contains(where: { $0.digest == nil }) else { return prints }
    return fingers.map { FprintdPrint(finger: $0, digest: nil) }
  }

  /// The digest of a finger's files; nil if there is none, or if one cannot be read.
  private func digest(of finger: Finger) -> [UInt8]? {
    guard let folder, let drivers = names(in: folder) else { return nil }
    let sum = SHA256Sum()
    var isThere = false
    for driver in drivers.sorted() {
      guard let devices = names(in: "\(folder)/\(driver)") else { return nil }
      for device in devices.sorted() {
        switch contents(of: "\(folder)/\(driver)/\(device)/\(finger.fprintdFile)") {
        case .none: return nil
        case .some(.none): continue
        case .some(.some(let bytes)):
          isThere = true
          // A name contains no zero byte, and the length precedes the contents, so the input is unambiguous.
          sum.add(Array(driver.utf8) + [0] + Array(device.utf8) + [0] + Array(String(bytes.count).utf8) + [0])
          sum.add(bytes)
        }
      }
    }
    return isThere ? sum.finished() : nil
  }

  /// Nil if the folder cannot be read. Names that are not folders are left out when they are opened.
  private func names(in path: String) -> [String]? {
    Folder.names(in: path) ?? (errno == ENOTDIR ? [] : nil)
  }

  /// The contents of a file. Nil if it cannot be read; an inner nil if it does not exist.
  private func contents(of path: String) -> [UInt8]?? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return errno == ENOENT || errno == ENOTDIR ? .some(nil) : nil }
    defer { close(descriptor) }
    var status = stat()
    let limit = 16 << 20
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit else {
      return nil
    }
    var isWhole = false
    let bytes = [UInt8](unsafeUninitializedCapacity: Int(status.st_size) + 1) { buffer, count in
      while count < buffer.count {
        let length = read(descriptor, buffer.baseAddress.map { $0 + count }, buffer.count - count)
        guard length > 0 else {
          isWhole = length == 0
          return
        }
        count += length
      }
    }
    // A file that grew while it was read is being written, so it does not count.
    return isWhole ? .some(bytes) : nil
  }
}

/// SHA-256 from GLib: the reader process links no other cryptographic library.
private final class SHA256Sum {
  // g_checksum_new: transfer full, and never NULL for a type it knows
  private let checksum = g_checksum_new(G_CHECKSUM_SHA256)

  func add(_ bytes: [UInt8]) {
    // reads as many bytes as it is told
    g_checksum_update(checksum, bytes, bytes.count)
  }

  func finished() -> [UInt8] {
    var length: gsize = 32
    return [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
      // writes at most `length` bytes, and sets `length` to their number
      g_checksum_get_digest(checksum, buffer.baseAddress, &length)
      count = Int(length)
    }
  }

  deinit { g_checksum_free(checksum) }
}
