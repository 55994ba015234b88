internal import CLinux
internal import Glibc
internal import Primitives

/// A unit of the user's service manager, as it is installed.
package struct UserUnit {
  private static let limit = 64 << 10

  package let name: String
  /// The folders in which the service manager looks, the most important first.
  private let folders: [String]

  /// - Parameters:
  ///   - configuration: `$XDG_CONFIG_HOME`.
  ///   - data: `$XDG_DATA_HOME`.
  package init(_ name: String, configuration: String, data: String) {
    self.name = name
    folders =
      ["\(configuration)/systemd/user", "/etc/systemd/user", "/run/systemd/user", "\(data)/systemd/user"]
      + ["/usr/local/lib/systemd/user", "/usr/lib/systemd/user", "/lib/systemd/user"]
  }

  /// Whether it is installed, and not masked.
  package var isInstalled: Bool { text != nil }

  /// The command that starts it; nil if it is not installed, or has none.
  package var command: String? {
    guard let text else { return nil }
    // A backslash at the end of a line continues it.
    var lines: [String] = []
    var isContinued = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let isOpen = line.hasSuffix("\\")
      let part = isOpen ? String(line.dropLast()) : String(line)
      if isContinued, let last = lines.popLast() { lines.append(last + part) } else { lines.append(part) }
      isContinued = isOpen
    }
    let commands = lines.filter { $0.hasPrefix("ExecStart=") }.map { String($0.dropFirst("ExecStart=".count)) }
    return commands.last { !$0.isEmpty }
  }

  private var text: String? {
    // The first file found counts. A link to /dev/null masks the files in later folders, and cannot be read as a file.
    let paths = folders.map { "\($0)/\(name)" }
    var status = stat()
    guard let path = paths.first(where: { lstat($0, &status) == 0 }),
      let bytes = try? SmallFile.read(path, limit: Self.limit)
    else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }
}
