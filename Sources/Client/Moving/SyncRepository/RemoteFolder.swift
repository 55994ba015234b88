internal import Glibc
internal import Primitives
internal import Processes

/// A folder of this machine as remote: on a USB stick, say, or a drive that others use as well.
///
/// git runs the remote's side of a transfer here, as this user, and obeys the folder: its hooks, and the programs that
/// its configuration names. So that the folder runs nothing of its own, git is told to use no hooks, and a folder with
/// another configuration than of a plain, bare repository is refused (decision 0161).
struct RemoteFolder: Sendable, Hashable {
  private let path: String

  init(path: String) { self.path = path }

  /// Reads `file:///PATH`, with `%20` for a space.
  init(url: String) throws(SyncRunError) {
    guard url.hasPrefix("file:///") else { throw .unusableRemote(why: "a file address begins with file:///") }
    var bytes: [UInt8] = []
    var rest = Array(url.utf8.dropFirst("file://".utf8.count))[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let decoded = Hexadecimal.bytes(in: String(decoding: rest.prefix(2), as: UTF8.self)), decoded.count == 1,
        decoded[0] >= 0x20, decoded[0] != 0x7F
      else { throw .unusableRemote(why: "it has a % that is not followed by the number of a character") }
      bytes += decoded
      rest = rest.dropFirst(2)
    }
    guard let path = String(validating: bytes, as: UTF8.self) else {
      throw .unusableRemote(why: "its path is not in UTF-8")
    }
    self.path = path
  }

  // MARK: The remote's side

  /// The settings for the remote's side, which override the folder's.
  private static let settings = [
    "core.hooksPath=/dev/null", "core.alternateRefsCommand=:", "core.fsmonitor=false",
    "receive.denyCurrentBranch=refuse", "receive.autogc=false", "gc.auto=0", "maintenance.auto=false",
  ]

  /// The option that tells a command of git how to run the remote's side.
  func server(of command: String, _ git: GitProgram) -> String {
    let side = command == "push" ? "receive-pack" : "upload-pack"
    // The shell that git starts splits this. None of the words has a character with a meaning for it.
    let words = [git.program.path] + Self.settings.flatMap { ["-c", $0] } + [side]
    return "--\(side)=\(words.joined(separator: " "))"
  }

  // MARK: What is refused

  private static let configurationLimit = 64 << 10

  /// The settings that the folder's configuration may have, by section. None of them names a program or another file.
  private static let harmless: [String: Set<String>] = [
    "core": [
      "repositoryformatversion", "filemode", "bare", "ignorecase", "precomposeunicode", "symlinks", "hidedotfiles",
      "sharedrepository", "logallrefupdates", "compression",
    ],
    "extensions": ["objectformat", "refstorage"], "gc": ["auto"], "http": ["receivepack"],
    "receive": ["denynonfastforwards", "denydeletes", "fsckobjects", "autogc"],
    // What 'git clone' writes with --bare or --mirror. This side of a transfer does not use it.
    "remote": ["url", "fetch", "mirror", "tagopt"],
    "transfer": ["fsckobjects"],
  ]

  /// Throws if git must not use the folder. A folder that is missing passes: git says what is wrong.
  func check() throws(SyncRunError) {
    // The places where git looks for a repository.
    for place in [path, "\(path).git"] {
      if isThere("\(place)/.git") { throw refused("\(place) is not bare: it has a folder .git") }
      var status = stat()
      guard stat(place, &status) == 0 else { continue }
      guard status.st_mode & S_IFMT == S_IFDIR else { throw refused("\(place) is not a folder") }
      guard isThere("\(place)/HEAD") || isThere("\(place)/config") else { continue }
      if isThere("\(place)/commondir") { throw refused("\(place) is only a part of another repository") }
      try checkConfiguration("\(place)/config")
    }
  }

  /// Whether there is something, also a link to nothing: git takes such a link as HEAD.
  private func isThere(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 || errno != ENOENT && errno != ENOTDIR
  }

  private func refused(_ why: String) -> SyncRunError { .unusableFolder(path, why: why) }

  /// Reads the configuration more strictly than git: what is not in the form that git writes is refused.
  private func checkConfiguration(_ file: String) throws(SyncRunError) {
    let bytes: [UInt8]
    do throws(SmallFile.Failure) {
      bytes = try SmallFile.read(file, limit: Self.configurationLimit)
    } catch {
      throw refused("\(file) cannot be read: \(error.problem)")
    }
    var section = ""
    var isBare = false
    for line in bytes.split(separator: 0x0A) {
      let text = String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
      if text.wholeMatch(of: /[ \t]*([#;].*)?/) != nil { continue }
      if let head = text.wholeMatch(of: /[ \t]*\[([A-Za-z]+)( "[^"\\]*")?\][ \t]*/) {
        section = String(head.1).lowercased()
        guard head.2 == nil || section == "remote" else {
          throw refused("\(file) has the section \(head.1), which a plain repository has not")
        }
        continue
      }
      guard let setting = text.wholeMatch(of: /[ \t]*([A-Za-z][A-Za-z0-9\-]*)[ \t]*(?:=[ \t]*([^"\\#;]*))?/) else {
        throw refused("\(file) has a line that git would not write: \(text)")
      }
      let name = String(setting.1).lowercased()
      guard Self.harmless[section]?.contains(name) == true else {
        throw refused("\(file) has the setting \(section).\(setting.1), which a plain repository has not")
      }
      guard section == "core", name == "bare" else { continue }
      let value = String(setting.2 ?? "true").lowercased()
      isBare = ["true", "yes", "on", "1"].contains { value == $0 || value.hasPrefix($0 + " ") }
    }
    guard isBare else { throw refused("it is not bare") }
  }
}
