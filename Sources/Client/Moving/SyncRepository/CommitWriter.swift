internal import Glibc
internal import SecretModel

/// Writes one commit, file by file (`fast-import`). Of this machine it contains only the time.
final class CommitWriter {
  private let process: GitProcess
  private(set) var count = 0

  /// - Parameter parent: nil for the first commit.
  init(_ process: GitProcess, ref: String, after parent: String?) throws(SyncRunError) {
    self.process = process
    let who = "whorl <whorl@localhost> \(time(nil)) +0000"
    let head = ["commit \(ref)", "mark :1", "author \(who)", "committer \(who)", "data 5", "sync"]
    try process.write((head + (parent.map { ["from \($0)"] } ?? [])).map { $0 + "\n" }.joined().utf8)
  }

  func write(_ file: SyncFile) throws(SyncRunError) {
    guard TreeChanges.usable(Array(file.path.utf8)) != nil else {
      throw .vault(.internalError("a shared file has the name \(file.path)"))
    }
    count += 1
    if let contents = file.contents {
      try process.write("M 100644 inline \(file.path)\ndata \(contents.count)\n".utf8)
      try process.write(contents)
      try process.write([0x0A])
    } else {
      try process.write("D \(file.path)\n".utf8)
    }
  }

  /// The name of the commit.
  func finish() async throws(SyncRunError) -> String {
    try process.write("\nget-mark :1\ndone\n".utf8)
    let line = try process.next(upTo: [0x0A])
    guard await process.hasSucceeded(), let line, let name = ObjectFormat.name(at: line) else { throw process.damage }
    return name
  }
}
