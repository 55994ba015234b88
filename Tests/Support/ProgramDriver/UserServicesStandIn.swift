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

extension TestStore {
  /// A store with a key for ssh that the agent gives out, and with git as its client. The body gets the environment of a
  /// person whose service manager has the agent's units.
  package static func setUp(_ body: (TestStore, [String: String]) async throws -> Void) async throws {
    try await with { store in
      let services = try UserServicesStandIn(in: store.folder)
      try services.install("whorl-agent.socket", [])
      try services.install("whorl-agent.service", ["[Service]", "ExecStart=/usr/bin/whorl-agent"])
      let home = services.environment()
      try await store.whorl("ssh", "add", "work").mustSucceed()
      try await store.whorl("ssh", "enable", environment: home).mustSucceed()
      try await Invocation(
        program: "/usr/bin/env", arguments: ["git", "config", "--global", "--add", "credential.helper", "whorl"],
        environment: home
      ).run().mustSucceed()
      try await body(store, home)
    }
  }

  /// Whether the store, ssh and git are set up.
  package func isSetUp(_ home: [String: String]) async throws -> [Bool] {
    let told = try await whorl("setup", environment: home).text
    return ["ok    store", "ok    ssh", "ok    git"].map { told.contains($0) }
  }
}
