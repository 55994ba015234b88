import Glibc
import Primitives
import Processes
import Settings
import Whorl

/// A file that a command writes under a temporary name and renames when it is complete, so that no partial file has its
/// name.
struct WholeOutput {
  private let path: String
  private let replaces: Bool

  /// Throws early, before anybody has touched a reader, if the file cannot be made.
  init(_ path: String, replacing: Bool) throws(Failure) {
    (self.path, replaces) = (path, replacing)
    var status = stat()
    if lstat(path, &status) == 0 {
      guard replacing else { throw Self.exists(path) }
      guard status.st_mode & S_IFMT == S_IFREG else {
        throw .usage("\(path) is there and is not a file", advice: "name another one")
      }
    }
    guard access(folder, W_OK | X_OK) == 0 else { throw cannotMake(errno) }
  }

  /// Creates a file for this user alone, calls `body` to write it, and gives it its name. Removes it if that fails.
  func write<Value>(_ body: (Int32) async throws(Failure) -> Value) async throws(Failure) -> Value {
    let new = "\(path).\(Hexadecimal.text(of: UInt64.random(in: 0...UInt64.max)))"
    // By the time of a signal it may have its own name already.
    let file = try FileInProgress(new, mode: 0o600, cannotMake)
    defer { file.close() }
    let value: Value
    do throws(Failure) {
      value = try await body(file.descriptor)
      try rename(new)
    } catch {
      file.remove()
      throw error
    }
    return value
  }

  private func rename(_ new: String) throws(Failure) {
    if replaces {
      guard Glibc.rename(new, path) == 0 else { throw cannotMake(errno) }
    } else if let code = exclusiveRename(new) {
      throw code == EEXIST ? Self.exists(path) : cannotMake(code)
    }
    if let code = Folder.sync(folder) { throw cannotMake(code) }
  }

  private func exclusiveRename(_ new: String) -> Int32? {
    let code = ExclusiveRename.rename(new, to: path)
    // The file system has no exclusive rename. Try a hard link, which replaces no file either.
    guard code == EINVAL else { return code }
    guard link(new, path) == 0 else { return errno }
    unlink(new)
    return nil
  }

  private var folder: String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "." }

  private func cannotMake(_ code: Int32) -> Failure {
    Failure(
      .inputOutput, "cannot make \(path): \(String(cString: strerror(code)))", name: "errSecIO",
      advice: "name another file")
  }

  private static func exists(_ path: String) -> Failure {
    Failure(.exists, "\(path) exists already", advice: "name another file, or overwrite it with --replace")
  }
}
