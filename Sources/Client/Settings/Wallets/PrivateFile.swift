internal import Glibc
internal import Primitives

/// Reads and atomically writes files that only this user can access, such as those beside a wallet.
enum PrivateFile {
  /// The largest file that is read, in bytes. A keyring of 100,000 items has a third of that.
  private static let limit = 256 << 20

  /// Makes a folder for this user alone.
  static func makeFolder(_ path: String) throws(WalletError) {
    do throws(Folder.Failure) { try Folder.makePrivate(path) } catch { throw .system(error.problem) }
  }

  /// Reads a file that belongs to this user.
  ///
  /// - Throws: `missing`; `damaged` if it is not a regular file of this user; `system`.
  static func read(_ path: String, limit: Int = limit) throws(WalletError) -> [UInt8] {
    // O_NONBLOCK: a FIFO of that name must not hang the program.
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard file >= 0 else {
      switch errno {
      case ENOENT: throw .missing(path)
      case ELOOP: throw .damaged(path, why: "it is a symbolic link")
      case let code: throw .system("\(path): \(String(cString: strerror(code)))")
      }
    }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw .damaged(path, why: "it is not a file")
    }
    guard status.st_uid == geteuid() else { throw .damaged(path, why: "it belongs to user \(status.st_uid)") }
    let tooLarge = WalletError.damaged(path, why: "it is larger than \(limit >> 20) MiB")
    guard status.st_size <= limit else { throw tooLarge }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Int(status.st_size))
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      // Borrows the chunk for the call and writes at most its length.
      let count = chunk.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
      if count == 0 { return bytes }
      guard count > 0 || errno == EINTR else { throw .system("\(path): \(String(cString: strerror(errno)))") }
      if count > 0 { bytes += chunk[..<count] }
      // It may grow while it is read.
      guard bytes.count <= limit else { throw tooLarge }
    }
  }

  /// Writes a private file: to a temporary file first, which is synced and renamed to the path.
  static func write(_ bytes: [UInt8], to path: String) throws(WalletError) {
    do throws(WholeFile.Failure) {
      let file = try WholeFile(path)
      try file.write(bytes)
      try file.place()
    } catch {
      throw .system(error.problem)
    }
  }

  /// Writes a secret in the same way.
  static func write(_ secret: borrowing SecretBytes, to path: String) throws(WalletError) {
    let file: WholeFile
    do throws(WholeFile.Failure) { file = try WholeFile(path) } catch { throw .system(error.problem) }
    do throws(WriteError) { try secret.write(to: file.descriptor) } catch { throw .system("\(path): \(error)") }
    do throws(WholeFile.Failure) { try file.place() } catch { throw .system(error.problem) }
  }

  /// Removes a file. Does nothing if it is gone already.
  static func remove(_ path: String) throws(WalletError) {
    guard unlink(path) == 0 || errno == ENOENT else { throw .system("\(path): \(String(cString: strerror(errno)))") }
    try syncFolder(of: path)
  }

  /// Renames a file within its folder, over any file with the new name.
  static func move(_ path: String, to new: String) throws(WalletError) {
    guard rename(path, new) == 0 else { throw .system("\(path): \(String(cString: strerror(errno)))") }
    try syncFolder(of: new)
  }

  static func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// Whether a file was changed at this time or later; seconds since 1970.
  static func hasChanged(_ path: String, since time: Double) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    // The whole seconds of the time, which is the structure's first member.
    return Double(withUnsafeBytes(of: status.st_mtim) { $0.load(as: time_t.self) }) >= time.rounded(.down)
  }

  private static func syncFolder(of path: String) throws(WalletError) {
    let folder = open(path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else {
      // The folder has been removed, too.
      guard errno != ENOENT else { return }
      throw .system("\(path): \(String(cString: strerror(errno)))")
    }
    defer { close(folder) }
    guard fsync(folder) == 0 else { throw .system("\(path): \(String(cString: strerror(errno)))") }
  }
}
