internal import Glibc
internal import SDBus

/// The XDG base directories of the user who runs the program. Only these paths are taken from the environment.
package enum BaseDirectories {
  /// `$XDG_CONFIG_HOME`, else `~/.config`; nil where the home folder is unknown or its path is not UTF-8.
  package static var configuration: String? { directory("XDG_CONFIG_HOME", below: ".config") }

  /// `$XDG_DATA_HOME`, else `~/.local/share`; nil where the home folder is unknown or its path is not UTF-8.
  package static var data: String? { directory("XDG_DATA_HOME", below: ".local/share") }

  /// The folders of the machine's configuration in the order of their importance: `$XDG_CONFIG_DIRS`, else `/etc/xdg`.
  package static var machineConfiguration: [String] {
    let given = getenv("XDG_CONFIG_DIRS").flatMap { String(validatingCString: $0) } ?? ""
    let folders = given.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
    return folders.isEmpty ? ["/etc/xdg"] : folders
  }

  /// `$XDG_RUNTIME_DIR`, else `/run/user/UID`.
  package static var runtime: String {
    if let value = getenv("XDG_RUNTIME_DIR"), value[0] == UInt8(ascii: "/"), let path = String(validatingCString: value)
    {
      return path
    }
    return "/run/user/\(getuid())"
  }

  /// The address of the message bus of the user's session: `$DBUS_SESSION_BUS_ADDRESS`, else that of the runtime folder.
  package static var sessionBus: String {
    guard let value = getenv("DBUS_SESSION_BUS_ADDRESS"), value[0] != 0, let given = String(validatingCString: value)
    else { return BusAddress.of(socketAt: "\(runtime)/bus") }
    return given
  }

  private static func directory(_ variable: String, below: String) -> String? {
    // The specification requires that relative paths are ignored.
    if let value = getenv(variable), value[0] == UInt8(ascii: "/") { return String(validatingCString: value) }
    if let home = getenv("HOME"), home[0] == UInt8(ascii: "/") { return path(home, below) }
    // Returns a static entry that later calls overwrite: copied at once.
    guard let entry = getpwuid(getuid()), let home = entry.pointee.pw_dir else { return nil }
    return path(home, below)
  }

  /// Nil for a path that is not UTF-8: a repaired one would name another folder.
  private static func path(_ home: UnsafePointer<CChar>, _ below: String) -> String? {
    String(validatingCString: home).map { "\($0)/\(below)" }
  }
}
