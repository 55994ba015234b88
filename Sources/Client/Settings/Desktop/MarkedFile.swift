internal import CLinux
internal import Glibc
internal import Primitives
internal import Whorl

/// A file of the user's configuration that Whorl writes and removes, and recognizes by its first line.
package struct MarkedFile: Sendable {
  package enum State: String, Encodable, Sendable {
    case missing
    /// Written by Whorl, with the current contents.
    case current
    /// Written by Whorl, with other contents.
    case outdated
    /// Of the user or another program.
    case foreign
  }

  /// The commands that write and remove such files, by the words after `whorl`.
  package enum Owner: String, Sendable {
    case secretService = "secret-service"
    case ssh
    case passkey
    case sync

    /// The first line of its files.
    package var mark: String {
      switch self {
      case .sync: "# Written by 'whorl sync'; 'whorl sync leave --circle' removes it."
      case .secretService, .ssh, .passkey:
        "# Written by 'whorl \(rawValue) enable'; 'whorl \(rawValue) disable' removes it."
      }
    }
  }

  /// The most bytes that are read. The files that Whorl writes are shorter.
  private static let limit = 64 << 10

  package let path: String
  private let owner: Owner
  private let contents: [UInt8]

  /// - Parameter lines: the lines after the first one.
  package init(_ path: String, of owner: Owner, _ lines: [String]) {
    (self.path, self.owner) = (path, owner)
    contents = Array(([owner.mark] + lines).map { $0 + "\n" }.joined().utf8)
  }

  package var state: State {
    var status = stat()
    guard lstat(path, &status) == 0 else { return errno == ENOENT || errno == ENOTDIR ? .missing : .foreign }
    // A symbolic link counts as the user's own file.
    guard status.st_mode & S_IFMT == S_IFREG, let there = try? SmallFile.read(path, limit: Self.limit) else {
      return .foreign
    }
    if there == contents { return .current }
    return there.starts(with: owner.mark.utf8) ? .outdated : .foreign
  }

  /// The existing lines without the first one; nil if Whorl did not write the file.
  package var ownLines: [Substring]? {
    guard [.current, .outdated].contains(state), let there = try? SmallFile.read(path, limit: Self.limit) else {
      return nil
    }
    return String(decoding: there, as: UTF8.self).split(separator: "\n").dropFirst().map { $0 }
  }

  /// Refuses a file that Whorl has not written.
  package func requireOwn() throws(Failure) {
    guard state == .foreign else { return }
    throw Failure(
      .exists, "\(path) is not a file of Whorl's", name: "errSecDuplicateItem",
      advice: "nothing was changed; move it away, and try again")
  }

  /// Writes it, and creates missing folders.
  package func write() throws(Failure) {
    try requireOwn()
    for (index, character) in zip(path.indices, path).dropFirst() where character == "/" {
      let folder = String(path[..<index])
      guard mkdir(folder, 0o755) == 0 || errno == EEXIST else { throw Self.failure("cannot make", folder) }
    }
    do throws(WholeFile.Failure) {
      let file = try WholeFile(path, mode: 0o644)
      try file.write(contents)
      // A file that has appeared meanwhile is not replaced.
      try file.place(replacing: state != .missing)
    } catch {
      throw .onFile("cannot write \(path)", error.code)
    }
  }

  /// Removes the file if Whorl has written it, and returns whether it did.
  package func remove() throws(Failure) -> Bool {
    switch state {
    case .missing, .foreign: return false
    case .current, .outdated: break
    }
    guard unlink(path) == 0 else { throw Self.failure("cannot remove", path) }
    return true
  }

  private static func failure(_ what: String, _ path: String) -> Failure {
    .onFile("\(what) \(path)", errno)
  }
}

extension [MarkedFile] {
  /// Writes the files that are missing or outdated, all or none: if one cannot be written, the new ones are removed
  /// again, and so they are when a signal comes in between.
  ///
  /// - Returns: the paths that were written.
  package func write() throws(Failure) -> [String] {
    var new: [MarkedFile] = []
    var written: [String] = []
    var entries: [Unfinished.Entry] = []
    defer { for entry in entries { Unfinished.ofThisProgram.forget(entry) } }
    for file in self {
      let before = file.state
      if before == .current { continue }
      // Entered before, since writing enters the file under its other name: a signal undoes that first.
      if before == .missing {
        entries.append(Unfinished.ofThisProgram.make({}, undo: { _ in _ = try? file.remove() }).entry)
      }
      do throws(Failure) {
        try file.write()
      } catch {
        for file in new { _ = try? file.remove() }
        throw error
      }
      if before == .missing { new.append(file) }
      written.append(file.path)
    }
    return written
  }
}

/// A program that the machine's configuration starts with a desktop, hidden by a file of the user's.
struct HiddenAutostart {
  private let name: String
  private let title: String

  /// - Parameters:
  ///   - file: the name of the machine's file.
  ///   - title: what it starts, for the desktop's settings.
  package init(_ file: String, called title: String) { (name, self.title) = ("autostart/\(file)", title) }

  /// Whether the machine starts it.
  package var isInstalled: Bool {
    BaseDirectories.machineConfiguration.contains { access("\($0)/\(name)", F_OK) == 0 }
  }

  /// The file that hides it.
  ///
  /// - Parameter configuration: `$XDG_CONFIG_HOME`.
  package func file(in configuration: String, of owner: MarkedFile.Owner) -> MarkedFile {
    MarkedFile(
      "\(configuration)/\(name)", of: owner,
      ["[Desktop Entry]", "Type=Application", "Name=\(title)", "Exec=/bin/true", "Hidden=true"])
  }
}
