internal import Glibc

/// A running program's name for people: its command and its application. A program can choose both, so never base a
/// permission on it.
package enum ProgramLabel {
  /// The most characters shown of an application identifier, which has at most 255 bytes.
  private static let longestApplication = 64
  /// The most characters shown of each end of a long path.
  private static let longestPathEnd = 48
  /// The kernel keeps 15 bytes of a command's name.
  private static let longestCommand = 15

  /// The label of the process with this number: `COMMAND (APPLICATION)`, or one of the two. Nil if neither is known.
  ///
  /// The caller must make sure that the number is not reused meanwhile.
  package static func text(of pid: Int32) -> String? {
    text(command: contents(of: "/proc/\(pid)/comm"), groups: contents(of: "/proc/\(pid)/cgroup"))
  }

  /// The label of a program that runs this file: `COMMAND (APPLICATION) (PATH)`.
  ///
  /// - Parameter label: the program's label without it.
  package static func text(_ label: String?, path: String) -> String? {
    guard let path = plain(path, .max).map(shortened) else { return label }
    return (label.map { "\($0) " } ?? "") + "(\(path))"
  }

  /// The label of a program whose file is not at its path any more: `COMMAND (APPLICATION) (updated or removed: PATH)`. Any
  /// program can claim the path.
  ///
  /// - Parameter label: the program's label without it.
  package static func text(_ label: String?, earlierPath path: String) -> String {
    let path = plain(path, .max).map(shortened) ?? ""
    return (label.map { "\($0) " } ?? "") + "(updated or removed: \(path))"
  }

  /// The label of a program in a sandbox, which chooses the path of its file: `COMMAND (APPLICATION) (in a sandbox)`.
  ///
  /// - Parameter label: the program's label without it.
  package static func inSandbox(_ label: String?) -> String { (label.map { "\($0) " } ?? "") + "(in a sandbox)" }

  /// Keeps the beginning of a path, which shows who installed the program, and the end, which names it.
  private static func shortened(_ path: String) -> String {
    let scalars = path.unicodeScalars
    guard scalars.count > 2 * longestPathEnd + 1 else { return path }
    return String(String.UnicodeScalarView(scalars.prefix(longestPathEnd))) + "…"
      + String(String.UnicodeScalarView(scalars.suffix(longestPathEnd)))
  }

  /// - Parameters:
  ///   - command: the content of `/proc/PID/comm`.
  ///   - groups: the content of `/proc/PID/cgroup`.
  static func text(command: String?, groups: String?) -> String? {
    let command = command.flatMap { plain($0, longestCommand) }
    let application = groups.flatMap(application(in:)).flatMap { plain($0, longestApplication) }
    return switch (command, application) {
    case (let command?, let application?): "\(command) (\(application))"
    case (let only?, nil), (nil, let only?): only
    case (nil, nil): nil
    }
  }

  /// The application identifier in the name of the innermost unit that has one, as desktops name the units of the
  /// programs that they start (systemd's `docs/DESKTOP_ENVIRONMENTS.md`).
  private static func application(in groups: String) -> String? {
    let lines = groups.split(separator: "\n")
    // systemd's own hierarchy: the only one, or the one of this name beside those of version 1.
    let path = lines.lazy.compactMap { line -> Substring? in
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3, fields[1].isEmpty || fields[1] == "name=systemd" else { return nil }
      return fields[2]
    }.first
    guard let path else { return nil }
    return path.split(separator: "/").reversed().lazy.compactMap(application(ofUnit:)).first
  }

  /// `app[-LAUNCHER]-APPLICATION-RANDOM.scope`, `app[-LAUNCHER]-APPLICATION[@RANDOM].service`,
  /// `app-APPLICATION.slice` and `dbus-CONNECTION-APPLICATION@NUMBER.service`.
  private static func application(ofUnit unit: Substring) -> String? {
    guard let point = unit.lastIndex(of: ".") else { return nil }
    let kind = unit[point...]
    let name = kind == ".service" ? unit[..<point].prefix { $0 != "@" } : unit[..<point]
    let parts = name.split(separator: "-", omittingEmptySubsequences: false)
    let application: Substring? =
      switch (parts[0], kind, parts.count) {
      case ("app", ".scope", 3): parts[1]
      case ("app", ".scope", 4): parts[2]
      case ("app", ".service", 2), ("app", ".slice", 2): parts[1]
      case ("app", ".service", 3), ("dbus", ".service", 3): parts[2]
      default: nil
      }
    return application.map { unescaped($0) }
  }

  /// The text of a part of a unit's name, in which `\xNN` stands for a byte (systemd.unit(5)).
  private static func unescaped(_ part: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = part.utf8[...]
    while let byte = rest.first {
      if byte == UInt8(ascii: "\\"), rest.dropFirst().first == UInt8(ascii: "x"), rest.count >= 4,
        let value = UInt8(String(decoding: rest.dropFirst(2).prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(4)
      } else {
        bytes.append(byte)
        rest = rest.dropFirst()
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The text without characters that could move the cursor, change the reading direction or act as markup. Nil if
  /// nothing is left.
  private static func plain(_ text: String, _ longest: Int) -> String? {
    var plain = ""
    for scalar in text.unicodeScalars where !isActive(scalar) { plain.unicodeScalars.append(scalar) }
    let words = plain.split(separator: " ").joined(separator: " ")
    guard !words.isEmpty else { return nil }
    // Counted in code points, since a character may have any number of combining marks.
    guard words.unicodeScalars.count > longest else { return words }
    return String(String.UnicodeScalarView(words.unicodeScalars.prefix(longest))) + "…"
  }

  private static func isActive(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: true
    // With parentheses a command could pretend to have an application.
    default: "<>&\"'`\\()".unicodeScalars.contains(scalar) || scalar == "\u{FFFD}"
    }
  }

  private static func contents(of path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 4_096)
    // read: writes at most as many bytes as it is told
    let count = read(descriptor, &buffer, buffer.count)
    guard count > 0 else { return nil }
    return String(decoding: buffer.prefix(count), as: UTF8.self)
  }
}
