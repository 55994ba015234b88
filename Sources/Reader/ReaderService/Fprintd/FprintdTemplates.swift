// The prints that fprintd keeps of a user: its files, their changes, and which of them a scan looks for.

internal import CFprint
internal import Glibc
internal import Primitives
internal import SDBus

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
          sum.add(Array("\(driver)\0\(device)\0\(bytes.count)\0".utf8))
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

/// Watches fprintd's template files of one user and reports any change, so that another program's enrolment is noticed
/// even if it is deleted again at once. Runs on the bus loop.
///
/// This complements the digests: if the folders cannot be read, it reports nothing.
///
/// `@unchecked Sendable`: used only on the bus loop.
final class FprintdTemplateWatch: BusLoopSource, @unchecked Sendable {
  private let descriptor: Int32
  private let root: String
  let user: String
  private let changed: @Sendable () -> Void
  private var changes = 0
  /// The watch of the folder that contains all users' folders. Only this user's name in it matters.
  private var rootWatch: Int32 = -1

  private static let events = UInt32(
    IN_CLOSE_WRITE | IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF)

  /// Nil if the kernel's limit of inotify instances is reached.
  init?(root: String, user: String, changed: @escaping @Sendable () -> Void) {
    descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    guard descriptor >= 0 else { return nil }
    (self.root, self.user, self.changed) = (root, user, changed)
    BusLoop.shared.post {
      self.watchFolders()
      BusLoop.shared.add(self)
    }
  }

  /// Stops watching.
  func end() { BusLoop.shared.remove(self) }

  deinit { close(descriptor) }

  /// Adding a folder that is watched already changes nothing.
  private func watchFolders() {
    rootWatch = inotify_add_watch(descriptor, root, Self.events)
    let own = "\(root)/\(user)"
    for folder in [own] + folders(in: own).flatMap({ [$0] + folders(in: $0) }) {
      inotify_add_watch(descriptor, folder, Self.events | UInt32(IN_ONLYDIR))
    }
  }

  private func folders(in path: String) -> [String] {
    // The list is empty if the path is not a folder.
    (Folder.names(in: path) ?? []).map { "\(path)/\($0)" }
  }

  func pollRequest() -> BusPollRequest? { BusPollRequest(descriptor: descriptor, events: Int16(POLLIN)) }

  func dispatch() { look() }

  /// The number of changes, all of which were reported before this returns.
  func changesUpToNow() -> Int {
    look()
    return changes
  }

  private func look() {
    BusLoop.shared.checkIsolated()
    var isChanged = false
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
      let length = read(descriptor, &buffer, buffer.count)
      guard length > 0 else { break }
      if concernsUser(buffer[..<length]) { isChanged = true }
    }
    guard isChanged else { return }
    // New folders may have been made.
    watchFolders()
    changes += 1
    changed()
  }

  /// Records of `struct inotify_event`: a watch, a mask, a cookie and the length of the name that follows.
  private func concernsUser(_ records: ArraySlice<UInt8>) -> Bool {
    records.withUnsafeBytes { bytes in
      var offset = 0
      while offset + 16 <= bytes.count {
        let watch = bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)
        let length = Int(bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
        let name = bytes[(offset + 16)..<min(offset + 16 + length, bytes.count)].prefix { $0 != 0 }
        if watch != rootWatch || name.elementsEqual(user.utf8) || name.isEmpty { return true }
        offset += 16 + length
      }
      return false
    }
  }
}

/// What one scan looks for: prints that the vault knows and fprintd still has.
struct FprintdSearch: Sendable {
  /// A print that the vault knows and fprintd still has.
  struct Wanted: Sendable {
    let id: EnrolmentID
    let print: FprintdPrint
  }

  let prints: [Wanted]
  /// The finger that fprintd is asked for by its name; nil if it is asked for any of the user's fingers.
  let finger: Finger?
  /// Whether the user has no other finger in fprintd than the wanted ones.
  private let areAll: Bool

  /// - Parameters:
  ///   - prints: at least one.
  ///   - now: all fingers that the user has in fprintd.
  init(for prints: [Wanted], among now: [FprintdPrint]) throws(ReaderError) {
    guard let first = prints.first else { throw .notOnChip }
    self.prints = prints
    finger = prints.count == 1 ? first.print.finger : nil
    areAll = now.allSatisfy { one in prints.contains { $0.print.finger == one.finger } }
    // A search for any finger would also find one that is not wanted.
    guard finger != nil || areAll else { throw .device("fprintd has other fingers enrolled than those looked for") }
  }

  /// The wanted prints that still exist. To compare a print that has a digest, fprintd's files must be readable.
  ///
  /// - Parameter files: the folder of the files, for the error if they cannot be read.
  static func living(
    of prints: [EnrolledPrint], among now: [FprintdPrint], files: String
  ) throws(ReaderError) -> [Wanted] {
    var living: [Wanted] = []
    for enrolled in prints {
      guard let wanted = FprintdPrint(enrolled.template) else { throw .badTemplate }
      guard let there = now.first(where: { $0.finger == wanted.finger }) else { continue }
      if wanted.digest != nil, there.digest == nil {
        throw .fprintdFilesUnreadable(files)
      }
      if there.isStill(wanted) { living.append(Wanted(id: enrolled.id, print: wanted)) }
    }
    return living
  }

  /// The print that a match would be of, if fprintd looks for the finger of this name.
  ///
  /// fprintd does not report which finger matched. If it looks for any of the user's fingers, although one was asked
  /// for (open-fprintd always does), a match is of that one only if the user has no other. If any finger was asked
  /// for, the match counts as one of the first.
  ///
  /// - Throws: `looksForAnyFinger` if a match could be of a finger that was not asked for.
  func print(ifLookingFor name: String) throws(ReaderError) -> EnrolmentID {
    if name == FprintdNames.anyFinger {
      guard areAll else { throw .looksForAnyFinger }
      return prints[0].id
    }
    guard let named = Finger(fprintdName: name), finger == nil || finger == named,
      let one = prints.first(where: { $0.print.finger == named })
    else { throw .device("fprintd looks for another finger than it was asked for") }
    return one.id
  }
}
