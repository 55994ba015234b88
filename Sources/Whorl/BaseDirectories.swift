internal import Glibc

/// The XDG base directories of the person who runs the program. They are that person's own choice of places; nothing
/// beyond places is taken from the environment.
package enum BaseDirectories {
  /// `$XDG_CONFIG_HOME`, else `~/.config`; nil without a home.
  package static var configuration: String? { directory("XDG_CONFIG_HOME", below: ".config") }

  /// `$XDG_DATA_HOME`, else `~/.local/share`; nil without a home.
  package static var data: String? { directory("XDG_DATA_HOME", below: ".local/share") }

  private static func directory(_ variable: String, below: String) -> String? {
    // The specification has relative paths ignored.
    if let value = getenv(variable).map({ String(cString: $0) }), value.hasPrefix("/") { return value }
    if let home = getenv("HOME").map({ String(cString: $0) }), home.hasPrefix("/") { return "\(home)/\(below)" }
    // Returns a static entry that later calls overwrite: copied at once.
    guard let entry = getpwuid(getuid()), let home = entry.pointee.pw_dir else { return nil }
    return "\(String(cString: home))/\(below)"
  }
}
