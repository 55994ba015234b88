internal import CLinux
internal import Glibc

/// Writes a file that is whole under its name, or not there. It has another name first. Freed before it is in place, it
/// leaves nothing behind, and neither does a signal that ends this program (``Unfinished``).
package final class WholeFile {
  package struct Failure: Error {
    /// What could not be done, with the path.
    package let what: String
    package let code: Int32

    /// Both in one line.
    package var problem: String { unsafe "\(what): \(String(cString: strerror(code)))" }
  }

  /// Where the contents are written.
  package let descriptor: Int32
  private let path: String
  private let new: String
  private let entry: Unfinished.Entry
  private let unfinished: Unfinished
  private var isInPlace = false

  /// Makes it under its other name.
  ///
  /// - Parameters:
  ///   - mode: who may read it, within the user's mask.
  ///   - suffix: what the other name ends in. What was left under that name is removed; nil: a name that nobody has.
  ///   - unfinished: where a signal finds it.
  package init(
    _ path: String, mode: UInt32 = 0o600, suffix: String? = ".new", in unfinished: Unfinished = .ofThisProgram
  ) throws(Failure) {
    let new = path + (suffix ?? ".\(Hexadecimal.text(of: UInt64.random(in: 0...UInt64.max)))")
    (self.path, self.new, self.unfinished) = (path, new, unfinished)
    (descriptor, entry) = try unfinished.make { () throws(Failure) in
      if suffix != nil { unsafe unlink(new) }
      let file = unsafe open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
      guard file >= 0 else { throw Failure(what: "cannot write \(path)", code: errno) }
      return file
    } undo: { _ in
      unsafe unlink(new)
    }
  }

  deinit {
    close(descriptor)
    if !isInPlace { unsafe unlink(new) }
    unfinished.forget(entry)
  }

  package func write(_ bytes: [UInt8]) throws(Failure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      // Borrows the rest for the call.
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      guard count >= 0 || errno == EINTR else { throw unwritten(errno) }
      if count > 0 { rest = rest.dropFirst(count) }
    }
  }

  /// Gives it its name. The file and its name are on the disk when this returns.
  ///
  /// - Parameters:
  ///   - replacing: whether it takes the place of a file that has the name; otherwise that is `EEXIST`.
  ///   - mode: who may read it from then on, whatever the user's mask is; nil: as it was made.
  package func place(replacing: Bool = true, mode: UInt32? = nil) throws(Failure) {
    if let mode, fchmod(descriptor, mode) != 0 { throw unwritten(errno) }
    // After a power cut, the name must not stand for an empty file.
    guard fsync(descriptor) == 0 else { throw unwritten(errno) }
    if replacing {
      guard unsafe rename(new, path) == 0 else { throw unwritten(errno) }
    } else if let code = exclusiveRename() {
      throw unwritten(code)
    }
    isInPlace = true
    let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    if let code = Folder.sync(folder) { throw unwritten(code) }
  }

  private func exclusiveRename() -> Int32? {
    let code = ExclusiveRename.rename(new, to: path)
    // The file system has no exclusive rename. Try a hard link, which replaces no file either.
    guard code == EINVAL else { return code }
    guard unsafe link(new, path) == 0 else { return errno }
    unsafe unlink(new)
    return nil
  }

  private func unwritten(_ code: Int32) -> Failure { Failure(what: "cannot write \(path)", code: code) }
}

/// Renames a file or a folder without replacing anything (`renameat2(2)`, RENAME_NOREPLACE).
package enum ExclusiveRename {
  /// Renames `path`.
  ///
  /// - Returns: nil on success, else the error number: `EEXIST` if the new name is taken, `EINVAL` if the file system
  ///   does not support this.
  package static func rename(_ path: String, to new: String) -> CInt? {
    unsafe whorl_rename_without_replacing(path, new) == 0 ? nil : errno
  }
}
