import FoundationEssentials
import Glibc
import ProgramDriver
import Testing

@Suite("may-remove, which packages run before their removal")
struct RemovalTests {
  /// A machine with the one user alice, whose home is the folder of the store.
  private struct Machine {
    let store: TestStore
    let services: UserServicesStandIn

    var folder: String { store.folder }
    var anyway: String { "\(folder)/remove-anyway" }

    init(_ store: TestStore) throws {
      self.store = store
      services = try UserServicesStandIn(in: store.folder)
      try services.install("whorl-agent.socket", [])
      try services.install("whorl-agent.service", ["[Service]", "ExecStart=/usr/bin/whorl-agent"])
      let getent = "#!/bin/sh\n[ $# = 1 ] && echo 'alice:x:1000:1000::\(store.folder):/bin/sh'\n"
      try writeFile("\(folder)/bin/getent", Array(getent.utf8))
      chmod("\(folder)/bin/getent", 0o755)
      // The real script, except for the path of the file with which an administrator overrides it.
      let script = String(decoding: try readFile(Self.repository + "/scripts/may-remove"), as: UTF8.self)
      let line = "anyway=/etc/whorl/remove-anyway\n"
      try #require(script.contains(line))
      try writeFile("\(folder)/may-remove", Array(script.replacing(line, with: "anyway=\(anyway)\n").utf8))
    }

    private static var repository: String {
      #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
    }

    /// A user without XDG variables, except for the machine's folder.
    private var environment: [String: String] {
      [
        "HOME": folder, "XDG_RUNTIME_DIR": "\(folder)/run", "PATH": "\(folder)/bin:/usr/bin:/bin",
        "XDG_CONFIG_DIRS": "\(folder)/xdg",
      ]
    }

    func whorl(_ words: String...) async throws {
      // The units are where `UserServicesStandIn` puts them.
      symlink("\(folder)/data/systemd", "\(folder)/.local/share/systemd")
      try await Invocation(arguments: store.arguments(words), environment: environment).run().mustSucceed()
    }

    func mayRemove(_ words: String...) async throws -> Invocation.Result {
      try await Invocation(
        program: "/bin/sh", arguments: ["\(folder)/may-remove"] + words, environment: environment
      ).run()
    }
  }

  private func with(_ body: (Machine) async throws -> Void) async throws {
    try await TestStore.with { store in
      for each in [".local", ".local/share", ".local/share/keyrings"] { mkdir("\(store.folder)/\(each)", 0o700) }
      try await body(try Machine(store))
    }
  }

  @Test("may-remove refuses the package's removal while a user has Whorl as the Secret Service or SSH agent")
  func files() async throws {
    try await with { machine in
      #expect(try await machine.mayRemove().status == 0)
      try await machine.whorl("secret-service", "enable")
      let secrets = try await machine.mayRemove()
      #expect(secrets.status == 1)
      #expect(secrets.diagnostics.contains("the Secret Service of: alice \n"), "\(secrets.diagnostics)")
      #expect(secrets.diagnostics.contains("back with: whorl secret-service disable\n"))
      #expect(!secrets.diagnostics.contains("whorl ssh disable") && !secrets.diagnostics.contains("login"))
      // Removing the PAM module's package is not affected.
      #expect(try await machine.mayRemove("login").status == 0)

      try await machine.whorl("ssh", "enable", "--other-agent", "/run/other")
      try await machine.whorl("secret-service", "disable")
      let ssh = try await machine.mayRemove()
      #expect(ssh.status == 1)
      #expect(ssh.diagnostics.contains("the SSH agent of: alice \n"), "\(ssh.diagnostics)")
      #expect(ssh.diagnostics.contains("back with: whorl ssh disable\n"))
      #expect(!ssh.diagnostics.contains("whorl secret-service disable"))
      try await machine.whorl("ssh", "disable")
      let free = try await machine.mayRemove()
      #expect(free.status == 0 && free.text.isEmpty && free.diagnostics.isEmpty, "\(free.text)\(free.diagnostics)")
    }
  }

  @Test("may-remove refuses the package's removal while a login keyring opens only with Whorl")
  func keyring() async throws {
    try await with { machine in
      try writeFile("\(machine.folder)/.local/share/keyrings/login.keyring.whorl", [])
      for words in [[], ["login"]] {
        let refused =
          words.isEmpty ? try await machine.mayRemove() : try await machine.mayRemove(words[0])
        #expect(refused.status == 1)
        #expect(refused.diagnostics.contains("only Whorl opens the login keyring of: alice \n"))
        #expect(refused.diagnostics.contains("with: whorl login disable gnome-keyring\n"))
      }
    }
  }

  @Test("may-remove allows a removal if the administrator's file says so, and lists the files that stay")
  func anyway() async throws {
    try await with { machine in
      for each in ["xdg", "xdg/autostart"] { mkdir("\(machine.folder)/\(each)", 0o700) }
      for name in ["secrets", "ssh"] {
        try writeFile("\(machine.folder)/xdg/autostart/gnome-keyring-\(name).desktop", [])
      }
      try machine.services.install("whorl-secrets.service", ["[Service]"])
      try await machine.whorl("secret-service", "enable")
      try await machine.whorl("ssh", "enable", "--other-agent", "/run/other")
      try writeFile(machine.anyway, [])
      let gone = try await machine.mayRemove()
      #expect(gone.status == 0)
      for path in [
        ".local/share/dbus-1/services/org.freedesktop.secrets.service",
        ".config/systemd/user/whorl-agent.service.d/whorl-other-agent.conf",
        ".config/systemd/user/whorl-secrets.service.d/whorl-options.conf",
        ".config/autostart/gnome-keyring-secrets.desktop", ".config/autostart/gnome-keyring-ssh.desktop",
      ] { #expect(gone.text.contains("whorl:   \(machine.folder)/\(path)\n"), "\(gone.text)") }
    }
  }

  @Test("may-remove ignores files that are not Whorl's, links and pipes")
  func foreign() async throws {
    try await with { machine in
      try await machine.whorl("ssh", "enable", "--other-agent", "/run/other")
      let file = "\(machine.folder)/.config/systemd/user/whorl-agent.service.d/whorl-other-agent.conf"
      let marked = try readFile(file)
      try writeFile("\(machine.folder)/elsewhere", marked)
      let others: [() throws -> Void] = [
        { symlink("\(machine.folder)/elsewhere", file) }, { mkfifo(file, 0o600) },
        { try writeFile(file, Array("[Service]\n".utf8) + marked) },
      ]
      for put in others {
        unlink(file)
        try put()
        #expect(try await machine.mayRemove().status == 0)
      }
    }
  }

  @Test("may-remove names the users whose git, docker, GnuPG or portal settings use Whorl, and allows the removal")
  func settings() async throws {
    try await with { machine in
      for each in [".docker", ".gnupg", ".config", ".config/xdg-desktop-portal"] {
        mkdir("\(machine.folder)/\(each)", 0o700)
      }
      let git = "\(machine.folder)/.gitconfig"
      try writeFile(git, Array("[credential]\n\thelper = !type whorl >/dev/null 2>&1 && whorl git-credential\n".utf8))
      try writeFile("\(machine.folder)/.docker/config.json", Array(#"{"credsStore": "pass"}"#.utf8))
      let silent = try await machine.mayRemove()
      #expect(silent.status == 0 && silent.text.isEmpty && silent.diagnostics.isEmpty, "\(silent.text)")

      for helper in ["whorl", "whorl --access none", #""whorl --access none""#] {
        try writeFile(git, Array("[credential]\n\thelper = \(helper)\n".utf8))
        let told = try await machine.mayRemove()
        #expect(told.status == 0 && told.text.contains("its helper is missing, for: alice \n"), "\(told.text)")
        let command = try #require(told.text.split(separator: "\n").last?.split(separator: ": ").last)
        let undone = try await Invocation(
          program: "/bin/sh", arguments: ["-c", String(command)], environment: ["HOME": machine.folder]
        ).run()
        #expect(undone.status == 0, "\(command): \(undone.diagnostics)")
        #expect(try await machine.mayRemove().text.isEmpty)
      }
      try writeFile("\(machine.folder)/.docker/config.json", Array(#"{"credHelpers": {"c.test": "whorl"}}"#.utf8))
      try writeFile("\(machine.folder)/.gnupg/gpg-agent.conf", Array("pinentry-program /usr/bin/pinentry-whorl\n".utf8))
      try writeFile(
        "\(machine.folder)/.config/xdg-desktop-portal/portals.conf",
        Array("[preferred]\norg.freedesktop.impl.portal.Secret=whorl\n".utf8))
      let told = try await machine.mayRemove()
      #expect(told.status == 0)
      for file in [".docker/config.json", ".gnupg/gpg-agent.conf", ".config/xdg-desktop-portal/portals.conf"] {
        #expect(told.text.contains("whorl:   \(machine.folder)/\(file)\n"), "\(told.text)")
      }
      #expect(try await machine.mayRemove("login").text.isEmpty)
    }
  }

  @Test("may-remove refuses the package's removal while only the SSH agent's socket is enabled")
  func socket() async throws {
    try await with { machine in
      for each in [".config", ".config/systemd", ".config/systemd/user", ".config/systemd/user/sockets.target.wants"] {
        mkdir("\(machine.folder)/\(each)", 0o700)
      }
      let link = "\(machine.folder)/.config/systemd/user/sockets.target.wants/whorl-agent.socket"
      symlink("/usr/lib/systemd/user/whorl-agent.socket", link)
      let refused = try await machine.mayRemove()
      #expect(refused.status == 1 && refused.diagnostics.contains("the SSH agent of: alice \n"))
      try writeFile(machine.anyway, [])
      #expect(try await machine.mayRemove().text.contains("whorl:   \(link)\n"))
      unlink(link)
      #expect(try await machine.mayRemove().text.isEmpty)
    }
  }
}
