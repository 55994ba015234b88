internal import Glibc

/// Folders that only this user can access.
enum Folder {
  /// Creates the folder for this user alone if it is missing. Refuses a folder that others can access.
  static func make(_ path: String) throws(WalletError) {
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw .system("\(path): \(String(cString: strerror(errno)))")
    }
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(),
      status.st_mode & 0o077 == 0
    else { throw .system("\(path) is not a folder of this user alone: remove it") }
  }

  /// The names in the folder; none if it cannot be read.
  static func names(in path: String) -> [String] {
    guard let stream = opendir(path) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    // The entry belongs to the stream until the next call.
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(validatingCString: $0) }
      }
      if let name, name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// Removes the folder and all that is in it.
  static func remove(_ path: String) {
    for name in names(in: path) {
      let entry = "\(path)/\(name)"
      var status = stat()
      guard lstat(entry, &status) == 0 else { continue }
      if status.st_mode & S_IFMT == S_IFDIR { remove(entry) } else { unlink(entry) }
    }
    rmdir(path)
  }
}
