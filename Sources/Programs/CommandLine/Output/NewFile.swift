import Glibc
import Processes
import Settings

/// A new file that a command is to write.
struct NewFile {
  let path: String

  /// Throws early, before anybody has touched a reader, if the file cannot be made.
  init(_ path: String) throws(Failure) {
    self.path = path
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    var status = stat()
    let code = lstat(path, &status) == 0 ? EEXIST : access(folder, W_OK | X_OK) == 0 ? 0 : errno
    if code != 0 { throw cannotMake(code) }
  }

  /// Creates the file and calls `body` to write it. Removes it if that fails.
  func write(mode: mode_t, _ body: (Int32) -> Int32?) throws(Failure) {
    let file = try FileInProgress(path, mode: mode, cannotMake)
    defer { file.close() }
    if let code = body(file.descriptor) {
      file.remove()
      throw .cannotWrite(code)
    }
  }

  private func cannotMake(_ code: Int32) -> Failure {
    Failure(
      code == EEXIST ? .exists : .inputOutput, "cannot make \(path): \(String(cString: strerror(code)))",
      advice: "name another file")
  }
}

/// A file that was just made, and is removed if a signal ends the command before it is complete.
struct FileInProgress {
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

  /// Ends the writing. The file stays, unless it was removed before.
  func close() {
    Glibc.close(descriptor)
    Unfinished.ofThisProgram.forget(entry)
  }

  func remove() { unlink(path) }
}
