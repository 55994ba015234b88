internal import Glibc
internal import Primitives

/// A small file in which Whorl keeps what it has to remember for a person, outside the store.
struct PersonalFile {
  struct Unwritten: Error {
    /// The path, and what is wrong.
    package let problem: String
  }

  package let path: String

  package init(_ path: String) { self.path = path }

  /// The most folders that are made: the file's own one, and two like `.local/state`. A home that is missing is not made.
  private static let mostFolders = 3

  /// Writes it for this user alone, and the folders above it where they are missing. It is on the disk when this returns.
  package func write(_ lines: [String]) throws(Unwritten) {
    try write(contents: Array(lines.map { $0 + "\n" }.joined().utf8))
  }

  /// The same with contents that need not be lines.
  ///
  /// - Parameter mode: who else may read it.
  package func write(contents: [UInt8], mode: UInt32 = 0o600) throws(Unwritten) {
    let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    let names = folder.split(separator: "/")
    for count in max(1, names.count - Self.mostFolders + 1)...max(1, names.count) {
      guard mkdir("/" + names.prefix(count).joined(separator: "/"), 0o700) == 0 || errno == EEXIST else {
        throw failure
      }
    }
    let new = path + ".new"
    unlink(new)
    let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { throw failure }
    // Borrows the contents for the call.
    let count = contents.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
    let isWritten = count == contents.count && fchmod(file, mode) == 0 && fsync(file) == 0
    close(file)
    guard isWritten, rename(new, path) == 0, Folder.sync(folder) == nil else {
      let problem = failure
      unlink(new)
      throw problem
    }
  }

  private var failure: Unwritten { Unwritten(problem: "\(path): \(String(cString: strerror(errno)))") }
}
