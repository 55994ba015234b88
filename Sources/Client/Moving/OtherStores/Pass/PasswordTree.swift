internal import Glibc
internal import Primitives

/// The files in a folder of pass and in the folders below it, without hidden ones. Links are followed, as pass does.
///
/// Each folder is read once, however many links lead to it: under its own name where it has one below the folder.
struct PasswordTree {
  /// The ending of an entry's file.
  static let suffix = ".gpg"
  /// The paths of the files below the folder.
  private(set) var files: [String] = []
  private(set) var unusable: [UnusableEntry] = []
  private(set) var leftOut: [String] = []
  private let folder: String
  /// The folders that were read, and their paths.
  private var known: [FileIdentity: String] = [:]
  /// The links to folders, which are followed when all folders have been read.
  private var links: [String] = []
  private var count = 0

  /// The deepest nesting of folders that is read.
  private static let deepest = 32
  /// The most files and folders that are read.
  private static let most = 100_000

  init(in folder: String) throws(ImportError) {
    self.folder = folder
    var status = stat()
    guard stat(folder, &status) == 0 else {
      throw errno == ENOENT ? .missing(folder) : .system("\(folder): \(String(cString: strerror(errno)))")
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw .malformed("\(folder) is a file, and pass keeps a folder: name that")
    }
    try read("", FileIdentity(status))
    var next = 0
    while next < links.count {
      try follow(links[next])
      next += 1
    }
  }

  private func path(_ below: String) -> String { below.isEmpty ? folder : "\(folder)/\(below)" }

  private mutating func read(_ below: String, _ identity: FileIdentity) throws(ImportError) {
    known[identity] = below
    guard let names = Folder.nameBytes(in: path(below)) else {
      return report(below.isEmpty ? folder : below, "cannot be read: \(String(cString: strerror(errno)))")
    }
    for bytes in names where bytes.first != UInt8(ascii: ".") {
      count += 1
      guard count <= Self.most else { throw .malformed("\(folder) has more than \(Self.most) files and folders in it") }
      let prefix = below.isEmpty ? "" : "\(below)/"
      guard let name = String(validating: bytes, as: UTF8.self) else {
        report(prefix + String(decoding: bytes, as: UTF8.self), "is not in UTF-8")
        continue
      }
      try look(at: prefix + name)
    }
  }

  private mutating func look(at below: String) throws(ImportError) {
    var (link, status) = (stat(), stat())
    guard lstat(path(below), &link) == 0, stat(path(below), &status) == 0 else {
      let leadsNowhere = errno == ENOENT || errno == ELOOP
      return report(
        below, leadsNowhere ? "is a link that leads nowhere" : "cannot be read: \(String(cString: strerror(errno)))")
    }
    switch status.st_mode & S_IFMT {
    case S_IFDIR where link.st_mode & S_IFMT == S_IFLNK: links.append(below)
    case S_IFDIR: try enter(below, FileIdentity(status))
    case S_IFREG: files.append(below)
    case _ where below.hasSuffix(PasswordTree.suffix): report(below, "is not a file")
    default: break
    }
  }

  private mutating func follow(_ link: String) throws(ImportError) {
    var status = stat()
    guard stat(path(link), &status) == 0 else { return report(link, "is a link that leads nowhere") }
    try enter(link, FileIdentity(status))
  }

  private mutating func enter(_ below: String, _ identity: FileIdentity) throws(ImportError) {
    if let earlier = known[identity] {
      leftOut.append(
        earlier.isEmpty
          ? "the link '\(below)', which leads back to the whole folder"
          : "the link '\(below)', as its folder is read as '\(earlier)'")
    } else if below.utf8.count(where: { $0 == UInt8(ascii: "/") }) >= Self.deepest {
      report(below, "is in more than \(Self.deepest) folders")
    } else {
      try read(below, identity)
    }
  }

  private mutating func report(_ called: String, _ why: String) { unusable.append(UnusableEntry(called, .source(why))) }
}
