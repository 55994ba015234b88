import Glibc
import ProgramDriver
import Testing

@Suite("whorl secret-service enable, disable and status")
struct SecretServiceEnableTests {
  private static let mark = "# Written by 'whorl secret-service enable'; 'whorl secret-service disable' removes it.\n"
  private static let keyringUnit = """
    [Service]
    Type=simple
    ExecStart=/usr/bin/gnome-keyring-daemon --foreground \\
     --components="pkcs11,secrets" --control-directory=%t/keyring

    """

  /// A user's folders, in which GNOME Keyring and Whorl's unit seem to be installed.
  private struct Home {
    let store: TestStore
    let bus: String

    var folder: String { store.folder }
    var busFile: String { "\(folder)/data/dbus-1/services/org.freedesktop.secrets.service" }
    var options: String { "\(folder)/config/systemd/user/whorl-secrets.service.d/whorl-options.conf" }
    var autostart: String { "\(folder)/config/autostart/gnome-keyring-secrets.desktop" }
    var dropIn: String { "\(folder)/config/systemd/user/gnome-keyring-daemon.service.d/whorl-secrets.conf" }

    init(_ store: TestStore, bus: String, withKeyring: Bool) throws {
      (self.store, self.bus) = (store, bus)
      for each in ["bin", "config", "data", "data/systemd", "data/systemd/user", "xdg", "xdg/autostart"] {
        guard mkdirPrivate("\(folder)/\(each)") else { throw SystemFailure(each) }
      }
      // Records its arguments.
      let program = "\(folder)/bin/systemctl"
      try writeFile(program, Array("#!/bin/sh\necho \"$@\" >> '\(folder)/calls'\nexit \"${STATUS:-0}\"\n".utf8))
      chmod(program, 0o755)
      guard withKeyring else { return }
      try writeFile("\(folder)/data/systemd/user/gnome-keyring-daemon.service", Array(keyringUnit.utf8))
      try writeFile("\(folder)/data/systemd/user/whorl-secrets.service", Array("[Service]\n".utf8))
      try writeFile("\(folder)/xdg/autostart/gnome-keyring-secrets.desktop", Array("[Desktop Entry]\n".utf8))
    }

    var environment: [String: String] {
      [
        "HOME": folder, "XDG_CONFIG_HOME": "\(folder)/config", "XDG_DATA_HOME": "\(folder)/data",
        "XDG_CONFIG_DIRS": "\(folder)/xdg", "DBUS_SESSION_BUS_ADDRESS": bus, "PATH": "\(folder)/bin:/usr/bin:/bin",
      ]
    }

    func whorl(_ words: String..., more: [String: String] = [:]) async throws -> Invocation.Result {
      try await Invocation(
        arguments: store.arguments(["secret-service"] + words), environment: environment.merging(more) { $1 }
      ).run()
    }

    func text(_ path: String) throws -> String { String(decoding: try readFile(path), as: UTF8.self) }

    var calls: [String] { ((try? text("\(folder)/calls")) ?? "").split(separator: "\n").map(String.init) }

    func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
  }

  private func with(
    withKeyring: Bool = true, servedBy isWhorl: Bool? = false, _ body: (Home) async throws -> Void
  ) async throws {
    try await TestStore.with { store in
      try await PrivateBus.with { bus in
        let home = try Home(store, bus: bus.address, withKeyring: withKeyring)
        guard let isWhorl else { return try await body(home) }
        let service = try await SecretServiceStandIn(on: bus, isWhorl: isWhorl, [])
        defer { service.close() }
        try await body(home)
      }
    }
  }

  @Test("secret-service enable says who is the Secret Service and marks its files, and disable removes only those")
  func enableAndDisable() async throws {
    try await with { home in
      let told = try await home.whorl("enable", "--dry-run")
      #expect(told.status == 0, "\(told.diagnostics)")
      #expect(told.diagnostics.contains("The Secret Service of this session is "), "\(told.diagnostics)")
      #expect(told.diagnostics.contains("'whorl secret-service import' copies what it has"))
      #expect(told.diagnostics.contains("Would write \(home.busFile)\n"))
      #expect(!home.exists(home.busFile) && !home.exists(home.autostart) && !home.exists(home.dropIn))

      let done = try await home.whorl("enable")
      #expect(done.status == 0, "\(done.diagnostics)")
      // The programs' folder may be reached through a link.
      let resolved = try #require(realpath(try Programs.path("whorl-agent"), nil))
      defer { free(resolved) }
      let agent = String(cString: resolved)
      #expect(
        try home.text(home.busFile) == Self.mark + """
          [D-BUS Service]
          Name=org.freedesktop.secrets
          Exec=\(agent) --secret-service --store \(home.store.directory)
          SystemdService=whorl-secrets.service

          """)
      // The unit has no command here.
      #expect(
        try home.text(home.options) == Self.mark + """
          [Service]
          ExecStart=
          ExecStart="\(agent)" --secret-service --store "\(home.store.directory)"

          """)
      let hidden = try home.text(home.autostart)
      #expect(hidden.hasPrefix(Self.mark + "[Desktop Entry]\n") && hidden.hasSuffix("\nHidden=true\n"))
      #expect(
        try home.text(home.dropIn) == Self.mark + """
          [Service]
          ExecStart=
          ExecStart=/usr/bin/gnome-keyring-daemon --foreground  --components="pkcs11" --control-directory=%t/keyring

          """)
      #expect(home.calls.isEmpty, "nothing is told to the service manager without --now")
      let again = try await home.whorl("enable", "--json")
      #expect(again.text.contains(#""written":[]"#), "\(again.text)")

      try writeFile("\(home.folder)/config/autostart/other.desktop", Array("of the user".utf8))
      let removed = try await home.whorl("disable", "--json")
      #expect(removed.status == 0, "\(removed.diagnostics)")
      for path in [home.busFile, home.autostart, home.dropIn, home.options] {
        #expect(!home.exists(path) && removed.text.contains(path))
      }
      #expect(home.exists("\(home.folder)/config/autostart/other.desktop"))
      let vain = try await home.whorl("disable")
      #expect(vain.status == 0 && vain.diagnostics == "There is no file of Whorl's to remove.\n")
    }
  }

  @Test("secret-service enable passes its store, reader and configuration on, and secret-service status shows them")
  func options() async throws {
    try await with { home in
      let folder = "\(home.folder)/it's 50% $HOME"
      try #require(rename(home.store.directory, folder) == 0)
      try writeFile(
        "\(home.folder)/data/systemd/user/whorl-secrets.service", Array("[Service]\nExecStart=/w a --s\n".utf8))
      let configuration = "\(home.folder)/own.json"
      try writeFile(configuration, Array("{}".utf8))
      let words = ["--config", configuration, "--store", folder, "--reader", "fprintd"]
      func run(_ words: [String]) async throws -> Invocation.Result {
        try await Invocation(arguments: ["secret-service"] + words, environment: home.environment).run()
      }
      let done = try await run(["enable"] + words)
      #expect(done.status == 0, "\(done.diagnostics)")
      // Quoted as by a shell, without a backslash.
      let quoted = folder.replacing("'", with: #"'"'"'"#)
      #expect(
        try home.text(home.busFile).contains(
          " --secret-service --config \(configuration) --store '\(quoted)' --reader fprintd\n"))
      let unitStore = "\(home.folder)/it's 50%% $$HOME"
      #expect(
        try home.text(home.options).hasSuffix(
          "ExecStart=/w a --s --config \"\(configuration)\" --store \"\(unitStore)\" --reader \"fprintd\"\n"))
      let again = try await run(["enable", "--json"] + words)
      #expect(again.text.contains(#""written":[]"#) && again.text.contains(#""removed":[]"#), "\(again.text)")
      let status = try await run(["status"])
      #expect(
        status.text.contains("options  --config \(configuration) --store \(folder) --reader fprintd\n"),
        "\(status.text)")
      #expect(status.text.contains("\(home.busFile): Whorl's\n") && status.text.contains("\(home.options): Whorl's\n"))

      try #require(rename(folder, "\(home.folder)/data/whorl") == 0)
      let usual = try await run(["enable"])
      #expect(usual.status == 0 && usual.diagnostics.contains("Removed \(home.options)\n"), "\(usual.diagnostics)")
      #expect(!home.exists(home.options))
      #expect(try home.text(home.busFile).contains(" --secret-service\n"))
      // The bus's two implementations read a backslash differently.
      try writeFile("\(home.folder)/a\\b", Array("{}".utf8))
      let odd = try await run(["enable", "--store", "\(home.folder)/data/whorl", "--config", "\(home.folder)/a\\b"])
      #expect(odd.status == 64 && odd.failure.contains("a backslash"), "\(odd.diagnostics)")
      #expect(!home.exists(home.options))
    }
  }

  @Test("whorl secret-service enable without GNOME Keyring and Whorl's unit writes only the bus file")
  func busAlone() async throws {
    try await with(withKeyring: false, servedBy: nil) { home in
      // An empty unit file hides the machine's own unit.
      try writeFile("\(home.folder)/data/systemd/user/gnome-keyring-daemon.service", [])
      let done = try await home.whorl("enable")
      #expect(done.status == 0, "\(done.diagnostics)")
      #expect(done.diagnostics.hasPrefix("No program is the Secret Service of this session now.\n"))
      let bus = try home.text(home.busFile)
      #expect(
        bus.hasSuffix(" --secret-service --store \(home.store.directory)\n"),
        "no unit that systemd does not find: \(bus)")
      #expect(!home.exists(home.autostart) && !home.exists(home.dropIn))
    }
  }

  @Test("whorl secret-service enable changes no file of the user's own, and writes nothing beside it")
  func foreign() async throws {
    try await with { home in
      try await home.whorl("enable").mustSucceed()
      try await home.whorl("disable").mustSucceed()
      let own = Array("[Service]\nExecStart=\n".utf8)
      for (path, isLink) in [(home.dropIn, false), (home.autostart, false), (home.busFile, true)] {
        let elsewhere = "\(home.folder)/elsewhere"
        // A link counts as the user's, even if it leads to a file of Whorl.
        if isLink {
          try writeFile(elsewhere, Array(Self.mark.utf8))
          symlink(elsewhere, path)
        } else {
          try writeFile(path, own)
        }
        for refused in [try await home.whorl("enable", "--dry-run"), try await home.whorl("enable")] {
          #expect(refused.status == 73, "\(refused.diagnostics)")
          #expect(refused.failure.contains("\(path) is not a file of Whorl's"), "\(refused.failure)")
        }
        for other in [home.busFile, home.autostart, home.dropIn] where other != path { #expect(!home.exists(other)) }
        try await home.whorl("disable").mustSucceed()
        #expect(try readFile(path) == (isLink ? Array(Self.mark.utf8) : own))
        unlink(path)
      }
    }
  }

  @Test("whorl secret-service enable removes its files again if one of them cannot be written")
  func unwritable() async throws {
    try await with { home in
      // A file where the folder of drop-ins should be.
      try writeFile("\(home.folder)/config/systemd", [])
      let failed = try await home.whorl("enable")
      #expect(failed.status == 74, "\(failed.diagnostics)")
      #expect(!home.exists(home.busFile) && !home.exists(home.autostart))
    }
  }

  @Test("secret-service enable --now reloads the service manager, and reports who is still the Secret Service")
  func now() async throws {
    try await with { home in
      let still = try await home.whorl("enable", "--now")
      #expect(still.status == 75, "\(still.diagnostics)")
      #expect(still.failure.contains(" is still the Secret Service"), "\(still.failure)")
      #expect(home.exists(home.busFile), "it counts from the next login on")
      #expect(home.calls == ["--user daemon-reload", "--user try-restart gnome-keyring-daemon.service"])
    }
    try await with(servedBy: nil) { home in
      try await home.whorl("enable", "--now").mustSucceed()
      try await home.whorl("disable", "--now").mustSucceed()
      #expect(
        home.calls == [
          "--user daemon-reload", "--user try-restart gnome-keyring-daemon.service",
          "--user try-restart whorl-secrets.service", "--user start whorl-secrets.service", "--user daemon-reload",
          "--user stop whorl-secrets.service",
          "--user try-restart gnome-keyring-daemon.service",
        ])
      let failed = try await home.whorl("enable", "--now", more: ["STATUS": "1"])
      #expect(failed.status == 69)
      #expect(failed.failure.contains("'systemctl --user daemon-reload' ended with status 1"), "\(failed.failure)")
    }
  }

  @Test("secret-service enable --now makes the session's bus read Whorl's service file at once")
  func busReloaded() async throws {
    try await TestStore.with { store in
      // The bus does not watch the folder, since it is missing when the bus starts.
      try await PrivateBus.with(services: ["\(store.folder)/data/dbus-1/services"]) { bus in
        let home = try Home(store, bus: bus.address, withKeyring: true)
        func startable() async throws -> String {
          let words = ["--address=\(bus.address)", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus"]
          let names = try await Invocation(
            program: "/usr/bin/busctl", arguments: words + ["org.freedesktop.DBus", "ListActivatableNames"]
          ).run()
          try names.mustSucceed()
          return names.text
        }
        try await home.whorl("enable").mustSucceed()
        #expect(try await !startable().contains("org.freedesktop.secrets"), "the bus has not been told yet")
        try await home.whorl("enable", "--now").mustSucceed()
        let names = try await startable()
        #expect(names.contains(#""org.freedesktop.secrets""#), "\(names)")
      }
    }
  }

  @Test("secret-service status does not start the program that the bus has for the Secret Service")
  func startsNothing() async throws {
    try await TestStore.with { store in
      let services = "\(store.folder)/services"
      try #require(mkdirPrivate(services))
      let service = """
        [D-BUS Service]
        Name=org.freedesktop.secrets
        Exec=/bin/sh -c "/usr/bin/touch '\(store.folder)/started'; exit 1"

        """
      try writeFile("\(services)/org.freedesktop.secrets.service", Array(service.utf8))
      try await PrivateBus.with(services: [services]) { bus in
        let home = try Home(store, bus: bus.address, withKeyring: true)
        let status = try await home.whorl("status")
        #expect(status.text.hasPrefix("service  no program\n"), "\(status.text)\(status.diagnostics)")
        #expect(!home.exists("\(store.folder)/started"))
        // An import needs the program.
        let failed = try await home.whorl("import")
        #expect(failed.status == 69 && home.exists("\(store.folder)/started"), "\(failed.diagnostics)")
      }
    }
  }

  @Test("secret-service status shows the Secret Service and the files with their meaning")
  func status() async throws {
    try await with(servedBy: nil) { home in
      let before = try await home.whorl("status")
      #expect(before.status == 0, "\(before.diagnostics)")
      #expect(before.text.hasPrefix("service  no program\nenabled  no: "), "\(before.text)")
      try await home.whorl("enable").mustSucceed()
      try writeFile(home.autostart, Array("of the user".utf8))
      try writeFile(home.dropIn, Array((Self.mark + "[Service]\n").utf8))
      let after = try await home.whorl("status")
      #expect(after.text.contains("enabled  yes\n"))
      #expect(after.text.contains("file     \(home.busFile): Whorl's\n"))
      #expect(after.text.contains("file     \(home.autostart): not Whorl's\n"))
      #expect(after.text.contains("file     \(home.dropIn): Whorl's, of another version"))
      let json = try await home.whorl("status", "--json")
      #expect(json.text.contains(#""enabled":true"#) && json.text.contains(#""state":"foreign""#), "\(json.text)")
    }
    try await with(servedBy: true) { home in
      let status = try await home.whorl("status")
      #expect(status.text.hasPrefix("service  Whorl\n"), "\(status.text)")
    }
  }

  private static let keyring = "/usr/bin/gnome-keyring-daemon"

  @Test("a Secret Service whose executable is whorl-agent counts as Whorl", .enabled(if: access(keyring, X_OK) == 0))
  func executable() async throws {
    try await with(servedBy: nil) { home in
      let agent = "\(home.folder)/bin/whorl-agent"
      try writeFile(agent, try readFile(Self.keyring))
      chmod(agent, 0o755)
      let running = try Invocation(
        program: agent,
        arguments: ["--foreground", "--components=secrets", "--control-directory=\(home.folder)/control"],
        environment: [
          "HOME": home.folder, "XDG_DATA_HOME": "\(home.folder)/data", "XDG_RUNTIME_DIR": home.folder,
          "DBUS_SESSION_BUS_ADDRESS": home.bus,
        ]
      ).start()
      var status = try await home.whorl("status")
      for _ in 0..<200 where status.text.hasPrefix("service  no program\n") { status = try await home.whorl("status") }
      #expect(status.text.hasPrefix("service  Whorl\n"), "\(status.text)")
      let refused = try await home.whorl("import")
      #expect(refused.status == 77, "\(refused.diagnostics)")
      running.signal(SIGTERM)
      _ = running.finish { _, _ in }
    }
  }

  @Test("whorl secret-service enable fails without a store")
  func storeless() async throws {
    try await with { home in
      removeFolder(home.store.directory)
      let refused = try await home.whorl("enable")
      #expect(refused.status == 66, "\(refused.diagnostics)")
      #expect(!home.exists(home.busFile))
    }
  }
}
