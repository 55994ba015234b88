internal import Glibc

/// The XDG base directories of the person who runs the program. They are that person's own choice of places; nothing
/// beyond places is taken from the environment.
package enum BaseDirectories {
  /// `$XDG_CONFIG_HOME`, else `~/.config`; nil without a home that can be named.
  package static var configuration: String? { directory("XDG_CONFIG_HOME", below: ".config") }

  /// `$XDG_DATA_HOME`, else `~/.local/share`; nil without a home that can be named.
  package static var data: String? { directory("XDG_DATA_HOME", below: ".local/share") }

  private static func directory(_ variable: String, below: String) -> String? {
    // The specification has relative paths ignored.
    if let value = getenv(variable), value[0] == UInt8(ascii: "/") { return String(validatingCString: value) }
    if let home = getenv("HOME"), home[0] == UInt8(ascii: "/") { return path(home, below) }
    // Returns a static entry that later calls overwrite: copied at once.
    guard let entry = getpwuid(getuid()), let home = entry.pointee.pw_dir else { return nil }
    return path(home, below)
  }

  /// Nil for a name that is not UTF-8: repaired, it would be another folder's.
  private static func path(_ home: UnsafePointer<CChar>, _ below: String) -> String? {
    String(validatingCString: home).map { "\($0)/\(below)" }
  }
}
