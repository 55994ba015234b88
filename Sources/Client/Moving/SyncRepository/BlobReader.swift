internal import Primitives
internal import SecretModel

/// Reads files of a repository, one after another (`cat-file --batch`).
final class BlobReader {
  enum Found {
    case contents([UInt8])
    case missing
    case tooLarge
  }

  private let git: GitProgram
  private let folder: String
  private var process: GitProcess?

  init(_ git: GitProgram, in folder: String) { (self.git, self.folder) = (git, folder) }

  /// - Parameter name: an object, or `COMMIT:PATH`.
  func read(_ name: String, limit: Int = SyncFile.sizeLimit) throws(SyncRunError) -> Found {
    let process = try started()
    try process.write("\(name)\n".utf8)
    guard let line = try process.next(upTo: [0x0A]) else { throw process.damage }
    let words = String(decoding: line, as: UTF8.self).split(separator: " ")
    guard words.count == 3, let size = OutsideNumber(digits: words[2])?.number(in: 0...Int.max) else { return .missing }
    guard size <= limit else {
      // End git, which would write the whole file.
      self.process = nil
      return .tooLarge
    }
    let contents = try process.next(size)
    _ = try process.next(1)
    return words[1] == "blob" ? .contents(contents) : .missing
  }

  private func started() throws(SyncRunError) -> GitProcess {
    if let process { return process }
    // It reports only the files that it is asked for, which have a limit each. It lives until all are taken.
    let new = try GitProcess(
      git, git.local(["cat-file", "--batch"]), in: folder, takesInput: true, time: .seconds(86_400), outputLimit: .max)
    process = new
    return new
  }
}
