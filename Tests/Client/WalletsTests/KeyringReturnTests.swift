import Glibc
import ProgramDriver
import Testing

@testable import Settings

@Suite("Returning the Secret Service to a real GNOME Keyring", .withKeyring)
struct KeyringReturnTests {
  /// A session with a running GNOME Keyring that has all components but the Secret Service, as `enable` leaves it. The
  /// session can start that component.
  private struct Desktop {
    let store: TestStore
    let daemon: KeyringDaemon
    let bus: PrivateBus

    var environment: [String: String] {
      [
        "HOME": daemon.folder, "XDG_DATA_HOME": "\(store.folder)/data", "XDG_CONFIG_HOME": "\(store.folder)/config",
        "XDG_CONFIG_DIRS": store.folder, "XDG_RUNTIME_DIR": daemon.runtime, "DBUS_SESSION_BUS_ADDRESS": bus.address,
      ]
    }

    func whorl(_ words: String...) async throws -> Invocation.Result {
      try await Invocation(
        arguments: store.arguments(["secret-service"] + words), environment: environment
      ).run()
    }

    /// Whorl takes over.
    func enable() async throws {
      // The components that its unit starts while Whorl provides the Secret Service.
      try await daemon.restart(with: "pkcs11")
      #expect(try daemon.unlock(KeyringDaemon.password) == .done)
      try await whorl("enable").mustSucceed()
      try await bus.reload()
    }
  }

  private func with(_ body: (Desktop) async throws -> Void) async throws {
    try await TestStore.with { store in
      try await withFolder { services in
        let own = "\(store.folder)/data/dbus-1/services"
        for folder in ["data", "data/dbus-1", "data/dbus-1/services"] {
          guard mkdirPrivate("\(store.folder)/\(folder)") else { throw SystemFailure(folder) }
        }
        // Masked units hide those of this machine, and start nothing.
        for folder in ["config", "config/systemd", "config/systemd/user"] {
          guard mkdirPrivate("\(store.folder)/\(folder)") else { throw SystemFailure(folder) }
        }
        for unit in ["gnome-keyring-daemon", "whorl-secrets"] {
          symlink("/dev/null", "\(store.folder)/config/systemd/user/\(unit).service")
        }
        try await PrivateBus.with(services: [own, services], environment: ["HOME": store.folder]) { bus in
          try await KeyringDaemon.with(bus: bus.address) { daemon in
            // As GNOME Keyring's own file has it.
            let file = """
              [D-BUS Service]
              Name=org.freedesktop.secrets
              Exec=/usr/bin/env HOME=\(daemon.folder) XDG_DATA_HOME=\(daemon.folder)/data \
              XDG_RUNTIME_DIR=\(daemon.runtime) GNOME_KEYRING_CONTROL=\(daemon.runtime)/keyring \
              /usr/bin/gnome-keyring-daemon --start --foreground --components=secrets

              """
            try writeFile("\(services)/org.freedesktop.secrets.service", Array(file.utf8))
            try await bus.reload()
            try await body(Desktop(store: store, daemon: daemon, bus: bus))
          }
        }
      }
    }
  }

  @Test("whorl secret-service disable copies new and changed items into the open GNOME Keyring, and only once")
  func copiedBack() async throws {
    try await with { desktop in
      let daemon = desktop.daemon
      func store(_ label: String, _ secret: String) async throws {
        try await daemon.secretTool("store", "--label=\(label)", "name", label, input: secret).mustSucceed()
      }
      func lookup(_ label: String) async throws -> String { try await daemon.secretTool("lookup", "name", label).text }
      try await store("Mail", "first")
      try await store("Kept", "the same")
      try await desktop.whorl("import").mustSucceed()
      try await desktop.enable()
      // The keyring's times are whole seconds. Make the change in Whorl later than those.
      try await Task.sleep(for: .milliseconds(1_100))
      // The bus starts Whorl's service for these calls.
      try await store("Mail", "second")
      try await store("New", "stored in Whorl")
      let status = try await desktop.whorl("status")
      #expect(status.text.hasPrefix("service  Whorl\n"), "\(status.text)")

      // The keyring has the original of one of them, with the old password.
      for (label, isCopy) in [("Mail", true), ("New", false)] {
        let gate = try await desktop.whorl("gate", label, "--dry-run")
        #expect(gate.diagnostics.contains("Copied from GNOME Keyring: “\(label)”") == isCopy, "\(gate.diagnostics)")
      }
      let told = try await desktop.whorl("disable", "--dry-run")
      #expect(told.status == 0 && told.diagnostics.contains("Whorl has 3 items:\n"), "\(told.diagnostics)")
      #expect(try await desktop.whorl("status").text.hasPrefix("service  Whorl\n"))

      let done = try await desktop.whorl("disable")
      #expect(done.status == 0, "\(done.diagnostics)")
      #expect(
        done.diagnostics.hasSuffix(
          """
          GNOME Keyring keeps the secrets of your programs again.
          Copied 1 item that GNOME Keyring did not have:
            login: New
          Changed 1 item in GNOME Keyring that had another secret or name:
            login: Mail
          1 item is there already.
          Whorl keeps its own copies.

          """), "\(done.diagnostics)")
      #expect(try await desktop.whorl("status").text.hasPrefix("service  GNOME Keyring "))
      // The keyring is still open.
      #expect(try await lookup("Mail") == "second")
      #expect(try await lookup("New") == "stored in Whorl")
      #expect(try await lookup("Kept") == "the same")
      let again = try await desktop.whorl("disable")
      #expect(
        again.diagnostics == """
          There is no file of Whorl's to remove.
          3 items are there already.
          Whorl keeps its own copies.

          """, "\(again.diagnostics)")
      // What was copied is found with all of its attributes after a restart of the keyring too.
      try await daemon.restart(with: "secrets")
      #expect(try daemon.unlock(KeyringDaemon.password) == .done)
      #expect(try await lookup("New") == "stored in Whorl")
    }
  }

  @Test(
    "whorl secret-service import --remove-old removes unchanged originals, and disable brings them back"
  )
  func removed() async throws {
    try await with { desktop in
      let daemon = desktop.daemon
      for label in ["Mail", "Bank"] {
        try await daemon.secretTool("store", "--label=\(label)", "name", label, input: "of \(label)").mustSucceed()
      }
      let copied = try await desktop.whorl("import")
      #expect(
        copied.diagnostics == """
          Copied 2 items.
          The originals are still in GNOME Keyring, where every program can read them without a finger. To remove them: \
          whorl secret-service import --remove-old

          """, "\(copied.diagnostics)")
      let gated = try await desktop.whorl("gate", "--item", "Bank", "--access", "passcode", "--yes")
      #expect(gated.diagnostics.contains("Copied from GNOME Keyring: “Bank”. "), "\(gated.diagnostics)")
      try await daemon.secretTool("store", "--label=Mail", "name", "Mail", input: "changed").mustSucceed()

      let unasked = try await desktop.whorl("import", "--remove-old")
      #expect(unasked.status == 77 && unasked.failure.contains("this has to be confirmed"), "\(unasked.diagnostics)")
      #expect(try await daemon.secretTool("lookup", "name", "Bank").text == "of Bank")
      let words = ["secret-service", "import", "--remove-old", "--yes"]
      let removed = try await Invocation(
        arguments: desktop.store.arguments(TestStore.withPasscode(words)),
        descriptors: [TestStore.passcode + "\n"], environment: desktop.environment
      ).run()
      #expect(removed.status == 0, "\(removed.diagnostics)")
      #expect(
        removed.diagnostics.hasSuffix(
          """
          Removed 1 original from GNOME Keyring:
            login: Bank
          Still in GNOME Keyring, where every program can read it:
            Mail: it has another secret there than in Whorl

          """), "\(removed.diagnostics)")
      #expect(try await daemon.secretTool("lookup", "name", "Bank").status == 1)
      #expect(try await daemon.secretTool("lookup", "name", "Mail").text == "changed")
      // The rule of Whorl's covers it now.
      let again = try await desktop.whorl("gate", "--item", "Bank", "--access", "presence", "--dry-run")
      #expect(!again.diagnostics.contains("Copied from"), "\(again.diagnostics)")

      let back = try await Invocation(
        arguments: desktop.store.arguments(TestStore.withPasscode(["secret-service", "disable"])),
        descriptors: [TestStore.passcode + "\n"], environment: desktop.environment
      ).run()
      #expect(back.status == 79, "\(back.diagnostics)")
      #expect(back.diagnostics.contains("Copied 1 item that GNOME Keyring did not have:\n  login: Bank\n"))
      #expect(
        back.diagnostics.contains("  Mail: it has another secret there, which is the newer one\n"),
        "\(back.diagnostics)")
      #expect(try await daemon.secretTool("lookup", "name", "Bank").text == "of Bank")
      #expect(try await daemon.secretTool("lookup", "name", "Mail").text == "changed")
    }
  }

  @Test("passwords that a program saves after enable, and before Whorl takes over, are brought in by itself and named")
  func missed() async throws {
    try await with { desktop in
      let daemon = desktop.daemon
      func store(_ label: String, _ secret: String) async throws {
        try await daemon.secretTool("store", "--label=\(label)", "name", label, input: secret).mustSucceed()
      }
      try await store("Mail", "first")
      try await store("Removed", "gone from Whorl")
      // The keyring's times are whole seconds.
      try await Task.sleep(for: .milliseconds(1_100))
      try await desktop.whorl("import").mustSucceed()
      let removed = try #require(try await desktop.store.whorl("ls", "Removed").text.split(separator: "\t").last)
      try await desktop.store.whorl("rm", String(removed.dropLast()), "--yes").mustSucceed()
      try await desktop.whorl("enable").mustSucceed()
      try await Task.sleep(for: .milliseconds(1_100))
      // The service is still GNOME Keyring.
      try await store("Mail", "second")
      try await store("Late", "saved before the login")

      // Whorl does not know the password, so a person gives it.
      try await daemon.restart(with: "pkcs11")
      try await desktop.bus.reload()
      #expect(try await daemon.secretTool("lookup", "name", "Removed").status == 1)
      let here = desktop.environment.merging(["XDG_DATA_HOME": "\(daemon.folder)/data"]) { $1 }
      func whorl(_ words: String..., lines: [String] = []) async throws -> Invocation.Result {
        try await Invocation(
          arguments: desktop.store.arguments(words), descriptors: lines.map { $0 + "\n" }, environment: here
        ).run()
      }
      let asked = try await whorl("secret-service", "import", "--dry-run")
      #expect(asked.status == 77 && asked.failure.contains("password of the login keyring"), "\(asked.diagnostics)")
      let status = try await whorl("secret-service", "status")
      #expect(status.text.contains("missed   GNOME Keyring has changed"), "\(status.text)")
      let told = try await whorl(
        "secret-service", "import", "--dry-run", "--password-fd", "3", lines: [KeyringDaemon.password])
      #expect(told.status == 0 && told.diagnostics.contains("  login: Late\n"), "\(told.diagnostics)")
      let wrong = try await whorl("secret-service", "import", "--password-fd", "3", lines: ["wrong"])
      #expect(wrong.status == 77 && wrong.failure.contains("password"), "\(wrong.diagnostics)")

      // With the password in Whorl, the service brings it in at its start.
      let enabled = try await whorl(
        "login", "enable", "gnome-keyring", "--anyway", "--password-fd", "3", "--recovery-fd", "4",
        lines: [KeyringDaemon.password, desktop.store.recoveryKey])
      #expect(enabled.status == 0, "\(enabled.diagnostics)")
      let brought = try await whorl("secret-service", "import", "--missed")
      #expect(brought.status == 0, "\(brought.diagnostics)")
      #expect(
        brought.diagnostics == """
          Passwords were brought into Whorl. Programs had stored them in GNOME Keyring before Whorl took over: Late, Mail

          """, "\(brought.diagnostics)")
      for (label, secret) in [("Late", "saved before the login"), ("Mail", "second")] {
        #expect(try await daemon.secretTool("lookup", "name", label).text == secret)
      }
      // What the person removed meanwhile stays removed, and nothing is brought in twice.
      #expect(try await daemon.secretTool("lookup", "name", "Removed").status == 1)
      #expect(access(daemon.places.trial, F_OK) != 0)
      #expect(processes(with: "--control-directory=\(daemon.places.trial)/").isEmpty)
    }
  }

  /// Python that makes a keyring with a password of its own, with one item in it.
  ///
  /// - Parameter isKept: whether the login keyring gets its password, as for a person who has it open with the login.
  private func keyring(_ name: String, isKept: Bool) -> String {
    """
    import dbus
    bus, root = dbus.SessionBus(), '/org/freedesktop/secrets'
    def call(path, interface, member, *arguments):
        return dbus.Interface(bus.get_object('org.freedesktop.secrets', path, introspect=False), interface) \
            .get_dbus_method(member)(*arguments)
    def variant(text): return dbus.String(text, variant_level=1)
    _, session = call(root, 'org.freedesktop.Secret.Service', 'OpenSession', 'plain', variant(''))
    def secret(text): return dbus.Struct((session, dbus.Array([], 'y'), dbus.ByteArray(text), 'text/plain'), signature='oayays')
    def label(kind, text): return dbus.Dictionary({f'org.freedesktop.Secret.{kind}.Label': variant(text)}, 'sv')
    made = call(root, 'org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface', 'CreateWithMasterPassword',
        label('Collection', '\(name)'), secret(b'password of \(name)'))
    def add(path, text, attributes, value):
        properties = label('Item', text)
        properties['org.freedesktop.Secret.Item.Attributes'] = dbus.Dictionary(attributes, 'ss', variant_level=1)
        call(path, 'org.freedesktop.Secret.Collection', 'CreateItem', properties, secret(value), False)
    add(made, 'in \(name)', {'name': 'in \(name)'}, b'secret of \(name)')
    if \(isKept ? "True" : "False"):
        add(root + '/collection/login', 'Unlock', {'keyring': 'LOCAL:/keyrings/\(name).keyring'}, b'password of \(name)')
    """
  }

  @Test(
    "missed passwords in keyrings with passwords of their own are read where the login keyring or a person has these")
  func closedKeyrings() async throws {
    try await with { desktop in
      let daemon = desktop.daemon
      let here = desktop.environment.merging(["XDG_DATA_HOME": "\(daemon.folder)/data"]) { $1 }
      func whorl(_ words: String..., lines: [String] = []) async throws -> Invocation.Result {
        try await Invocation(
          arguments: desktop.store.arguments(words),
          descriptors: lines.isEmpty ? [] : [lines.map { $0 + "\n" }.joined()],
          environment: here
        ).run()
      }
      try await daemon.secretTool("store", "--label=Mail", "name", "Mail", input: "m").mustSucceed()
      try await desktop.whorl("import").mustSucceed()
      try await Invocation(
        arguments: desktop.store.arguments([
          "login", "enable", "gnome-keyring", "--anyway", "--password-fd", "3", "--recovery-fd", "4",
        ]), descriptors: [KeyringDaemon.password + "\n", desktop.store.recoveryKey + "\n"], environment: here
      ).run().mustSucceed()
      try await desktop.whorl("enable").mustSucceed()
      try await Task.sleep(for: .milliseconds(1_100))
      for (name, isKept) in [("work", true), ("vault", false)] {
        try await Invocation(
          program: "/usr/bin/python3", arguments: ["-c", keyring(name, isKept: isKept)], environment: here
        ).run().mustSucceed()
      }
      try await daemon.restart(with: "pkcs11")
      try await desktop.bus.reload()
      #expect(try await daemon.secretTool("lookup", "name", "Mail").text == "m", "Whorl is the service")
      // The one whose password is in the login keyring is brought in, and the other one named, with what to type.
      let told = try await whorl("secret-service", "import", "--missed")
      #expect(told.status == 0, "\(told.diagnostics)")
      #expect(try await daemon.secretTool("lookup", "name", "in work").text == "secret of work")
      #expect(
        told.diagnostics.contains(
          "Passwords may be missing in Whorl. The keyring vault, which has a password of its own, was changed after the "
            + "passwords were copied into Whorl. To bring in what is new, type in a terminal: whorl secret-service import"
        ),
        "\(told.diagnostics)")
      #expect(try await daemon.secretTool("lookup", "name", "in vault").status == 1)
      let doctor = try await whorl("doctor")
      #expect(doctor.text.contains("'whorl secret-service import' in a terminal"), "\(doctor.text)")
      // A person types the password; a wrong one leaves the keyring out.
      let wrong = try await whorl("secret-service", "import", "--password-fd", "3", lines: ["wrong"])
      #expect(
        wrong.status == 0 && wrong.diagnostics.contains("passwords of their own, which were not given: vault"),
        "\(wrong.diagnostics)")
      let typed = try await whorl("secret-service", "import", "--password-fd", "3", lines: ["password of vault"])
      #expect(typed.status == 0 && typed.diagnostics.contains("  vault: in vault\n"), "\(typed.diagnostics)")
      #expect(try await daemon.secretTool("lookup", "name", "in vault").text == "secret of vault")
      #expect(access(daemon.places.trial, F_OK) != 0)
    }
  }

  @Test("whorl secret-service disable opens a closed login keyring whose password only Whorl knows")
  func ownSecret() async throws {
    try await with { desktop in
      let daemon = desktop.daemon
      let here = desktop.environment.merging(["XDG_DATA_HOME": "\(daemon.folder)/data"]) { $1 }
      try await daemon.secretTool("store", "--label=Mail", "name", "Mail", input: "a").mustSucceed()
      try await desktop.whorl("import").mustSucceed()
      try await Invocation(
        arguments: desktop.store.arguments([
          "login", "enable", "gnome-keyring", "--anyway", "--password-fd", "3", "--recovery-fd", "4",
        ]), descriptors: [KeyringDaemon.password + "\n", desktop.store.recoveryKey + "\n"], environment: here
      ).run().mustSucceed()
      try await desktop.whorl("enable").mustSucceed()
      try await daemon.restart(with: "pkcs11")
      try await desktop.bus.reload()
      try await daemon.secretTool("store", "--label=New", "name", "New", input: "in Whorl").mustSucceed()
      // The login has not opened the keyring.
      unlink("\(desktop.store.folder)/data/dbus-1/services/org.freedesktop.secrets.service")
      try await desktop.bus.reload()
      for pid in processes(with: "--secret-service") where processes(with: desktop.store.directory).contains(pid) {
        kill(pid, SIGTERM)
      }
      let done = try await Invocation(
        arguments: desktop.store.arguments(["secret-service", "disable"]), environment: here
      ).run()
      #expect(done.status == 0, "\(done.diagnostics)")
      #expect(try await daemon.secretTool("lookup", "name", "New").text == "in Whorl")
    }
  }
}
