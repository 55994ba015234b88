internal import Glibc
internal import Primitives
internal import SDBus

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
