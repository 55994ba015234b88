import Glibc
import Primitives
import Processes
package import SecretModel
import Synchronization

/// A new store that is not in its place yet. It is a private folder beside the place, `PLACE.new-` and six letters,
/// locked while the store is made. It is removed when this object is freed, unless it is kept. The folder of a program
/// that was killed is removed when the next store is made beside the same place.
///
/// Where the place is a private folder already, the new store is made in it, `PLACE/.new-` and six letters, and its files
/// are moved one after another, the database last: without a database the folder has no store. So it is for a vault
/// process of the service, which may make folders only in that of its user (decision 0189).
package final class NewStore: Sendable {
  private enum State {
    case unkept, kept, discarded
  }

  /// Identifies the store if several are made on one connection.
  package let id = StoreDraft.ID(bytes: randomID())
  package let directory: StoreDirectory
  private let place: String
  private let isWithin: Bool
  private let lock: FolderLock
  private let state = Mutex(State.unkept)
  /// The entry for the machine's record, if the store's keys are in the TPM.
  private let covering = Mutex<(rollback: RollbackGuard, databaseID: [UInt8], manifest: Manifest)?>(nil)

  /// Creates the folder, and missing folders above it.
  ///
  /// - Throws: `storeExists` where the place is taken.
  package convenience init(at path: String) throws(VaultError) {
    let place = try StoreDirectory.absolute(path)
    try Self.requireFree(place)
    try StoreDirectory.makeParents(of: place)
    try self.init(Self.infix, at: place)
  }

  /// - Throws: `storeExists` where a store cannot be made at this full path.
  package static func requireFree(_ place: String) throws(VaultError) {
    removeStale(of: place)
    guard isFree(place) else { throw .storeExists(place) }
  }

  /// Creates the folder in that of a store, for a temporary copy.
  ///
  /// - Parameter place: a full path.
  package convenience init(beside place: String) throws(VaultError) {
    Self.removeStale(of: place)
    try self.init(Self.infixOfCopies, at: place)
  }

  private init(_ infix: String, at place: String) throws(VaultError) {
    (directory, lock, isWithin) = try Self.makeFolder(place, infix)
    self.place = place
    try directory.checkTrust()
  }

  deinit { discard() }

  /// Enters the store into the machine's record when it is kept.
  package func cover(by rollback: RollbackGuard, _ databaseID: [UInt8], _ manifest: Manifest) {
    covering.withLock { $0 = (rollback, databaseID, manifest) }
  }

  /// Moves the store to its place. Replaces an empty folder there, and fails if anything else is there.
  ///
  /// - Throws: `storeExists`; `invalidRequest` where the store was kept or discarded before.
  package func keep() throws(VaultError) {
    try state.withLock { state throws(VaultError) in
      guard state == .unkept else { throw .invalidRequest("this new store is no longer there to be kept") }
      // Record the store before it is moved: a store without an entry in the machine's record counts as a restore.
      if let covering = covering.withLock({ $0 }) {
        let entry = MachineRecord.Entry(manifest: covering.manifest, lineage: [])
        try covering.rollback.record(entry, of: covering.databaseID, as: .changes)
      }
      if isWithin { try moveFiles() } else { try Self.move(directory.path, to: place) }
      state = .kept
    }
    try StoreDirectory(path: isWithin ? place : place + "/..").sync()
  }

  /// Removes the store unless it was kept.
  package func discard() {
    state.withLock { state in
      guard state == .unkept else { return }
      directory.removeFiles()
      state = .discarded
    }
  }

  /// Moves the files out of the folder into the one around it.
  private func moveFiles() throws(VaultError) {
    let there = StoreDirectory(path: place)
    guard Self.isFree(place), let names = Folder.names(in: directory.path) else { throw .storeExists(place) }
    // The manifest first: where it is missing, a killed program has begun to move the files.
    let (first, last) = (directory.manifest, directory.database)
    let files = names.map { "\(directory.path)/\($0)" }.filter { $0 != first && $0 != last }
    for file in [first] + files + [last] {
      // The names of the others are on the disk before that of the database.
      if file == last { try there.sync() }
      let new = place + file.dropFirst(directory.path.count)
      guard rename(file, new) == 0 else { throw .onFile("cannot make \(new)") }
    }
    rmdir(directory.path)
  }

  private static func move(_ folder: String, to place: String) throws(VaultError) {
    var failure = ExclusiveRename.rename(folder, to: place)
    // Remove an empty folder. rmdir removes nothing else.
    if failure == EEXIST, rmdir(place) == 0 { failure = ExclusiveRename.rename(folder, to: place) }
    // The file system has no exclusive rename. A plain rename replaces no folder that is not empty.
    if failure == EINVAL { failure = rename(folder, place) == 0 ? nil : errno }
    switch failure {
    case nil: return
    case EEXIST?, ENOTEMPTY?, ENOTDIR?: throw .storeExists(place)
    case .some(let code): throw .onFile("cannot make \(place)", code)
    }
  }

  /// Whether the name is free or that of a folder that has nothing but new stores.
  private static func isFree(_ place: String) -> Bool {
    var info = stat()
    guard lstat(place, &info) == 0 else { return true }
    return info.st_mode & S_IFMT == S_IFDIR
      && Folder.names(in: place)?.allSatisfy { $0.hasPrefix(infix) } == true
  }

  private static func isPrivateFolder(_ place: String) -> Bool {
    var info = stat()
    return lstat(place, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR && info.st_mode & 0o077 == 0
      && info.st_uid == geteuid()
  }

  private static let infix = ".new-"
  private static let infixOfCopies = ".copy-"

  private static func makeFolder(
    _ place: String, _ infix: String
  ) throws(VaultError) -> (StoreDirectory, FolderLock, isWithin: Bool) {
    let isWithin = isPrivateFolder(place)
    for _ in 1...16 {
      var template = Array((place + (isWithin ? "/" : "") + infix + "XXXXXX").utf8CString)
      guard mkdtemp(&template) != nil else {
        throw .onFile("cannot make a folder beside \(place)")
      }
      let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      // Another program that makes a store here may have removed the folder as stale before it was locked.
      do throws(VaultError) {
        if let lock = try FolderLock(trying: path) { return (StoreDirectory(path: path), lock, isWithin) }
      } catch {
        rmdir(path)
        throw error
      }
    }
    throw .busy("other programs are making stores beside \(place)")
  }

  /// Removes folders of killed programs beside the place and in it: nobody holds their locks.
  private static func removeStale(of place: String) {
    guard let slash = place.lastIndex(of: "/") else { return }
    let (parent, name) = (String(place[..<slash]) + "/", String(place[place.index(after: slash)...]))
    for infix in [infix, infixOfCopies] { remove(in: parent, name + infix) }
    remove(in: place + "/", infixOfCopies)
    let there = StoreDirectory(path: place)
    remove(in: place + "/", infix) { stale in
      // The program was killed while it moved the files: those without the database are no store.
      guard access(stale.database, F_OK) == 0, access(stale.manifest, F_OK) != 0,
        access(there.database, F_OK) != 0
      else { return }
      there.removeFiles()
    }
  }

  /// - Parameter first: what is done before a folder is removed.
  private static func remove(in parent: String, _ prefix: String, first: (StoreDirectory) -> Void = { _ in }) {
    for name in Folder.names(in: parent) ?? []
    where name.hasPrefix(prefix) && name.utf8.count == prefix.utf8.count + 6 {
      guard let lock = try? FolderLock(trying: parent + name) else { continue }
      let stale = StoreDirectory(path: parent + name)
      first(stale)
      stale.removeFiles()
      withExtendedLifetime(lock) {}
    }
  }
}

/// An advisory lock on a private folder of this user (`flock`), held until this object is freed.
private final class FolderLock: Sendable {
  private let descriptor: CInt

  /// Nil if another process holds the lock, or the path is not (or no longer) such a folder.
  ///
  /// - Throws: `inputOutput` where the file system cannot lock.
  init?(trying path: String) throws(VaultError) {
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      switch errno {
      case EINTR: continue
      case EWOULDBLOCK: return nil
      default: throw .onFile("cannot lock \(path)")
      }
    }
    var (opened, named) = (stat(), stat())
    guard fstat(descriptor, &opened) == 0, lstat(path, &named) == 0,
      FileIdentity(opened) == FileIdentity(named), opened.st_uid == geteuid(),
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
}
