import Glibc

/// A file that a command was told to make, where nothing is yet.
struct NewFile {
  let path: String

  /// Fails before anybody has touched a reader for a file that cannot be made.
  init(_ path: String) throws(Failure) {
    self.path = path
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    var status = stat()
    let code = lstat(path, &status) == 0 ? EEXIST : access(folder, W_OK | X_OK) == 0 ? 0 : errno
    if code != 0 { throw cannotMake(code) }
  }

  /// Makes it, and has it written. What could not be written whole is taken away again.
  func write(mode: mode_t, _ body: (Int32) -> Int32?) throws(Failure) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw cannotMake(errno) }
    defer { close(descriptor) }
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
