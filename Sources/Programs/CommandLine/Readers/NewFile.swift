import Glibc
import Processes

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
    let path = path
    let (descriptor, entry) = try Unfinished.ofThisProgram.make { () throws(Failure) in
      let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
      guard descriptor >= 0 else { throw cannotMake(errno) }
      return descriptor
    } undo: { _ in
      unlink(path)
    }
    defer {
      close(descriptor)
      Unfinished.ofThisProgram.forget(entry)
    }
    if let code = body(descriptor) {
      unlink(path)
      throw .cannotWrite(code)
    }
  }

  private func cannotMake(_ code: Int32) -> Failure {
    Failure(
      code == EEXIST ? .exists : .inputOutput, "cannot make \(path): \(String(cString: strerror(code)))",
      advice: "name another file")
  }
}
