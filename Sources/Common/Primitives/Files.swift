// Primitives: what everything stands on, and which stands on the C library alone: files (here), bytes as text
// (`TextEncodings.swift`), numbers from outside (`OutsideNumber`), and the kernel's clocks. `SecureMemory` has what
// secrets live in, `Executors` where tasks run, `KeySchemes` the names of the algorithms of keys, `Fingerprint` readers and
// fingers as plain values, and `Translation` the language of what a person reads.
//
// Folders, small files, and what tells one file from another. `WholeFile` writes files that are whole or not there, and
// `Unfinished` has what a signal takes back.

package import Glibc

/// Lists folders, and makes and removes those that only this user can access.
package enum Folder {
  package struct Failure: Error {
    /// The path, and what is wrong.
    package let problem: String

    fileprivate static func system(_ path: String) -> Failure {
      unsafe Failure(problem: "\(path): \(String(cString: strerror(errno)))")
    }
  }

  // MARK: Names

  /// The names in a folder without `.` and `..`, in the order of their bytes; nil if it cannot be read completely, with the
  /// reason in `errno`.
  package static func names(in path: String) -> [String]? {
    nameBytes(in: path)?.map { String(decoding: $0, as: UTF8.self) }
  }

  /// The same for a folder that is open.
  package static func names(at descriptor: Int32) -> [String]? {
    // The stream owns the copy, which shares its position with the original.
    guard let stream = unsafe fdopendir(fcntl(descriptor, F_DUPFD_CLOEXEC, 3)) else { return nil }
    unsafe rewinddir(stream)
    return unsafe nameBytes(of: stream)?.map { String(decoding: $0, as: UTF8.self) }
  }

  /// The names as bytes, which need not be UTF-8.
  package static func nameBytes(in path: String) -> [[UInt8]]? {
    guard let stream = unsafe opendir(path) else { return nil }
    return unsafe nameBytes(of: stream)
  }

  /// Closes the stream.
  private static func nameBytes(of stream: OpaquePointer) -> [[UInt8]]? {
    var names: [[UInt8]] = []
    errno = 0
    // The entry belongs to the stream until the next call.
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
      if name != [UInt8(ascii: ".")], name != [UInt8](repeating: UInt8(ascii: "."), count: 2) { names.append(name) }
      errno = 0
    }
    let problem = errno
    unsafe closedir(stream)
    errno = problem
    return problem == 0 ? names.sorted { $0.lexicographicallyPrecedes($1) } : nil
  }

  // MARK: Private folders

  /// Makes the folder for this user alone, and those above it, where they are missing.
  ///
  /// - Throws: also for a folder that others can access.
  package static func makePrivate(_ path: String) throws(Failure) {
    for (index, character) in zip(path.indices, path).dropFirst() where character == "/" {
      try makeOne(String(path[..<index]))
    }
    try makeOne(path)
    var status = stat()
    guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(),
      status.st_mode & 0o077 == 0
    else { throw Failure(problem: "\(path) is not a folder of this user alone: remove it") }
  }

  private static func makeOne(_ path: String) throws(Failure) {
    guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .system(path) }
  }

  /// Waits until the folder's own entries are on the disk, so that a new name in it survives a power failure.
  ///
  /// - Returns: the `errno` of a failure; nil after success.
  package static func sync(_ path: String) -> Int32? {
    let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    return fsync(descriptor) == 0 ? nil : errno
  }

  /// Removes a folder and all that is in it, without following symbolic links. Does nothing if it is gone already.
  package static func remove(_ path: String) throws(Failure) {
    for name in names(in: path) ?? [] {
      let entry = "\(path)/\(name)"
      var status = stat()
      guard unsafe lstat(entry, &status) == 0 else { continue }
      if status.st_mode & S_IFMT == S_IFDIR { try remove(entry) } else { unsafe unlink(entry) }
    }
    guard unsafe rmdir(path) == 0 || errno == ENOENT else { throw .system(path) }
  }
}

/// Reads a small file. Does not block on FIFOs and devices.
package enum SmallFile {
  package struct Failure: Error {
    /// What is wrong, worded to follow the path.
    package let problem: String
  }

  package static func read(_ path: String, limit: Int) throws(Failure) -> [UInt8] {
    // O_NONBLOCK: a FIFO of that name must not hang the program.
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { throw unsafe Failure(problem: String(cString: strerror(errno))) }
    defer { close(file) }
    var information = stat()
    guard unsafe fstat(file, &information) == 0, information.st_mode & S_IFMT == S_IFREG else {
      throw Failure(problem: "it is not a file")
    }
    guard information.st_size <= limit else { throw Failure(problem: "it is larger than \(limit) bytes") }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while bytes.count <= limit {
      // Borrows the chunk for the call and writes at most its length.
      let count = unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(file, $0.baseAddress, $0.count) }
      if count == 0 { return bytes }
      guard count > 0 || errno == EINTR else { throw unsafe Failure(problem: String(cString: strerror(errno))) }
      if count > 0 { bytes += chunk[..<count] }
    }
    throw Failure(problem: "it is larger than \(limit) bytes")
  }
}

/// The same for all names of a file. While a file is open somewhere, no other file gets its inode number.
package struct FileIdentity: Sendable, Hashable {
  private let device: UInt64
  private let inode: UInt64

  package init(_ status: stat) { (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino)) }

  /// Nil where there is no file. Follows symbolic links.
  package init?(at path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    self.init(status)
  }
}
