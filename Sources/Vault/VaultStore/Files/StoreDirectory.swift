import Glibc
import Primitives
import Processes

/// The folder of a store. It must belong to this user, be private, be no symlink, and have a path that nobody else can
/// change.
package struct StoreDirectory: Sendable {
  package let path: String

  package init(path: String) { self.path = path }

  package var database: String { path + "/vault.db" }
  var deviceKey: String { path + "/device.key" }
  package var manifest: String { path + "/state" }
  var commitLock: String { path + "/commit.lock" }
  package var scanLock: String { path + "/scan.lock" }
  var owner: String { path + "/owner" }

  /// The folder of an existing store.
  package static func open(at path: String) throws(VaultError) -> StoreDirectory {
    let directory = StoreDirectory(path: try absolute(path))
    var info = stat()
    guard lstat(directory.path, &info) == 0 else {
      if errno == ENOENT { throw .storeNotFound(directory.path) }
      throw .onFile("cannot look at \(directory.path)")
    }
    try directory.checkTrust()
    guard lstat(directory.database, &info) == 0 else { throw .storeNotFound(directory.path) }
    for file in [
      directory.database, directory.database + "-wal", directory.manifest, directory.deviceKey, directory.owner,
    ] {
      guard lstat(file, &info) == 0 else { continue }
      guard info.st_mode & S_IFMT == S_IFREG, info.st_uid == geteuid(), info.st_mode & 0o077 == 0 else {
        throw .unsafeDirectory("\(file) is not a private file of this user: chmod 600 and chown it, if you trust it")
      }
    }
    return directory
  }

  func checkTrust() throws(VaultError) {
    var info = stat()
    guard lstat(path, &info) == 0 else { throw .onFile("cannot look at \(path)") }
    guard info.st_mode & S_IFMT != S_IFLNK else {
      throw .unsafeDirectory("\(path) is a symbolic link: name the real folder with --store")
    }
    guard info.st_mode & S_IFMT == S_IFDIR else {
      throw .unsafeDirectory("\(path) is not a folder: name another with --store")
    }
    guard info.st_uid == geteuid() else {
      throw .unsafeDirectory("\(path) belongs to user \(info.st_uid): chown it, or name another with --store")
    }
    guard info.st_mode & 0o077 == 0 else {
      throw .unsafeDirectory("\(path) is open to other users: chmod 700 \(path)")
    }
    try Self.requireTrusted(path)
  }

  /// Refuses a folder that a user other than root and the effective user could replace.
  private static func requireTrusted(_ path: String) throws(VaultError) {
    do throws(PathWalkError) {
      try PathWalk.check(path)
    } catch {
      switch error {
      case .missing(let code): throw .onFile("cannot look at \(path)", code)
      case .untrusted(let component, .owner(let user)):
        throw .unsafeDirectory(
          "user \(user) owns \(component) and can replace the store: name another with --store")
      case .untrusted(let component, .writableByAnybody):
        throw .unsafeDirectory("\(component) is writable by others, who can replace the store: chmod o-w it")
      case .untrusted(let component, .writableByGroup(let group)):
        throw .unsafeDirectory(
          "\(component) is writable by group \(group), which can replace the store: chmod g-w it")
      }
    }
  }

  static func absolute(_ path: String) throws(VaultError) -> String {
    var trimmed = path
    while trimmed.count > 1, trimmed.hasSuffix("/") { trimmed.removeLast() }
    guard !trimmed.isEmpty, trimmed != "/" else {
      throw .unsafeDirectory("the store needs a folder of its own: name one with --store")
    }
    if trimmed.hasPrefix("/") { return trimmed }
    // getcwd with a null buffer allocates; ours to free.
    guard let current = getcwd(nil, 0) else { throw .onFile("no current folder") }
    defer { free(current) }
    return String(cString: current) + "/" + trimmed
  }

  static func makeParents(of path: String) throws(VaultError) {
    var at = ""
    for part in path.split(separator: "/").dropLast() {
      at += "/" + part
      guard mkdir(at, 0o700) == 0 || errno == EEXIST || access(at, F_OK) == 0 else {
        throw .onFile("cannot make \(at)")
      }
    }
  }
}

extension StoreDirectory {
  /// Whether the folder is on a file system that cannot be written to now.
  static func isReadOnly(_ path: String) -> Bool { access(path, W_OK) != 0 && errno == EROFS }
}

extension VaultError {
  /// - Parameter path: of the file that would have to be written.
  static func readOnly(_ path: String) -> VaultError {
    .inputOutput("the store is on a read-only file system (\(path)), and this has to be written there")
  }
}

extension StoreDirectory {
  /// Waits until the folder's own entries are on the disk.
  package func sync() throws(VaultError) {
    if let code = Folder.sync(path) { throw .onFile("cannot sync \(path)", code) }
  }
}

/// The user whose number every row of a private store is bound to.
///
/// This is the user who opens the store. If the store was made from another user's backup, a file in its folder holds
/// the number. With a wrong number in that file, no row opens.
package enum StoreOwner {
  private static let longest = 16

  /// The owner of the store at a path.
  ///
  /// - Parameter user: who opens it.
  package static func ofStore(at path: String, openedBy user: UInt32) throws(VaultError) -> UInt32 {
    let file = StoreDirectory(path: try StoreDirectory.absolute(path)).owner
    let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      guard [ENOENT, ENOTDIR].contains(errno) else { throw .onFile("cannot open \(file)") }
      return user
    }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: longest)
    // Borrows the buffer for the call.
    let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    guard count > 0, let owner = UInt32(String(decoding: bytes.prefix(count), as: UTF8.self)) else {
      throw .storeDamaged("\(file) has no user's number")
    }
    return owner
  }

  /// Writes the file with the owner of a new store, if that is not the user who opens it.
  package static func note(_ owner: UInt32, in directory: StoreDirectory) throws(VaultError) {
    let descriptor = open(directory.owner, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .onFile("cannot make \(directory.owner)") }
    defer { close(descriptor) }
    let bytes = Array(String(owner).utf8)
    // Borrows the bytes for the call.
    let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    guard count == bytes.count, fsync(descriptor) == 0 else {
      throw .onFile("cannot write \(directory.owner)")
    }
  }
}

/// An advisory lock on a file (`flock`), held until this object is freed or the process ends.
package final class FileLock: Sendable {
  package enum Mode {
    case shared, exclusive
  }

  private let descriptor: CInt

  /// Takes the lock. Returns nil at once if another process holds it.
  package static func trying(_ path: String, _ mode: Mode) throws(VaultError) -> FileLock? {
    var descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    // On a read-only file system, open the lock file for reading. The shared lock still keeps out writers through
    // another mount.
    if descriptor < 0, errno == EROFS, mode == .shared {
      descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    }
    guard descriptor >= 0 else {
      if errno == EROFS { throw .readOnly(path) }
      throw .onFile("cannot open \(path)")
    }
    while flock(descriptor, (mode == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 {
      let error = errno
      if error == EINTR { continue }
      Glibc.close(descriptor)
      if error == EWOULDBLOCK { return nil }
      throw .onFile("cannot lock \(path)", error)
    }
    return FileLock(descriptor)
  }

  private init(_ descriptor: CInt) {
    self.descriptor = descriptor
  }

  /// Waits for a lock that is held only briefly, while a change is committed.
  static func brief(_ path: String, _ mode: Mode) throws(VaultError) -> FileLock {
    for attempt in 0..<10_000 {
      if let lock = try trying(path, mode) { return lock }
      if attempt == 0 { CurrentThread.willWait() }
      usleep(1_000)
    }
    throw .busy("another program has held the store for ten seconds")
  }

  deinit { Glibc.close(descriptor) }

  /// The number that the last holder left for the next one; nil if there is none.
  package var note: UInt64? {
    var value: UInt64 = 0
    return pread(descriptor, &value, 8, 0) == 8 ? value : nil
  }

  /// Leaves a number for the next holder. It is advisory: a failure to write it is ignored.
  package func leave(_ note: UInt64) {
    var value = note
    _ = pwrite(descriptor, &value, 8, 0)
  }
}
