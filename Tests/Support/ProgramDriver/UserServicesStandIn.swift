import Glibc

/// The folders of a user with units, and a `systemctl` that records its calls and which units were enabled.
package struct UserServicesStandIn {
  package let folder: String

  // Without the folder `enabled` it forgets what was enabled.
  package init(in folder: String) throws {
    self.folder = folder
    for each in ["bin", "config", "data", "data/systemd", "data/systemd/user", "run", "enabled"] {
      guard mkdirPrivate("\(folder)/\(each)") else { throw SystemFailure(each) }
    }
    let script = """
      #!/bin/sh
      [ "$2" = is-enabled ] && exec test -e '\(folder)/enabled/'"$3"
      printf '%s\\n' "$*" >>'\(folder)/calls'
      [ "$2" = disable ] && for unit; do rm -f '\(folder)/enabled/'"$unit"; done
      [ "$2" = enable ] && [ -d '\(folder)/enabled' ] && : >'\(folder)/enabled/'"$4"
      exit 0

      """
    try writeFile("\(folder)/bin/systemctl", Array(script.utf8))
    chmod("\(folder)/bin/systemctl", 0o755)
  }

  package func install(_ unit: String, _ lines: [String]) throws {
    try writeFile("\(folder)/data/systemd/user/\(unit)", Array(lines.map { $0 + "\n" }.joined().utf8))
  }

  package func environment(_ more: [String: String] = [:]) -> [String: String] {
    [
      "HOME": folder, "XDG_CONFIG_HOME": "\(folder)/config", "XDG_DATA_HOME": "\(folder)/data",
      "XDG_RUNTIME_DIR": "\(folder)/run", "PATH": "\(folder)/bin:/usr/bin:/bin",
    ].merging(more) { $1 }
  }

  /// The arguments of each call that changes something, in order.
  package var calls: [String] {
    let text = (try? readFile("\(folder)/calls")).map { String(decoding: $0, as: UTF8.self) } ?? ""
    return text.split(separator: "\n").map(String.init)
  }
}
