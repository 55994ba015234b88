import Glibc
import Processes
package import SecretModel
import Synchronization

/// A new store that has not taken its place yet: a private folder beside the place, `PLACE.new-` and six letters, locked
/// while the store is made. It is removed with this object unless it is kept; that of a program that was killed, by the
/// next one made beside the same place.
package final class NewStore: Sendable {
  private enum State {
    case unkept, kept, discarded
  }

  /// Names the store where several are made on one connection.
  package let id = StoreDraft.ID(bytes: randomID())
  let directory: StoreDirectory
  private let place: String
  private let lock: FolderLock
  private let state = Mutex(State.unkept)

  /// Makes the folder, and those above it that are missing.
  ///
  /// - Throws: `storeExists` where something is in the place.
  init(at path: String) throws(VaultError) {
    let place = try StoreDirectory.absolute(path)
    guard Self.isFree(place) else { throw .storeExists(place) }
    try StoreDirectory.makeParents(of: place)
    Self.removeStale(beside: place)
    (directory, lock) = try Self.makeFolder(beside: place)
    self.place = place
    try directory.checkTrust()
  }

  deinit { discard() }

  /// Gives the store its place. An empty folder there is replaced; anything else is kept, and refused.
  ///
  /// - Throws: `storeExists`; `invalidRequest` where the store was kept or discarded before.
  package func keep() throws(VaultError) {
    try state.withLock { state throws(VaultError) in
      guard state == .unkept else { throw .invalidRequest("this new store is no longer there to be kept") }
      try Self.move(directory.path, to: place)
      state = .kept
    }
    try StoreDirectory(path: place + "/..").sync()
  }

  /// Removes the store unless it was kept.
  package func discard() {
    state.withLock { state in
      guard state == .unkept else { return }
      directory.removeFiles()
      state = .discarded
    }
  }

  private static func move(_ folder: String, to place: String) throws(VaultError) {
    var failure = ExclusiveRename.rename(folder, to: place)
    // An empty folder is made way for: nothing else can be removed like this.
    if failure == EEXIST, rmdir(place) == 0 { failure = ExclusiveRename.rename(folder, to: place) }
    // A file system that knows no such renaming: the usual one replaces no folder that has anything in it.
    if failure == EINVAL { failure = rename(folder, place) == 0 ? nil : errno }
    switch failure {
    case nil: return
    case EEXIST?, ENOTEMPTY?, ENOTDIR?: throw .storeExists(place)
    case .some(let code): throw .inputOutput("cannot make \(place): \(String(cString: strerror(code)))")
    }
  }

  /// Whether nothing has the name, or an empty folder.
  private static func isFree(_ place: String) -> Bool {
    var info = stat()
    guard lstat(place, &info) == 0 else { return true }
    return info.st_mode & S_IFMT == S_IFDIR && StoreDirectory.entries(of: place)?.isEmpty == true
  }

  private static let infix = ".new-"

  private static func makeFolder(beside place: String) throws(VaultError) -> (StoreDirectory, FolderLock) {
    for _ in 1...16 {
      var template = Array((place + infix + "XXXXXX").utf8CString)
      guard mkdtemp(&template) != nil else {
        throw .inputOutput("cannot make a folder beside \(place): \(errnoText())")
      }
      let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      // Somebody else who makes a store here may have taken it for a stale one before it was locked.
      do throws(VaultError) {
        if let lock = try FolderLock(trying: path) { return (StoreDirectory(path: path), lock) }
      } catch {
        rmdir(path)
        throw error
      }
    }
    throw .busy("other programs are making stores beside \(place)")
  }

  /// Removes what a killed program left beside the place: nobody holds its lock.
  private static func removeStale(beside place: String) {
    guard let slash = place.lastIndex(of: "/") else { return }
    let (parent, prefix) = (String(place[..<slash]) + "/", String(place[place.index(after: slash)...]) + infix)
    for name in StoreDirectory.entries(of: parent) ?? []
    where name.hasPrefix(prefix) && name.utf8.count == prefix.utf8.count + 6 {
      guard let lock = try? FolderLock(trying: parent + name) else { continue }
      StoreDirectory(path: parent + name).removeFiles()
      withExtendedLifetime(lock) {}
    }
  }
}

/// An advisory lock on a private folder of this user (`flock`), held while the value lives.
private final class FolderLock: Sendable {
  private let descriptor: CInt

  /// Nil where another holds it, or where the path is no such folder (any more).
  ///
  /// - Throws: `inputOutput` where the file system cannot lock.
  init?(trying path: String) throws(VaultError) {
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      switch errno {
      case EINTR: continue
      case EWOULDBLOCK: return nil
      default: throw .inputOutput("cannot lock \(path): \(errnoText())")
      }
    }
    var (opened, named) = (stat(), stat())
    guard fstat(descriptor, &opened) == 0, lstat(path, &named) == 0,
      (opened.st_dev, opened.st_ino) == (named.st_dev, named.st_ino), opened.st_uid == geteuid(),
      opened.st_mode & 0o077 == 0
    else { return nil }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }
}

extension StoreDirectory {
  /// Removes a store's own files, and the folder if nothing else is in it.
  fileprivate func removeFiles() {
    for file in [
      database, database + "-wal", database + "-shm", deviceKey, deviceKey + ".new", manifest, commitLock, scanLock,
    ] {
      unlink(file)
    }
    rmdir(path)
  }

  /// The names in a folder; nil where it cannot be read.
  fileprivate static func entries(of folder: String) -> [String]? {
    // The stream is owned here and freed by closedir; an entry is borrowed until the next call.
    guard let stream = opendir(folder) else { return nil }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}
