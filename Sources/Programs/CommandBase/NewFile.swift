internal import Glibc
internal import Primitives
package import Settings

/// A file that a command writes under a temporary name and renames when it is complete, so that no partial file has its
/// name.
package struct NewFile {
  package let path: String
  /// Whether it may take the place of another file; nil for a command that has no option for that.
  private let replaces: Bool?

  /// Throws early, before anybody has touched a reader, if the file cannot be made.
  package init(_ path: String, replacing: Bool? = nil) throws(Failure) {
    (self.path, replaces) = (path, replacing)
    var status = stat()
    if lstat(path, &status) == 0 {
      guard replacing == true else { throw exists }
      guard status.st_mode & S_IFMT == S_IFREG else {
        throw .usage("\(path) is there and is not a file", advice: "name another one")
      }
    }
    guard access(folder, W_OK | X_OK) == 0 else { throw cannotMake(errno) }
  }

  /// Creates a file for this user alone, calls `body` to write it, and gives it its name. Removes it if that fails.
  package func write<Value>(_ body: (Int32) async throws(Failure) -> Value) async throws(Failure) -> Value {
    let file = try make(mode: 0o600)
    let value = try await body(file.descriptor)
    try place(file)
    return value
  }

  /// The same for a body that waits for nothing and returns the error number of a failed write.
  package func write(mode: UInt32, _ body: (Int32) -> Int32?) throws(Failure) {
    let file = try make(mode: mode)
    if let code = body(file.descriptor) { throw .cannotWrite(code) }
    try place(file)
  }

  private func make(mode: mode_t) throws(Failure) -> WholeFile {
    do throws(WholeFile.Failure) {
      return try WholeFile(path, mode: mode, suffix: nil)
    } catch {
      throw cannotMake(error.code)
    }
  }

  private func place(_ file: WholeFile) throws(Failure) {
    do throws(WholeFile.Failure) {
      try file.place(replacing: replaces == true)
    } catch {
      switch error.code {
      case EEXIST where replaces != true: throw exists
      case ENOSPC, EDQUOT, EIO: throw .cannotWrite(error.code)
      case let code: throw cannotMake(code)
      }
    }
  }

  private var folder: String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "." }

  private func cannotMake(_ code: Int32) -> Failure {
    Failure(
      .inputOutput, "cannot make \(path): \(String(cString: strerror(code)))", name: "errSecIO",
      advice: "name another file")
  }

  private var exists: Failure {
    Failure(
      .exists, "\(path) exists already",
      advice: replaces == nil ? "name another file" : "name another file, or overwrite it with --replace")
  }
}
