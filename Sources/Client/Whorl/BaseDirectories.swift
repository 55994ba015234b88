internal import Glibc
internal import SDBus

/// The XDG base directories of the user who runs the program. Only these paths are taken from the environment.
package enum BaseDirectories {
  /// `$XDG_CONFIG_HOME`, else `~/.config`; nil where the home folder is unknown or its path is not UTF-8.
  package static var configuration: String? { directory("XDG_CONFIG_HOME", below: ".config") }

  /// `$XDG_DATA_HOME`, else `~/.local/share`; nil where the home folder is unknown or its path is not UTF-8.
  package static var data: String? { directory("XDG_DATA_HOME", below: ".local/share") }

  /// `$XDG_STATE_HOME`, else `~/.local/state`; nil where the home folder is unknown or its path is not UTF-8.
  package static var state: String? { directory("XDG_STATE_HOME", below: ".local/state") }

  /// The folders of the machine's configuration in the order of their importance: `$XDG_CONFIG_DIRS`, else `/etc/xdg`.
  package static var machineConfiguration: [String] {
    let given = variable("XDG_CONFIG_DIRS").flatMap { String(validating: $0, as: UTF8.self) } ?? ""
    let folders = given.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
    return folders.isEmpty ? ["/etc/xdg"] : folders
  }

  /// `$XDG_RUNTIME_DIR`, else `/run/user/UID`.
  package static var runtime: String {
    if let value = variable("XDG_RUNTIME_DIR"), value.first == UInt8(ascii: "/"),
      let path = String(validating: value, as: UTF8.self)
    {
      return path
    }
    return "/run/user/\(getuid())"
  }

  /// The address of the message bus of the user's session: `$DBUS_SESSION_BUS_ADDRESS`, else that of the runtime folder.
  package static var sessionBus: String {
    guard let value = variable("DBUS_SESSION_BUS_ADDRESS"), !value.isEmpty,
      let given = String(validating: value, as: UTF8.self)
    else { return BusAddress.of(socketAt: "\(runtime)/bus") }
    return given
  }

  private static func directory(_ name: String, below: String) -> String? {
    // The specification requires that relative paths are ignored.
    if let value = variable(name), value.first == UInt8(ascii: "/") { return String(validating: value, as: UTF8.self) }
    if let home = variable("HOME"), home.first == UInt8(ascii: "/") { return path(home, below) }
    // Returns a static entry that later calls overwrite: copied at once.
    guard let entry = unsafe getpwuid(getuid()), let home = unsafe entry.pointee.pw_dir else { return nil }
    return path(unsafe bytes(home), below)
  }

  /// Nil for a path that is not UTF-8: a repaired one would name another folder.
  private static func path(_ home: [UInt8], _ below: String) -> String? {
    String(validating: home, as: UTF8.self).map { "\($0)/\(below)" }
  }

  /// The value of a variable of the environment.
  private static func variable(_ name: String) -> [UInt8]? {
    // The value belongs to the environment: copied at once.
    unsafe getenv(name).map { unsafe bytes($0) }
  }

  private static func bytes(_ text: UnsafePointer<CChar>) -> [UInt8] {
    unsafe Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
  }
}
