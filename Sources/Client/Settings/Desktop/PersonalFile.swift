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
        throw failure(errno)
      }
    }
    do throws(WholeFile.Failure) {
      let file = try WholeFile(path)
      try file.write(contents)
      try file.place(mode: mode)
    } catch {
      throw failure(error.code)
    }
  }

  private func failure(_ code: Int32) -> Unwritten { Unwritten(problem: "\(path): \(String(cString: strerror(code)))") }
}
