internal import Glibc

/// A folder that only this user can access, and what is in it.
enum PrivateFolder {
  /// Makes the folder and those above it where they are missing. Refuses one that others can access.
  static func make(_ path: String) throws(SyncRunError) {
    for (index, character) in zip(path.indices, path).dropFirst() where character == "/" {
      try makeOne(String(path[..<index]))
    }
    try makeOne(path)
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(),
      status.st_mode & 0o077 == 0
    else { throw .system("\(path) is not a folder of this user alone") }
  }

  private static func makeOne(_ path: String) throws(SyncRunError) {
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw .system("\(path): \(String(cString: strerror(errno)))")
    }
  }

  /// Removes a folder and all that is in it. Does nothing if it is gone already.
  static func remove(_ path: String) throws(SyncRunError) {
    for name in names(in: path) {
      let entry = "\(path)/\(name)"
      var status = stat()
      guard lstat(entry, &status) == 0 else { continue }
      if status.st_mode & S_IFMT == S_IFDIR { try remove(entry) } else { unlink(entry) }
    }
    guard rmdir(path) == 0 || errno == ENOENT else {
      throw .system("\(path): \(String(cString: strerror(errno)))")
    }
  }

  /// The bytes of the files in a folder whose names begin so.
  static func size(of path: String, prefix: String) -> Int {
    names(in: path).filter { $0.hasPrefix(prefix) }.reduce(0) { sum, name in
      var status = stat()
      return lstat("\(path)/\(name)", &status) == 0 ? sum + Int(status.st_size) : sum
    }
  }

  /// How many files are in a folder whose names end so.
  static func count(of path: String, suffix: String) -> Int { names(in: path).count { $0.hasSuffix(suffix) } }

  /// The first 4 KiB of a file.
  static func contents(_ path: String) throws(SyncRunError) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { throw .system("\(path): \(String(cString: strerror(errno)))") }
    defer { close(file) }
    return [UInt8](unsafeUninitializedCapacity: 4_096) { target, count in
      // Writes at most as many bytes as it is told.
      count = max(0, read(file, target.baseAddress, target.count))
    }
  }

  private static func names(in path: String) -> [String] {
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
    return names
  }
}
