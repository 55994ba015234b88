package import Primitives

/// Permanently removes from the vault process of one user what it does not need, above all the stores of others: see
/// decision 0189 in `docs/decisions/processes.md`.
///
/// The vault processes of all users run as one user of the system, to whom every store belongs. Without this, code that
/// runs in one of them could read the files of all.
package struct VaultConfinement: Sendable {
  /// The reader process of a virtual reader, which the vault process starts itself.
  package struct StartedReader: Sendable {
    fileprivate let program: String
    fileprivate let socket: String

    /// Nil for readers that the units of the system drive.
    ///
    /// - Parameter program: the path of the reader program.
    package init?(_ selection: ReaderSelection, program: String) {
      switch selection {
      case .virtualImage(let socket), .virtualStorage(let socket): (self.program, self.socket) = (program, socket)
      case .automatic, .fprintd, .libfprint, .replay: return nil
      }
    }
  }

  /// Whether this kernel can confine a vault process. Landlock's first version is not enough: it denies every move of a
  /// file to another folder, and the files of a new store are moved.
  package static var isPossible: Bool { Landlock.version.map { $0 >= 2 } ?? false }

  private let rules: [Landlock.Rule]

  /// - Parameters:
  ///   - store: the folder of the user's store, which must be there; nil for a process that opens no store.
  ///   - record: the folder of the machine's record, which must be there; nil without a TPM.
  ///   - locks: the folder of the locks that all vault processes share.
  ///   - tpm: the device of the TPM; nil without one.
  ///   - reader: nil where the units of the system drive the readers.
  package init(
    toStore store: String?, record: String?, locks: String, tpm: String?, reader: StartedReader? = nil
  ) {
    var rules = Landlock.libraries
    // The names of accounts, wherever the machine keeps them, and which TPM it has.
    rules += ["/etc", "/sys", "/run/systemd", "/var/lib/sss", "/var/lib/extrausers"].map { .init($0, .read) }
    if let store { rules.append(.init(store, Self.own)) }
    if let record { rules.append(.init(record, Self.replace)) }
    rules.append(.init(locks, [.readFile, .writeFile, .makeFile]))
    if let tpm { rules.append(.init(tpm, .use)) }
    if let reader { rules += Self.rules(for: reader) }
    self.rules = rules
  }

  /// Confines this process, if the kernel can. Call it before the second thread starts: other threads would not be
  /// confined.
  ///
  /// - Returns: whether it is confined.
  package func enter() throws(ConfinementError) -> Bool {
    guard Self.isPossible, let version = Landlock.version else { return false }
    try ConfinementError.requireOneThread()
    try Landlock.restrict(to: rules, version: version)
    return true
  }

  /// To read files, and to write new ones and rename them.
  private static let replace: Landlock.Access = [
    .readFile, .readFolder, .writeFile, .truncate, .makeFile, .removeFile,
  ]
  private static let own = replace.union([.makeFolder, .removeFolder, .moveBetweenFolders])

  /// What the reader process needs. It cannot have rights that this process lacks, and gives up most of them itself
  /// (``ReaderConfinement``).
  private static func rules(for reader: StartedReader) -> [Landlock.Rule] {
    let run: Landlock.Access = [.readFile, .readFolder, .execute]
    return (["/usr", "/lib", "/lib64", reader.program] + foldersOfLibraries).map { .init($0, run) }
      + [.init("/run/udev", .read), .init(Landlock.folder(of: reader.socket), [.makeSocket, .removeFile])]
  }

  /// The folders of the libraries that this process uses. Those of Swift may be outside of the system's folders.
  private static var foldersOfLibraries: [String] {
    let maps = (try? SmallFile.read("/proc/self/maps", limit: 1 << 20)) ?? []
    let folders = String(decoding: maps, as: UTF8.self).split(separator: "\n").compactMap { line in
      line.hasSuffix(".so") || line.hasBytes(of: ".so.")
        ? line.firstIndex(of: "/").map { Landlock.folder(of: String(line[$0...])) } : nil
    }
    return Array(Set(folders))
  }
}
