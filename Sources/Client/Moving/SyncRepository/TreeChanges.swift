internal import SecretModel

/// The differences between two commits, read from `diff-tree --raw -z`.
struct TreeChanges {
  struct Entry: Hashable {
    let path: String
    /// The object with the contents; nil if the file was removed.
    let blob: String?
  }

  /// The maximum number of files and folders of a commit.
  static let limit = 200_000
  static let excess = SyncRunError.tooMuch("it has more than \(limit) files and folders")
  /// The maximum number of ignored files that are reported.
  private static let namedLimit = 100

  /// Records of members, which the vault needs before items.
  private(set) var records: [Entry] = []
  private(set) var items: [Entry] = []
  private(set) var ignored: [SyncReceipt.Refusal] = []
  /// How many differences were read, also those that are not listed.
  private var count = 0

  var isEmpty: Bool { records.isEmpty && items.isEmpty && ignored.isEmpty }

  /// None.
  init() {}

  init(_ process: GitProcess) throws(SyncRunError) {
    while let line = try process.next(upTo: [0]) {
      count += 1
      // All files of one commit, and all of the other.
      guard count <= 2 * Self.limit else { throw Self.excess }
      guard let path = try process.next(upTo: [0]) else { throw process.damage }
      try add(line, path)
    }
  }

  /// - Parameter line: `:OLDMODE NEWMODE OLDOBJECT NEWOBJECT STATUS`.
  private mutating func add(_ line: [UInt8], _ path: [UInt8]) throws(SyncRunError) {
    let words = String(decoding: line, as: UTF8.self).dropFirst().split(separator: " ")
    guard words.count == 5 else { throw .damaged("git describes a change in an unknown form") }
    guard let name = Self.usable(path) else { return ignore(path, "is not the name of a shared file") }
    let (isFile, isGone) = (words[1] == "100644", words[1] == "000000")
    // A file that it has replaced counts as removed.
    if !isFile, !isGone { ignore(path, "is not a regular file") }
    let entry = Entry(path: name, blob: isFile ? String(words[3]) : nil)
    if Self.isRecord(name) { records.append(entry) } else { items.append(entry) }
  }

  mutating func ignore(_ path: [UInt8], _ reason: String) {
    guard ignored.count < Self.namedLimit else { return }
    ignored.append(SyncReceipt.Refusal(path: String(decoding: path, as: UTF8.self), reason: reason))
  }

  /// Whether a file is a record of members, or a message of a machine that joins.
  static func isRecord(_ path: String) -> Bool {
    ["circle/", "requests/", "answers/", "openings/", "consents/"].contains { path.hasPrefix($0) }
  }

  /// The path; nil if no file of a circle can have it.
  static func usable(_ path: [UInt8]) -> String? {
    let isPlain = path.allSatisfy { byte in
      (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || (0x2D...0x2F).contains(byte)
    }
    guard isPlain, (1...255).contains(path.count) else { return nil }
    let text = String(decoding: path, as: UTF8.self)
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    return parts.contains { $0.isEmpty || $0.hasPrefix(".") || $0.hasPrefix("-") } ? nil : text
  }
}
