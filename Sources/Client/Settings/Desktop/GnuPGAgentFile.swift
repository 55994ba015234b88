internal import Glibc
internal import Primitives

/// The configuration of GnuPG's agent, in which `whorl gpg enable` names Whorl's pinentry. Everything else in the file
/// stays, and the line of another pinentry is kept as a comment.
package struct GnuPGAgentFile {
  /// Begins the two lines that Whorl writes.
  private static let mark = "# 'whorl gpg enable' wrote this line and the next one; 'whorl gpg disable' removes them."
  /// Stands before a line that Whorl's takes the place of.
  private static let replaced = "# 'whorl gpg disable' gives this line back: "
  private static let option = "pinentry-program"
  private static let limit = 256 << 10

  /// The pinentry of an agent whose configuration names none.
  package static let usual = "/usr/bin/pinentry"
  /// The name under which GnuPG's agent runs `whorl pinentry`.
  package static let ownProgram = "pinentry-whorl"

  package let path: String
  private let lines: [Substring]
  private let mode: mode_t

  /// Reads it from `$GNUPGHOME`, else `~/.gnupg`. It may be missing.
  package init() throws(Failure) {
    guard let home = UserEnvironment.variable("GNUPGHOME") ?? UserEnvironment.variable("HOME").map({ "\($0)/.gnupg" }),
      home.hasPrefix("/")
    else { throw .noHome }
    path = "\(home)/gpg-agent.conf"
    var status = stat()
    guard lstat(path, &status) == 0 else {
      guard errno == ENOENT else { throw .onFile("cannot read \(path)", errno) }
      (lines, mode) = ([], 0o600)
      return
    }
    guard status.st_mode & S_IFMT == S_IFREG else { throw Self.unusable(path, "it is not a file of its own") }
    let bytes: [UInt8]
    do throws(SmallFile.Failure) {
      bytes = try SmallFile.read(path, limit: Self.limit)
    } catch {
      throw Self.unusable(path, error.problem)
    }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw Self.unusable(path, "it is not UTF-8") }
    lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    mode = status.st_mode & 0o777
  }

  private static func unusable(_ path: String, _ problem: String) -> Failure {
    Failure(
      .exists, "\(path): \(problem)",
      advice: "nothing was changed; the line in it is '\(option) /usr/bin/\(ownProgram)'")
  }

  /// Whether GnuPG has a secret key in the folder of the file, which the agent keeps there.
  package var hasKeys: Bool {
    let names = Folder.names(in: path.prefix(path.utf8.count - "gpg-agent.conf".utf8.count) + "private-keys-v1.d") ?? []
    return names.contains { $0.hasSuffix(".key") }
  }

  /// The program that Whorl has named; nil where it is not enabled.
  package var program: String? {
    guard let place = markPlace, place + 1 < lines.count else { return nil }
    return Self.program(in: lines[place + 1])
  }

  /// The pinentry that would run without Whorl.
  package var otherProgram: String {
    let named = original.compactMap { Self.program(in: $0) }.last ?? Self.usual
    // It would run this one, and so on without end.
    return named.hasSuffix("/\(Self.ownProgram)") ? Self.usual : named
  }

  /// Names a program, in the place of every other.
  package func enable(_ program: String) throws(Failure) {
    let others = original.map { Self.program(in: $0) == nil ? $0 : Substring(Self.replaced + $0) }
    try write([Self.mark[...], "\(Self.option) \(program)"] + (others.isEmpty ? [""] : others))
  }

  /// Makes the file what it was before; removes it where nothing else is in it.
  ///
  /// - Returns: whether Whorl was enabled.
  package func disable() throws(Failure) -> Bool {
    guard markPlace != nil else { return false }
    let original = original
    guard original.contains(where: { !$0.isEmpty }) else {
      guard unlink(path) == 0 else { throw .onFile("cannot remove \(path)", errno) }
      return true
    }
    try write(original)
    return true
  }

  private func write(_ lines: [Substring]) throws(Failure) {
    do throws(PersonalFile.Unwritten) {
      try PersonalFile(path).write(contents: Array(lines.joined(separator: "\n").utf8), mode: mode)
    } catch {
      throw Failure(
        .inputOutput, "cannot write \(error.problem)", name: "errSecIO",
        advice: "see whether you may write to its folder, and whether there is room; the file is as it was")
    }
  }

  private var markPlace: Int? { lines.firstIndex { $0 == Self.mark } }

  /// The lines as they are without Whorl.
  private var original: [Substring] {
    guard let place = markPlace else { return lines }
    var rest = lines
    rest.removeSubrange(place..<min(place + 2, rest.count))
    return rest.map { $0.hasPrefix(Self.replaced) ? $0.dropFirst(Self.replaced.count) : $0 }
  }

  /// The program that a line of the configuration names; nil for every other line.
  private static func program(in line: Substring) -> String? {
    let line = line.drop { $0 == " " || $0 == "\t" }
    guard line.hasPrefix(option) else { return nil }
    let rest = line.dropFirst(option.count)
    guard let next = rest.first, next == " " || next == "\t" else { return nil }
    var name = rest.drop { $0 == " " || $0 == "\t" }
    while let last = name.last, last.isWhitespace { name = name.dropLast() }
    return String(name)
  }
}
