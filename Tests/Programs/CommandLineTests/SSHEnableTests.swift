import Glibc
import ProgramDriver
import Testing

@Suite("whorl ssh enable and disable")
struct SSHEnableTests {
  private static let mark = "# Written by 'whorl ssh enable'; 'whorl ssh disable' removes it.\n"

  private func with(_ body: (TestStore, UserServicesStandIn) async throws -> Void) async throws {
    try await TestStore.with { store in
      let services = try UserServicesStandIn(in: store.folder)
      try services.install("whorl-agent.socket", [])
      try services.install("whorl-agent.service", ["[Service]", "ExecStart=/usr/bin/whorl-agent"])
      try await body(store, services)
    }
  }

  private static func path(_ services: UserServicesStandIn) -> String {
    "\(services.folder)/config/systemd/user/whorl-agent.service.d/whorl-other-agent.conf"
  }

  @Test("whorl ssh enable starts the socket and keeps the other agent's keys, and ssh disable takes both back")
  func enableAndDisable() async throws {
    try await with { store, services in
      let other = ["SSH_AUTH_SOCK": "\(services.folder)/run/keyring/50% \"ssh\""]
      let told = try await store.whorl("ssh", "enable", "--dry-run", environment: services.environment(other))
      #expect(told.status == 0, "\(told.diagnostics)")
      #expect(told.diagnostics.contains("Would write \(Self.path(services))\n"))
      #expect(told.diagnostics.contains("Would enable whorl-agent.socket.\n"))
      #expect(services.calls.isEmpty && access(Self.path(services), F_OK) != 0)

      let done = try await store.whorl("ssh", "enable", environment: services.environment(other))
      #expect(done.status == 0, "\(done.diagnostics)")
      #expect(done.diagnostics.contains("Other keys stay with the agent at "))
      #expect(done.diagnostics.contains("Programs of your desktop find it from your next login on"))
      #expect(done.diagnostics.contains("'whorl ssh disable' takes it back.\n"))
      #expect(
        String(decoding: try readFile(Self.path(services)), as: UTF8.self) == Self.mark + """
          [Service]
          ExecStart=
          ExecStart=/usr/bin/whorl-agent --upstream "%t/keyring/50%% \\"ssh\\"" --store "\(store.directory)"

          """)
      #expect(
        services.calls == [
          "--user daemon-reload", "--user try-restart whorl-agent.service", "--user enable --now whorl-agent.socket",
        ])

      let removed = try await store.whorl("ssh", "disable", "--json", environment: services.environment())
      #expect(removed.status == 0, "\(removed.diagnostics)")
      #expect(removed.text.contains(Self.path(services)) && access(Self.path(services), F_OK) != 0)
      #expect(services.calls.last == "--user disable --now whorl-agent.socket whorl-agent.service")
    }
  }

  @Test("whorl ssh enable hides the SSH agent of GNOME Keyring from the next login on, until ssh disable")
  func keyring() async throws {
    try await with { store, services in
      for each in ["xdg", "xdg/autostart"] { mkdir("\(services.folder)/\(each)", 0o700) }
      let more = [
        "XDG_CONFIG_DIRS": "\(services.folder)/xdg", "SSH_AUTH_SOCK": "\(services.folder)/run/keyring/ssh",
      ]
      let hidden = "\(services.folder)/config/autostart/gnome-keyring-ssh.desktop"
      let without = try await store.whorl("ssh", "enable", environment: services.environment(more))
      #expect(without.status == 0 && access(hidden, F_OK) != 0, "\(without.diagnostics)")
      #expect(!without.diagnostics.contains("GNOME Keyring"))

      try writeFile("\(services.folder)/xdg/autostart/gnome-keyring-ssh.desktop", Array("[Desktop Entry]\n".utf8))
      let done = try await store.whorl("ssh", "enable", environment: services.environment(more))
      #expect(done.diagnostics.contains("Wrote \(hidden)\n"), "\(done.diagnostics)")
      #expect(done.diagnostics.contains("That is GNOME Keyring's, which your next login does not start"))
      let text = String(decoding: try readFile(hidden), as: UTF8.self)
      #expect(text.hasPrefix(Self.mark + "[Desktop Entry]\n") && text.hasSuffix("\nHidden=true\n"), "\(text)")

      let removed = try await store.whorl("ssh", "disable", environment: services.environment(more))
      #expect(removed.diagnostics.contains("Removed \(hidden)\n") && access(hidden, F_OK) != 0)
      try writeFile(hidden, Array("of the user".utf8))
      let before = services.calls
      let refused = try await store.whorl("ssh", "enable", environment: services.environment(more))
      #expect(refused.status == 73 && refused.failure.contains("\(hidden) is not a file of Whorl's"))
      #expect(services.calls == before)
    }
  }

  @Test("ssh disable restores the earlier SSH agent at once if it still listens, and else at the next login")
  func agentFromBefore() async throws {
    try await with { store, services in
      let other = "\(services.folder)/run/keyring/50% \"ssh\" $1 \\"
      let environment = services.environment(["SSH_AUTH_SOCK": other])
      try await store.whorl("ssh", "enable", environment: environment).mustSucceed()
      mkdir("\(services.folder)/run/keyring", 0o700)
      let away = try await store.whorl("ssh", "disable", environment: services.environment())
      #expect(away.failure == "ssh has its agent from before again from your next login on.", "\(away.diagnostics)")
      #expect(services.calls.last?.contains("set-environment") == false)

      try await store.whorl("ssh", "enable", environment: environment).mustSucceed()
      try #require(mknod(other, S_IFSOCK | 0o600, 0) == 0)
      let back = try await store.whorl("ssh", "disable", environment: services.environment())
      #expect(
        back.failure
          == "ssh has the agent at \(other) again: services at once, your desktop from your next login on.",
        "\(back.diagnostics)")
      // After the unit of the socket has stopped, which takes the variable away.
      #expect(
        services.calls.suffix(2) == [
          "--user disable --now whorl-agent.socket whorl-agent.service",
          "--user set-environment SSH_AUTH_SOCK=\(other)",
        ])
    }
  }

  @Test("ssh enable passes its store, reader and configuration on to whorl-agent, unless they are the defaults")
  func options() async throws {
    try await with { store, services in
      let folder = "\(services.folder)/50% of $HOME 'it'"
      try #require(rename(store.directory, folder) == 0)
      try writeFile("\(services.folder)/own.json", Array("{}".utf8))
      let words = [
        "ssh", "enable", "--store", folder, "--reader", "libfprint", "--config", "\(services.folder)/own.json",
      ]
      let done = try await Invocation(arguments: words, environment: services.environment()).run()
      #expect(done.status == 0, "\(done.diagnostics)")
      #expect(
        String(decoding: try readFile(Self.path(services)), as: UTF8.self) == Self.mark + """
          [Service]
          ExecStart=
          ExecStart=/usr/bin/whorl-agent --config "\(services.folder)/own.json" \
          --store "\(services.folder)/50%% of $$HOME 'it'" --reader "libfprint"

          """)
      let again = try await Invocation(arguments: words + ["--json"], environment: services.environment()).run()
      #expect(again.text.contains(#""written":[]"#), "\(again.text)")

      // The default store needs no option.
      try #require(rename(folder, "\(services.folder)/data/whorl") == 0)
      let usual = try await Invocation(arguments: ["ssh", "enable"], environment: services.environment()).run()
      #expect(usual.status == 0 && usual.diagnostics.contains("Removed \(Self.path(services))"), "\(usual.diagnostics)")
      #expect(access(Self.path(services), F_OK) != 0)
    }
  }

  @Test("whorl ssh enable takes a masked socket unit as missing, and writes nothing")
  func masked() async throws {
    try await with { store, services in
      let folder = "\(services.folder)/config/systemd/user"
      for path in ["\(services.folder)/config", "\(services.folder)/config/systemd", folder] { mkdir(path, 0o700) }
      try #require(symlink("/dev/null", "\(folder)/whorl-agent.socket") == 0)
      let refused = try await store.whorl("ssh", "enable", environment: services.environment())
      #expect(refused.status == 69, "\(refused.diagnostics)")
      #expect(services.calls.isEmpty && access(Self.path(services), F_OK) != 0)
    }
  }

  @Test(
    "whorl ssh enable does not set a temporary agent or whorl-agent itself as the other agent",
    arguments: ["/tmp/ssh-1/agent.2", "RUN/whorl-agent", "RUN/a\nExecStart=/bin/false", ""])
  func noOther(_ socket: String) async throws {
    try await with { store, services in
      let path = socket.replacing("RUN", with: "\(services.folder)/run")
      let environment = services.environment(["SSH_AUTH_SOCK": path])
      try await store.whorl("ssh", "enable", environment: environment).mustSucceed()
      #expect(!String(decoding: try readFile(Self.path(services)), as: UTF8.self).contains("--upstream"))
      // Enabling it again keeps the agent that was chosen before.
      try await store.whorl("ssh", "enable", "--other-agent", "/run/other", environment: environment).mustSucceed()
      let chosen = try readFile(Self.path(services))
      try await store.whorl("ssh", "enable", environment: environment).mustSucceed()
      #expect(try readFile(Self.path(services)) == chosen)
    }
  }

  @Test("whorl ssh enable and ssh disable change no file of the user's own, and nothing is enabled beside it")
  func foreign() async throws {
    try await with { store, services in
      try await store.whorl(
        "ssh", "enable", "--other-agent", "/run/other", environment: services.environment()
      ).mustSucceed()
      let before = services.calls
      try writeFile(Self.path(services), Array("[Service]\n".utf8))
      let refused = try await store.whorl("ssh", "enable", environment: services.environment())
      #expect(refused.status == 73 && refused.failure.contains("is not a file of Whorl's"), "\(refused.failure)")
      #expect(services.calls == before)
      try await store.whorl("ssh", "disable", environment: services.environment()).mustSucceed()
      #expect(try readFile(Self.path(services)) == Array("[Service]\n".utf8))
    }
  }

  @Test("whorl ssh enable reports errors before it changes anything")
  func refused() async throws {
    try await with { store, services in
      for path in ["agent", "/run/a\nExecStart=/bin/false"] {
        let wrong = try await store.whorl(
          "ssh", "enable", "--other-agent", path, environment: services.environment())
        #expect(wrong.status == 64 && wrong.failure.contains("--other-agent is the full path"), "\(wrong.failure)")
      }
      let storeless = try await Invocation(
        arguments: ["ssh", "enable", "--store", "\(store.folder)/none"], environment: services.environment()
      ).run()
      #expect(storeless.status == 66, "\(storeless.failure)")
      #expect(services.calls.isEmpty)
      unlink("\(services.folder)/data/systemd/user/whorl-agent.socket")
      let uninstalled = try await store.whorl("ssh", "enable", environment: services.environment())
      #expect(uninstalled.status == 69)
      #expect(uninstalled.failure.contains("whorl-agent.socket is not among the units"), "\(uninstalled.failure)")
      #expect(services.calls.isEmpty)
    }
  }
}
