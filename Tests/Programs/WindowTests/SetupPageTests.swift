import Glibc
import ProgramDriver
import Testing

@Suite("What the window turns on and off")
struct SetupPageTests {
  private func shown(
    _ store: TestStore, _ home: [String: String], through prefix: [String] = [],
    _ body: (WindowOnDisplay) async throws -> Void
  ) async throws {
    try await WindowOnDisplay.with(
      ["--store", store.directory, "--page", "setup"], in: store.folder, more: home, through: prefix
    ) { window in
      try await window(.gone("Looking …"))
      try await body(window)
    }
  }

  /// Waits for a text with one of these words.
  private func text(in window: WindowOnDisplay, _ words: String...) async throws -> String {
    var texts: [String] = []
    for _ in 0..<50 {
      texts = try await window.texts()
      if let text = texts.first(where: { text in words.contains { text.contains($0) } }) { return text }
    }
    throw WindowFailure(description: "there is no \(words) in \(texts)")
  }

  /// Closes the dialog that says what was done, once it is there: the window has a button of the same name.
  private func closeReport(in window: WindowOnDisplay, of words: String) async throws {
    _ = try await text(in: window, words)
    try await window(.press("Close"))
  }

  @Test("The window says when a part of Whorl does not answer, with a button to look again, and shows what comes later")
  func overdue() async throws {
    try await TestStore.with { store in
      let services = try UserServicesStandIn(in: store.folder)
      try await shown(store, services.environment()) { window in
        try await window(.see("Turn on: git"), .gone("Looking …"))
        try window.signalChildren(SIGSTOP)
        defer { try? window.signalChildren(SIGCONT) }
        try await window(.press("Look Again"), .see("Looking …"), .see("No Answer Yet"), .gone("Looking …"))
        try await window(.press("Look Again"), .see("Looking …"), .gone("No Answer Yet"))
        try window.signalChildren(SIGCONT)
        try await window(.gone("Looking …"), .see("Turn on: git"))
      }
    }
  }

  @Test("The window has ssh find the keys of the vault, and not any more")
  func ssh() async throws {
    try await TestStore.with { store in
      let services = try UserServicesStandIn(in: store.folder)
      try services.install("whorl-agent.socket", [])
      try services.install("whorl-agent.service", ["[Service]", "ExecStart=/usr/bin/whorl-agent"])
      try await shown(store, services.environment()) { window in
        // First a key, and then the agent.
        try await window(.press("Turn on: SSH"), .press("Continue"), .gone("Looking …"))
        #expect(try await store.whorl("ssh", "public").text.hasPrefix("ssh-ed25519 "))
        try await window(.press("Turn on: SSH"), .press("Continue"), .see("Turn off: SSH"))
        #expect(services.calls.contains("--user enable --now whorl-agent.socket"), "\(services.calls)")
        try await window(.press("Turn off: SSH"), .press("Continue"), .see("Turn on: SSH"))
        #expect(
          services.calls.contains { $0.hasPrefix("--user disable --now whorl-agent.socket") }, "\(services.calls)")
      }
    }
  }

  @Test("The window gives GnuPG its own program for passphrases back, and its file is what it was")
  func gpg() async throws {
    try await TestStore.with { store in
      let services = try UserServicesStandIn(in: store.folder)
      guard mkdirPrivate("\(store.folder)/.gnupg") else { throw SystemFailure(store.folder) }
      let file = "\(store.folder)/.gnupg/gpg-agent.conf"
      let before = "default-cache-ttl 60\npinentry-program /usr/bin/pinentry-tty\n"
      try writeFile(file, Array(before.utf8))
      let home = services.environment()
      try await store.whorl("gpg", "enable", "--program", "/usr/bin/true", environment: home).mustSucceed()
      try await shown(store, home) { window in
        try await window(.press("Turn off: GnuPG"), .press("Cancel"), .see("Turn off: GnuPG"))
        #expect(try readFile(file) != Array(before.utf8))
        try await window(.press("Turn off: GnuPG"), .press("Continue"), .gone("Turn off: GnuPG"))
        #expect(try readFile(file) == Array(before.utf8))
      }
    }
  }

  @Test(
    "The window has browsers find Whorl as a security key, and not any more",
    .enabled("a mount namespace needs root") { try await MachineFprintd.isPossible() })
  func passkeys() async throws {
    try await TestStore.with { store in
      let services = try UserServicesStandIn(in: store.folder)
      try services.install("whorl-passkeys.service", ["[Service]", "ExecStart=/usr/bin/whorl-agent --passkeys"])
      let machine = "mount -t tmpfs none /run; mkdir /run/whorl-fido; : >/run/whorl-fido/socket; exec \"$@\""
      try await shown(
        store, services.environment(), through: [MachineFprintd.program, "--mount", "/bin/sh", "-ec", machine, "sh"]
      ) { window in
        try await window(
          .press("Turn on: Passkeys in Browsers"), .press("Continue"), .see("Turn off: Passkeys in Browsers"))
        #expect(services.calls.contains("--user enable --now whorl-passkeys.service"), "\(services.calls)")
        try await window(
          .press("Turn off: Passkeys in Browsers"), .press("Continue"), .see("Turn on: Passkeys in Browsers"))
        #expect(services.calls.contains { $0.hasPrefix("--user disable --now whorl-passkeys.service") })
      }
    }
  }

  @Test("The window copies the passwords of programs before Whorl keeps them, and back afterwards")
  func secrets() async throws {
    let mail = SecretServiceStandIn.Item(
      label: "Mail", attributes: ["name": "Mail"], secret: Array("a secret of mine".utf8))
    try await TestStore.with { store in
      let services = try UserServicesStandIn(in: store.folder)
      try await shown(store, services.environment()) { window in
        let title = "Passwords of Your Programs"
        let before = try await SecretServiceStandIn(on: window.bus, aliases: ["default": "/collection"], [mail])
        try await window(
          .press("Look Again"), .gone("Looking …"), .press("Turn on: \(title)"), .press("Continue"),
          .see("Have mail programs, browsers and others keep their passwords in Whorl from the next login on?"),
          .press("Continue"))
        try await closeReport(in: window, of: "Whorl takes over at your next login.")
        try await window(.see("Turn off: \(title)"))
        #expect(try await store.whorl("secret-service", "list").text.contains("Mail"))
        before.close()
        let after = try await SecretServiceStandIn(
          on: window.bus, aliases: ["default": "/collection"], changes: .made, [])
        defer { after.close() }
        try await window(.press("Turn off: \(title)"), .press("Continue"))
        try await closeReport(in: window, of: "Copied 1 item")
        try await window(.gone("Looking …"), .see("Turn on: \(title)"))
        #expect(after.items.compactMap(\.self).map(\.secret) == [mail.secret])
      }
    }
  }

  @Test(
    "A login keyring whose password only Whorl knows gets the password that is typed in the window",
    .enabled(if: access("/usr/bin/gnome-keyring-daemon", X_OK) == 0, "gnome-keyring is not installed"))
  func keyring() async throws {
    try await TestStore.with { store in
      let services = try UserServicesStandIn(in: store.folder)
      let home = services.environment()
      let control = "\(store.folder)/run/keyring"
      guard mkdirPrivate(control) else { throw SystemFailure(control) }
      let daemon = try Invocation(
        program: "/usr/bin/gnome-keyring-daemon",
        arguments: ["--foreground", "--components=", "--unlock", "--control-directory=\(control)"],
        input: Array("before".utf8), environment: home.merging(["DBUS_SESSION_BUS_ADDRESS": "unix:path=/none"]) { $1 }
      ).start()
      startThread { _ = daemon.finish { _, _ in } }
      defer { daemon.signal(SIGTERM) }
      for _ in 0..<1_000 where access("\(store.folder)/data/keyrings/login.keyring", F_OK) != 0 {
        try await Task.sleep(for: .milliseconds(20))
      }
      func enable(_ password: String) async throws -> Invocation.Result {
        try await Invocation(
          arguments: store.arguments([
            "login", "enable", "gnome-keyring", "--anyway", "--password-fd", "3", "--recovery-fd", "4",
          ]), descriptors: ["\(password)\n", "\(store.recoveryKey)\n"], environment: home
        ).run()
      }
      try await enable("before").mustSucceed()
      try await shown(store, home) { window in
        let (title, password) = ("GNOME’s Keyring", "The new password of the login keyring")
        try await window(
          .press("Turn off: \(title)"), .press("Continue"), .type("afterwards", into: password),
          .type("afterwards", into: "Once more"), .press("Confirm"))
        let done = "The login keyring has its new password"
        // Where the login password can be checked, it is another one.
        if try await text(in: window, done, "Take it anyway?").hasSuffix("Take it anyway?") {
          try await window(.press("Continue"))
        }
        try await closeReport(in: window, of: done)
      }
      try await enable("afterwards").mustSucceed()
    }
  }
}
