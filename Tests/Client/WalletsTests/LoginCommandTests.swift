import Glibc
import ProgramDriver
import Testing

@testable import Settings

/// The commands on the command line, with a real daemon.
@Suite("whorl login", .withKeyring, .serialized)
struct LoginCommandTests {
  private func whorl(
    _ store: TestStore, _ daemon: KeyringDaemon, _ words: String..., lines: [String] = []
  ) -> Invocation {
    Invocation(
      arguments: store.arguments(words), descriptors: lines.isEmpty ? [] : [lines.map { $0 + "\n" }.joined()],
      environment: [
        "XDG_DATA_HOME": "\(daemon.folder)/data", "XDG_RUNTIME_DIR": daemon.runtime, "HOME": daemon.folder,
      ])
  }

  private func enable(
    _ store: TestStore, _ daemon: KeyringDaemon, password: String = KeyringDaemon.password
  ) -> Invocation {
    var call = whorl(
      store, daemon, "login", "enable", "gnome-keyring", "--anyway", "--password-fd", "3", "--recovery-fd", "4",
      lines: [password])
    call.descriptors.append(store.recoveryKey + "\n")
    return call
  }

  @Test("whorl login enables GNOME Keyring, opens the keyring at a login, and disables it again")
  func wholeWay() async throws {
    try await TestStore.with { store in
      try await KeyringDaemon.with { daemon in
        try await enable(store, daemon).run().mustSucceed()
        #expect(try await !daemon.fileOpens(with: KeyringDaemon.password))
        let again = try await enable(store, daemon).run()
        #expect(again.status == 73)
        let status = try await whorl(store, daemon, "login", "status", "--json").run()
        #expect(status.text.contains(#""ownSecret":true"#) && status.text.contains(#""running":true"#))

        try await daemon.restart()
        let opened = try await whorl(store, daemon, "login", "open", "--at-login").run()
        #expect(opened.status == 0 && opened.diagnostics.isEmpty && opened.output.isEmpty)
        #expect(!daemon.files.contains("login.keyring.before-whorl"))

        let disabled = try await whorl(
          store, daemon, "login", "disable", "gnome-keyring", "--password-fd", "3", lines: ["new"]
        ).run()
        #expect(disabled.status == 0, "\(disabled.diagnostics)")
        #expect(try await daemon.fileOpens(with: "new"))
        #expect(daemon.files.filter { $0.contains("whorl") } == [])
      }
    }
  }

  @Test("whorl login disable uses the copy sealed beside the keyring where the store has an earlier secret")
  func staleStore() async throws {
    try await TestStore.with { store in
      try await KeyringDaemon.with { daemon in
        func answered(_ call: Invocation, _ passcode: [String]) -> Invocation {
          var call = call
          if !passcode.isEmpty { call.arguments += ["--passcode-fd", "4"] }
          call.descriptors += passcode.map { $0 + "\n" }
          return call
        }
        func disabling(_ passcode: [String]) -> Invocation {
          answered(
            whorl(store, daemon, "login", "disable", "gnome-keyring", "--password-fd", "3", lines: ["new"]), passcode)
        }
        // The passcode opens the copy only if it is given now.
        let enabling = whorl(
          store, daemon, "login", "enable", "gnome-keyring", "--anyway", "--password-fd", "3", "--sealed-under",
          "passcode-and-recovery-key", lines: [KeyringDaemon.password])
        let refused = try await enabling.run()
        #expect(refused.status == 77 && refused.failure.contains("--passcode-fd"), "\(refused.diagnostics)")
        #expect(daemon.files.filter { $0.contains("whorl") } == [])
        try await answered(enabling, [TestStore.passcode]).run().mustSucceed()
        let files = [
          "\(daemon.folder)/data/keyrings/login.keyring", "\(daemon.folder)/data/keyrings/login.keyring.whorl",
        ]
        let first = try files.map { try readFile($0) }
        try await disabling([]).run().mustSucceed()
        try await enable(store, daemon, password: "new").run().mustSucceed()
        // The store has the second secret now, and these files have the first.
        for (file, bytes) in zip(files, first) { try writeFile(file, bytes) }
        try await daemon.restart()
        let unanswered = try await disabling([]).run()
        #expect(unanswered.status == 77, "\(unanswered.diagnostics)")
        let disabled = try await disabling([TestStore.passcode]).run()
        #expect(disabled.status == 0, "\(disabled.diagnostics)")
        #expect(try await daemon.fileOpens(with: "new"))
      }
    }
  }

  /// What becomes visible while a copy is made and a daemon runs on it, in this order; the daemon's process is among it.
  private static let trialSteps = [
    ".lock", "", "/data", "/data/keyrings", "/data/keyrings/login.keyring", "/control", "process", "/control/control",
  ]

  @Test(
    "a signal to whorl login enable at each step ends the daemon on the keyring's copy, and removes the copy",
    arguments: trialSteps)
  func signalled(_ step: String) async throws {
    try await TestStore.with { store in
      try await KeyringDaemon.with { daemon in
        let trial = daemon.places.trial
        let program = try enable(store, daemon).start()
        for _ in 0..<100_000 {
          if step == "process" {
            if !processes(with: "--control-directory=\(trial)/").isEmpty { break }
          } else if access(trial + step, F_OK) == 0 {
            break
          }
          usleep(100)
        }
        program.signal(SIGTERM)
        let result = program.finish { _, _ in }
        #expect(result.status == 128 + SIGTERM, "\(result.diagnostics)")
        #expect(processes(with: "--control-directory=\(trial)/").isEmpty)
        #expect(access(trial, F_OK) != 0)
        #expect(try await daemon.fileOpens(with: KeyringDaemon.password))
      }
    }
  }

  @Test(
    "whatever is answered to whorl login disable, the keyring opens with that, or its own secret is still in the store",
    arguments: AnswerToLoss.allCases)
  func answered(_ answer: AnswerToLoss) async throws {
    try await TestStore.with { store in
      try await KeyringDaemon.with { daemon in
        try await enable(store, daemon).run().mustSucceed()
        let disabling = whorl(store, daemon, "login", "disable", "gnome-keyring")
        let terminal = try PseudoTerminal(disabling.arguments, environment: disabling.environment)
        let status = try await terminal.walks { answer.answers($0) }
        if status == 0 {
          #expect(try await daemon.fileOpens(with: answer.rawValue), "\(terminal.shown)")
        } else {
          let later = try await whorl(
            store, daemon, "login", "disable", "gnome-keyring", "--password-fd", "3", lines: ["later"]
          ).run()
          #expect(later.status == 0, "\(terminal.shown)\(later.diagnostics)")
          #expect(try await daemon.fileOpens(with: "later"))
        }
      }
    }
  }

  @Test("a kill of whorl login enable after any step leaves a keyring that opens, and repair finds with which secret")
  func killed() async throws {
    let steps = [
      "Tested: the copy for the day when the store is lost opens.", "Tested on a copy of the keyring.",
      "The secret is in the store.", "A copy that only the recovery key opens is next to the keyring.",
      "The keyring's file is kept as it was.", "The keyring has been changed.", "Its file opens as it should.",
      "The keyring is open.",
    ]
    for step in steps {
      try await TestStore.with { store in
        try await KeyringDaemon.with { daemon in
          let killed = try await enable(store, daemon).run { line, program in
            if line == step { program.signal(SIGKILL) }
          }
          #expect([0, 128 + SIGKILL].contains(killed.status), "\(step): \(killed.diagnostics)")
          let repaired = try await whorl(
            store, daemon, "login", "repair", "--password-fd", "3", "--json", lines: [KeyringDaemon.password]
          ).run()
          #expect(repaired.status == 0, "\(step): \(repaired.diagnostics)")
          try await daemon.restart()
          let opened = try await whorl(store, daemon, "login", "open", "--at-login").run()
          #expect(opened.status == 0)
          // Either it has its own secret, or the password still opens it.
          let own = repaired.text.contains("own-secret")
          #expect(try await daemon.fileOpens(with: KeyringDaemon.password) == !own, "\(step)")
          #expect(daemon.files.contains("login.keyring.whorl") == own)
        }
      }
    }
  }

  @Test("whorl login enable changes nothing with a wrong password, or where no login would open the keyring")
  func refusals() async throws {
    try await TestStore.with { store in
      try await KeyringDaemon.with { daemon in
        let files = daemon.files
        let noGain = try await whorl(
          store, daemon, "login", "enable", "gnome-keyring", "--password-fd", "3", lines: [KeyringDaemon.password]
        ).run()
        #expect(noGain.status == 77 && noGain.failure.contains("--anyway"), "\(noGain.failure)")
        let wrong = try await enable(store, daemon, password: "wrong").run()
        #expect(wrong.status == 77, "\(wrong.failure)")
        let nobody = try await whorl(store, daemon, "login", "enable", "gnome-keyring", "--anyway").run()
        #expect(nobody.status == 77 && nobody.failure.contains("--password-fd"))
        #expect(daemon.files == files)
      }
    }
  }

  @Test("whorl login enable says that the keyring's password is wrong before it asks anything else")
  func wrongPassword() async throws {
    try await TestStore.with { store in
      try await KeyringDaemon.with { daemon in
        let places = [
          "XDG_DATA_HOME": "\(daemon.folder)/data", "XDG_RUNTIME_DIR": daemon.runtime, "HOME": daemon.folder,
        ]
        let words = store.arguments(["login", "enable", "gnome-keyring", "--anyway"])
        let question = "The password of the login keyring: "
        func type(_ terminal: PseudoTerminal, _ word: String, count: Int) async throws {
          try await terminal.waits(for: question, count: count)
          try await terminal.becomes(echoing: false)
          terminal.type("\(word)\n")
        }
        let wrong = try PseudoTerminal(words, environment: places)
        for attempt in 1...3 { try await type(wrong, "wrong", count: attempt) }
        #expect(try await wrong.status() == 77)
        #expect(wrong.shown.contains("That is not the password of the login keyring. Type it again."), "\(wrong.shown)")
        #expect(!wrong.shown.contains("ecovery key") && !wrong.shown.contains("asscode"), "\(wrong.shown)")

        // Who does not have the recovery key at hand goes on without trying it.
        let right = try PseudoTerminal(words, environment: places)
        try await type(right, "wrong", count: 1)
        try await type(right, KeyringDaemon.password, count: 2)
        try await right.waits(for: "Recovery key: ")
        try await right.becomes(echoing: false)
        right.type("nonsense\n")
        try await right.waits(for: "Type it again, or press Enter alone to go on without trying it.")
        try await right.waits(for: "Recovery key: ", count: 2)
        try await right.becomes(echoing: false)
        right.type("\n")
        #expect(try await right.status() == 0, "\(right.shown)")
        #expect(right.shown.contains("Not tried. If your recovery key is lost"), "\(right.shown)")
        #expect(try await !daemon.fileOpens(with: KeyringDaemon.password))
        let empty = try await whorl(
          store, daemon, "login", "disable", "gnome-keyring", "--password-fd", "3", lines: [""]
        ).run()
        #expect(empty.status == 77 && empty.failure.contains("may not be empty"), "\(empty.diagnostics)")
        // A person who presses Enter is asked again.
        let back = try PseudoTerminal(
          store.arguments(["login", "disable", "gnome-keyring"]), environment: places)
        try await back.waits(for: "Type your login password for it")
        for (count, word) in [(1, ""), (2, "new")] {
          for prompt in ["New password of the login keyring: ", "New password of the login keyring, again: "] {
            try await back.waits(for: prompt, count: count)
            try await back.becomes(echoing: false)
            back.type("\(word)\n")
          }
        }
        // Where the account's password can be compared, another one is confirmed first.
        if (try? await back.waits(for: "Take it anyway? [y/N]")) != nil { back.type("y\n") }
        #expect(try await back.status() == 0, "\(back.shown)")
        #expect(back.shown.contains("It may not be empty. Type it again."))
        #expect(try await daemon.fileOpens(with: "new"))
      }
    }
  }

  @Test("whorl login repair brings the keyring's secret of a lost store into a new one with the old recovery key")
  func lostStore() async throws {
    try await TestStore.with { store in
      try await KeyringDaemon.with { daemon in
        try await enable(store, daemon).run().mustSucceed()
        try await TestStore.withoutPasscode { other in
          let repaired = try await whorl(
            other, daemon, "login", "repair", "--recovery-fd", "3", "--json", lines: [store.recoveryKey]
          ).run()
          #expect(repaired.status == 0 && repaired.text.contains("own-secret"), "\(repaired.diagnostics)")
          try await daemon.restart()
          let opened = try await whorl(other, daemon, "login", "open").run()
          #expect(opened.status == 0, "\(opened.diagnostics)")
        }
      }
    }
  }

  @Test("whorl login delivers a secret to a file and to a command, lists it, and stops delivering it")
  func delivery() async throws {
    try await TestStore.with { store in
      try await withFolder { folder in
        func run(_ words: String...) async throws -> Invocation.Result {
          try await Invocation(
            arguments: store.arguments(words), environment: ["XDG_RUNTIME_DIR": folder, "HOME": folder]
          ).run()
        }
        try await store.set("ssh/key", "passphrase", "--access", "none", "--accessible", "after-first-unlock")
        try await store.set("other", "x", "--access", "presence")
        try await run("login", "add", "ssh/key", "--to", "file:ssh").mustSucceed()
        try await run("login", "add", "ssh/key", "--to", "command:cat > \(folder)/taken").mustSucceed()
        #expect(try await run("login", "add", "other", "--to", "file:x").status == 64)
        #expect(try await run("login", "add", "ssh/key", "--to", "file:../x").status == 64)
        #expect(try await run("login", "add", "ssh/key", "--to", "env:A-B").status == 64)
        let list = try await run("login", "ls")
        #expect(list.text.contains("file:ssh\tssh/key"))

        try await run("login", "open").mustSucceed()
        #expect(try readFile("\(folder)/whorl-login/ssh") == Array("passphrase".utf8))
        #expect(try readFile("\(folder)/taken") == Array("passphrase".utf8))
        var status = stat()
        #expect(stat("\(folder)/whorl-login/ssh", &status) == 0 && status.st_mode & 0o777 == 0o600)

        try await run("login", "rm", "file:ssh").mustSucceed()
        #expect(access("\(folder)/whorl-login/ssh", F_OK) != 0)
        #expect(try await run("login", "rm", "file:ssh").status == 66)
        // The item is gone: its entry reports that, and the others are still delivered.
        try await store.whorl("rm", "ssh/key").mustSucceed()
        let gone = try await run("login", "open", "--json")
        #expect(gone.status == 66 && gone.text.contains(#""handedOver":false"#), "\(gone.diagnostics)")
      }
    }
  }

  /// What becomes visible while secrets are delivered, in this order; the command's process is among it.
  private static let deliverySteps = ["/whorl-login", "/whorl-login/ssh.new", "/whorl-login/ssh", "process", "/taken"]

  @Test(
    "a signal to whorl login open at each step ends the command that gets a secret, and leaves no part of a file",
    arguments: deliverySteps)
  func signalledDelivery(_ step: String) async throws {
    try await TestStore.with { store in
      try await withFolder { folder in
        func login(_ words: String...) -> Invocation {
          Invocation(
            arguments: store.arguments(["login"] + words), environment: ["XDG_RUNTIME_DIR": folder, "HOME": folder])
        }
        // Ignores what it is told, as a command that waits for a network does.
        let sleeper = "\(folder)/sleeper"
        try #require(symlink("/bin/sleep", sleeper) == 0)
        let command = "trap '' TERM; cat > \(folder)/taken; exec \(sleeper) 1000"
        try await store.set("ssh/key", "passphrase", "--access", "none", "--accessible", "after-first-unlock")
        try await login("add", "ssh/key", "--to", "file:ssh").run().mustSucceed()
        try await login("add", "ssh/key", "--to", "command:\(command)").run().mustSucceed()
        let program = try login("open").start()
        let limit = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < limit {
          if step == "process" ? !processes(with: sleeper).isEmpty : access(folder + step, F_OK) == 0 { break }
          usleep(100)
        }
        program.signal(SIGTERM)
        let result = program.finish { _, _ in }
        #expect(result.status == 128 + SIGTERM, "\(result.diagnostics)")
        #expect(processes(with: sleeper).isEmpty, "the command runs on")
        #expect(access("\(folder)/whorl-login/ssh.new", F_OK) != 0)
        if let file = try? readFile("\(folder)/whorl-login/ssh") { #expect(file == Array("passphrase".utf8)) }
      }
    }
  }

  @Test("whorl login open --at-login succeeds for a user without a store, and prints nothing")
  func withoutStore() async throws {
    try await withFolder { folder in
      let result = try await Invocation(
        arguments: ["login", "open", "--at-login", "--store", "\(folder)/none"],
        environment: ["HOME": folder, "XDG_RUNTIME_DIR": folder]
      ).run()
      #expect(result.status == 0 && result.diagnostics.isEmpty)
    }
  }
}
