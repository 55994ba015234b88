import Glibc
import Primitives
import Processes
import Settings

/// A file that a command writes under a temporary name and renames when it is complete, so that no partial file has its
/// name.
struct NewFile {
  let path: String
  /// Whether it may take the place of another file; nil for a command that has no option for that.
  private let replaces: Bool?

  /// Throws early, before anybody has touched a reader, if the file cannot be made.
  init(_ path: String, replacing: Bool? = nil) throws(Failure) {
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
  func write<Value>(_ body: (Int32) async throws(Failure) -> Value) async throws(Failure) -> Value {
    let file = try FileInProgress(temporaryPath, mode: 0o600, cannotMake)
    defer { file.close() }
    do throws(Failure) {
      let value = try await body(file.descriptor)
      try rename(file)
      return value
    } catch {
      file.remove()
      throw error
    }
  }

  /// The same for a body that waits for nothing and returns the error number of a failed write.
  func write(mode: mode_t, _ body: (Int32) -> Int32?) throws(Failure) {
    let file = try FileInProgress(temporaryPath, mode: mode, cannotMake)
    defer { file.close() }
    do throws(Failure) {
      if let code = body(file.descriptor) { throw .cannotWrite(code) }
      try rename(file)
    } catch {
      file.remove()
      throw error
    }
  }

  private var temporaryPath: String { "\(path).\(Hexadecimal.text(of: UInt64.random(in: 0...UInt64.max)))" }

  private func rename(_ file: FileInProgress) throws(Failure) {
    // After a power cut, the name must not stand for an empty file.
    guard fsync(file.descriptor) == 0 else { throw .cannotWrite(errno) }
    if replaces == true {
      guard Glibc.rename(file.path, path) == 0 else { throw cannotMake(errno) }
    } else if let code = exclusiveRename(file.path) {
      throw code == EEXIST ? exists : cannotMake(code)
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

  private var exists: Failure {
    Failure(
      .exists, "\(path) exists already",
      advice: replaces == nil ? "name another file" : "name another file, or overwrite it with --replace")
  }
}

/// A file that was just made, and is removed if a signal ends the command before it has its own name.
private struct FileInProgress {
  let path: String
  let descriptor: Int32
  private let entry: Unfinished.Entry

  /// - Parameter failure: describes an error number of the kernel.
  init(_ path: String, mode: mode_t, _ failure: (Int32) -> Failure) throws(Failure) {
    self.path = path
    (descriptor, entry) = try Unfinished.ofThisProgram.make { () throws(Failure) in
      let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
      guard descriptor >= 0 else { throw failure(errno) }
      return descriptor
    } undo: { _ in
      unlink(path)
    }
  }

  /// Ends the writing.
  func close() {
    Glibc.close(descriptor)
    Unfinished.ofThisProgram.forget(entry)
  }

  func remove() { unlink(path) }
}
