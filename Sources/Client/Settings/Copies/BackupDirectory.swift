internal import Glibc
internal import Moving
internal import Primitives
internal import Processes
internal import Prompts
package import SecretModel
package import Whorl

/// The directory of a backup, which holds one file.
package final class BackupDirectory: Sendable {
  private static let fileName = "store.whorl-backup"

  private let path: String
  /// The file of an existing backup, open for reading; -1 for a new one.
  package let file: Int32

  deinit { if file >= 0 { close(file) } }

  // MARK: New

  /// A name for a new one in the home directory, with the day of today.
  package static var proposed: String {
    "\(UserEnvironment.variable("HOME") ?? "")/whorl-\(Spoken.time(Int64(time(nil))).prefix(10))"
  }

  /// Throws early if the directory cannot be made: it has to be new, or this user's own and empty.
  package init(new path: String) throws(Failure) {
    self.path = Self.trimmed(path)
    file = -1
    var info = stat()
    guard lstat(self.path, &info) == 0 else {
      guard access(folder, W_OK | X_OK) == 0 else { throw cannotMake(errno) }
      return
    }
    guard info.st_mode & S_IFMT == S_IFDIR, info.st_uid == geteuid() else {
      throw .usage("\(path) is there and is no directory of this user", advice: "name another one")
    }
    guard rmdirIsPossible else { throw exists }
  }

  /// Makes the directory under a temporary name for this user alone, has the store write its copy there, and renames it.
  /// Removes it if that fails.
  package func write(_ store: SecretStore) async throws(Failure) {
    let new = "\(path).\(Hexadecimal.text(of: UInt64.random(in: 0...UInt64.max)))"
    let name = "\(new)/\(Self.fileName)"
    // Both may be finished by the time of a signal, under the directory's own name.
    let (output, entry) = try Unfinished.ofThisProgram.make { () throws(Failure) in
      guard mkdir(new, 0o700) == 0 else { throw cannotMake(errno) }
      let output = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard output >= 0 else {
        let code = errno
        rmdir(new)
        throw cannotMake(code)
      }
      return output
    } undo: { _ in
      unlink(name)
      rmdir(new)
    }
    defer { Unfinished.ofThisProgram.forget(entry) }
    do throws(Failure) {
      defer { close(output) }
      try await store.call { vault throws(Failure) in
        do throws(VaultError) { try await vault.backUp(to: output) } catch { throw Failure(error) }
      }
      if let code = Folder.sync(new) { throw cannotMake(code) }
      try take(new)
    } catch {
      unlink(name)
      rmdir(new)
      throw error
    }
    if let code = Folder.sync(folder) { throw cannotMake(code) }
  }

  private func take(_ new: String) throws(Failure) {
    var code = ExclusiveRename.rename(new, to: path)
    // Removes an empty directory of that name, and nothing else.
    if code == EEXIST, rmdir(path) == 0 { code = ExclusiveRename.rename(new, to: path) }
    // The file system has no exclusive rename. A plain one replaces no directory that is not empty.
    if code == EINVAL { code = rename(new, path) == 0 ? nil : errno }
    switch code {
    case nil: return
    case EEXIST?, ENOTEMPTY?, ENOTDIR?: throw exists
    case .some(let code): throw cannotMake(code)
    }
  }

  private var rmdirIsPossible: Bool {
    Folder.names(in: path)?.isEmpty == true
  }

  private var folder: String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "." }

  private var exists: Failure { Failure(.exists, "\(path) exists already", advice: "name a new directory") }

  private func cannotMake(_ code: Int32) -> Failure {
    Failure(
      .inputOutput, "cannot make \(path): \(String(cString: strerror(code)))", name: "errSecIO",
      advice: "name another directory")
  }

  // MARK: Existing

  package init(existing path: String) throws(Failure) {
    self.path = Self.trimmed(path)
    // O_NONBLOCK: a FIFO of that name must not hang the program.
    file = open("\(self.path)/\(Self.fileName)", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else {
      let code = errno
      guard code == ENOENT || code == ENOTDIR else {
        throw Failure(
          .inputOutput, "cannot open \(path): \(String(cString: strerror(code)))", name: "errSecIO",
          advice: "name what 'whorl backup' has made")
      }
      guard access(path, F_OK) == 0 else {
        throw Failure(
          .notFound, "there is nothing at \(path)", name: "errSecItemNotFound",
          advice: "name what 'whorl backup' has made")
      }
      throw .usage(
        code == ENOTDIR ? "\(path) is a file, and a backup is a directory" : "\(path) is not a backup",
        advice: code == ENOTDIR
          ? "'whorl import' reads what 'whorl export' has written" : "name what 'whorl backup' has made")
    }
  }

  private static func trimmed(_ path: String) -> String {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path
  }
}

extension BackupContents {
  /// What restoring it means, in lines for a person.
  package var lines: [String] {
    var lines = ["The copy has \(Spoken.plural(items, "item"))."]
    func list(_ names: [ItemName], _ words: String) {
      guard !names.isEmpty else { return }
      lines.append("\(Spoken.plural(names.count, "item")) \(words):")
      lines += names.prefix(Listing<ItemName>.limit).map { "  \($0)" }
      if names.count > Listing<ItemName>.limit { lines.append("  and \(names.count - Listing<ItemName>.limit) more") }
    }
    list(removed, "of the store will be lost")
    list(returning, "will come back")
    list(changed, "will become what they were")
    list(dead, "will be dead, since the fingers or the passcode that they are bound to are gone")
    return lines
  }
}
