import Glibc
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
      throw .inputOutput("cannot look at \(directory.path): \(errnoText())")
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
    guard lstat(path, &info) == 0 else { throw .inputOutput("cannot look at \(path): \(errnoText())") }
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
      case .missing(let code): throw .inputOutput("cannot look at \(path): \(String(cString: strerror(code)))")
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
    guard let current = getcwd(nil, 0) else { throw .inputOutput("no current folder: \(errnoText())") }
    defer { free(current) }
    return String(cString: current) + "/" + trimmed
  }

  static func makeParents(of path: String) throws(VaultError) {
    var at = ""
    for part in path.split(separator: "/").dropLast() {
      at += "/" + part
      guard mkdir(at, 0o700) == 0 || errno == EEXIST || access(at, F_OK) == 0 else {
        throw .inputOutput("cannot make \(at): \(errnoText())")
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

/// The system's message for the last failed call.
package func errnoText() -> String { String(cString: strerror(errno)) }

extension StoreDirectory {
  /// Waits until the folder's own entries are on the disk.
  package func sync() throws(VaultError) {
    let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .inputOutput("cannot open \(path): \(errnoText())") }
    defer { Glibc.close(descriptor) }
    guard fsync(descriptor) == 0 else { throw .inputOutput("cannot sync \(path): \(errnoText())") }
  }
}
