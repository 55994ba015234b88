import Glibc
import ProgramDriver
import Testing

@Suite("Passcode and recovery key")
struct PasscodeTests {
  @Test("init prints the recovery key on its own descriptor, and refuses a folder that has a store")
  func initialise() async throws {
    try await TestStore.with { store in
      #expect(store.recoveryKey.utf8.count > 25)
      let again = try await store.unlocked("init")
      #expect(again.status == 73)
      #expect(again.failure.contains("there is a store in "))
      var information = stat()
      #expect(stat(store.directory, &information) == 0 && information.st_mode & 0o777 == 0o700)
      #expect(stat("\(store.directory)/device.key", &information) == 0 && information.st_mode & 0o777 == 0o600)
    }
  }

  @Test("whorl init without a terminal needs a descriptor for the recovery key, and a passcode or --no-passcode")
  func initialiseAlone() async throws {
    try await withFolder { folder in
      let refused = try await Invocation(arguments: ["init", "--store", "\(folder)/s"]).run()
      #expect(refused.status == 77)
      #expect(refused.failure.contains("name a descriptor with --recovery-fd"))
      #expect(access("\(folder)/s", F_OK) != 0)
      let withoutPasscode = try await Invocation(
        arguments: ["init", "--recovery-fd", "9", "--store", "\(folder)/s"], readsDescriptor9: true
      ).run()
      #expect(withoutPasscode.status == 77 && withoutPasscode.descriptor9.isEmpty)
      #expect(
        withoutPasscode.failure.contains("a new passcode is needed and there is no terminal to ask at"),
        "\(withoutPasscode.diagnostics)")
      #expect(access("\(folder)/s", F_OK) != 0)
      let made = try await Invocation(
        arguments: ["init", "--no-passcode", "--json", "--recovery-fd", "9", "--store", "\(folder)/s"],
        readsDescriptor9: true
      ).run()
      #expect(made.status == 0)
      #expect(made.text == #"{"passcodeSet":false,"store":"\#(folder)/s"}"# + "\n")
    }
  }

  @Test("init and recover --new-key show a recovery key only at a terminal, and are refused without one")
  func keyAtTerminalOnly() async throws {
    try await TestStore.with { store in
      let new = "\(store.folder)/new"
      let made = try await Invocation(arguments: ["init", "--no-passcode", "--store", new]).run()
      #expect(made.status == 77)
      #expect(made.failure.contains("name a descriptor with --recovery-fd"))
      #expect(access(new, F_OK) != 0)
      let replaced = try await store.unlocked("recover", "--new-key")
      #expect(replaced.status == 77)
      #expect(replaced.failure.contains("name a descriptor with --new-recovery-fd"))
      #expect(!replaced.diagnostics.contains("shown this once"))
    }
  }

  @Test("the passcode releases what it may open, and a wrong one nothing")
  func passcodeInstead() async throws {
    try await TestStore.with { store in
      try await store.set("a", "secret")
      #expect(try await store.unlocked("set", "p", "--access", "passcode", input: Array("guarded".utf8)).status == 0)
      let right = try await store.unlocked("get", "a", "p")
      #expect(right.text == "secret\nguarded")
      let wrong = try await Invocation(
        arguments: store.arguments(["get", "p", "--passcode-fd", "3"]), descriptors: ["wrong\nmore\nlines\n"]
      ).run()
      #expect(wrong.status == 77)
      #expect(wrong.output.isEmpty)
      #expect(wrong.failure.hasPrefix("whorl: get: wrong passcode: try again"))
    }
  }

  @Test("whorl get with --no-prompt asks nobody, and is refused")
  func noPrompt() async throws {
    try await TestStore.with { store in
      try await store.set("a", "secret")
      let refused = try await store.whorl("get", "a", "--no-prompt")
      #expect(refused.status == 77)
      #expect(refused.failure.contains("none is allowed"))
    }
  }

  @Test("whorl passcode changes the passcode after the old one; the second line of input is the new one")
  func change() async throws {
    try await TestStore.with { store in
      try await store.set("a", "secret", "--access", "presence")
      #expect(try await store.unlocked("passcode", more: ["battery staple"]).status == 0)
      #expect(try await store.unlocked("get", "a").status == 77)
      let new = try await Invocation(
        arguments: store.arguments(["get", "a", "--passcode-fd", "3"]), descriptors: ["battery staple\n"]
      ).run()
      #expect(new.text == "secret")
    }
  }

  @Test("a passcode that can be guessed in a day is refused in one line, unless the person insists")
  func guessable() async throws {
    try await TestStore.with { store in
      let new = "\(store.folder)/new"
      func make(_ options: [String]) async throws -> Invocation.Result {
        try await Invocation(
          arguments: ["init", "--store", new, "--passcode-fd", "3", "--recovery-fd", "9"] + options,
          descriptors: ["8369\n"], readsDescriptor9: true
        ).run()
      }
      let refused = try await make([])
      #expect(refused.status == 64)
      #expect(refused.failure.contains("20 million a day") && refused.failure.contains("--allow-guessable"))
      #expect(refused.diagnostics.split(separator: "\n").count == 1, "\(refused.diagnostics)")
      #expect(access(new, F_OK) != 0)
      let made = try await make(["--allow-guessable"])
      #expect(made.status == 0, "\(made.diagnostics)")
      #expect(made.diagnostics.contains("20 million a day"), "the price is told")

      #expect(try await store.unlocked("passcode", more: ["8369"]).status == 64)
      #expect(try await store.unlocked("passcode", "--allow-guessable", more: ["8369"]).status == 0)
      func recover(_ options: [String]) async throws -> Int32 {
        try await Invocation(
          arguments: store.arguments(["recover", "--passcode-fd", "3", "--recovery-fd", "4"] + options),
          descriptors: ["4711\n", store.recoveryKey + "\n"]
        ).run().status
      }
      #expect(try await recover([]) == 64)
      #expect(try await recover(["--allow-guessable"]) == 0)
    }
  }

  @Test("removing the passcode lists the items that this destroys, and destroys them")
  func remove() async throws {
    try await TestStore.with { store in
      _ = try await store.unlocked("set", "p", "--access", "passcode", input: Array("1".utf8))
      try await store.set("s", "2", "--access", "none", "--accessible", "passcode-set")
      try await store.set("n", "3", "--access", "none")
      let asked = try await store.unlocked("passcode", "--remove")
      #expect(asked.status == 77)
      #expect(asked.failure.contains("--yes"))
      let removed = try await store.unlocked("passcode", "--remove", "--yes", "--json")
      #expect(removed.status == 0, "\(removed.diagnostics)")
      #expect(removed.text.contains(#""passcodeSet":false"#))
      for name in ["p", "s"] {
        #expect(removed.text.contains("\"\(name)\""))
        let dead = try await store.whorl("get", name)
        #expect(dead.status == 77)
        #expect(dead.failure.contains("\(name) is dead"))
      }
      #expect(try await store.whorl("get", "n").text == "3")
      let refused = try await store.whorl("set", "t", "--access", "none", "--accessible", "passcode-set", input: [1])
      #expect(refused.status == 77)
      #expect(refused.failure.contains("no passcode is set: 'whorl passcode'"))
      // The recovery key sets a new passcode, but does not revive dead items.
      let set = try await Invocation(
        arguments: store.arguments(["passcode", "--passcode-fd", "3", "--recovery-fd", "4"]),
        descriptors: ["a new passcode\n", store.recoveryKey + "\n"]
      ).run()
      #expect(set.status == 0, "\(set.diagnostics)")
      #expect(try await store.whorl("get", "s").status == 77)
    }
  }

  @Test("a store without a passcode refuses items that need one, and status says that none is set")
  func none() async throws {
    try await TestStore.withoutPasscode { store in
      let refused = try await store.whorl("set", "p", "--access", "passcode", input: [1])
      #expect(refused.status == 77)
      #expect(refused.failure.contains("no passcode is set: 'whorl passcode'"))
      #expect(try await store.whorl("status").text.contains("passcode  not set"))
    }
  }

  @Test("a prompt for a finger in a store without a passcode does not offer the passcode")
  func notOffered() async throws {
    try await TestStore.enrolled { store in
      try await store.unlocked("passcode", "--remove", "--yes").mustSucceed()
      let terminal = try PseudoTerminal(store.arguments(["get", "presence"] + store.reader), output: "/dev/null")
      try await terminal.waits(for: "Esc: cancel)")
      #expect(terminal.shown.contains("to use “presence” (Esc: cancel)"), "\(terminal.shown)")
      try await terminal.becomes(echoing: false)
      terminal.type(CancelKey.escape.rawValue)
      #expect(try await terminal.status() == 77)
    }
  }

  @Test("whorl recover sets a new passcode with the recovery key, and refuses any other text")
  func recover() async throws {
    try await TestStore.with { store in
      _ = try await store.unlocked("set", "p", "--access", "passcode", input: Array("kept".utf8))
      func recover(_ key: String) async throws -> Invocation.Result {
        try await Invocation(
          arguments: store.arguments(["recover", "--passcode-fd", "3", "--recovery-fd", "4"]),
          descriptors: ["after recovery\n", key + "\n"]
        ).run()
      }
      let typo = try await recover("not a key")
      #expect(typo.status == 77)
      #expect(typo.failure.contains("not a recovery key"))
      let right = try await recover(store.recoveryKey)
      #expect(right.status == 0, "\(right.diagnostics)")
      let got = try await Invocation(
        arguments: store.arguments(["get", "p", "--passcode-fd", "3"]), descriptors: ["after recovery\n"]
      ).run()
      #expect(got.text == "kept")
    }
  }

  @Test("a store without its key file cannot be opened, and recover makes a new key file")
  func keyFile() async throws {
    try await TestStore.with { store in
      try await store.set("n", "kept", "--access", "none")
      unlink("\(store.directory)/device.key")
      let refused = try await store.whorl("get", "n")
      #expect(refused.status == 65)
      #expect(refused.failure.contains("whorl recover"))
      #expect(try await store.unlocked("unlock").status == 65, "wrong passcodes could not be counted without it")
      let recovered = try await Invocation(
        arguments: store.arguments(["recover", "--passcode-fd", "3", "--recovery-fd", "4"]),
        descriptors: ["new passcode\n", store.recoveryKey + "\n"]
      ).run()
      #expect(recovered.status == 0, "\(recovered.diagnostics)")
      #expect(try await store.whorl("get", "n").text == "kept")
    }
  }

  @Test("recover --new-key shows a new recovery key, and the old one is refused from then on")
  func newKey() async throws {
    try await TestStore.with { store in
      func newKey(passcode: String) async throws -> Invocation.Result {
        try await Invocation(
          arguments: store.arguments(["recover", "--new-key", "--passcode-fd", "3", "--new-recovery-fd", "9"]),
          descriptors: [passcode + "\n"], readsDescriptor9: true
        ).run()
      }
      func recover(_ key: String) async throws -> Invocation.Result {
        try await Invocation(
          arguments: store.arguments(["recover", "--passcode-fd", "3", "--recovery-fd", "4"]),
          descriptors: ["after recovery\n", key + "\n"]
        ).run()
      }
      let wrong = try await newKey(passcode: "wrong one")
      #expect(wrong.status == 77)
      #expect(try await recover(String(wrong.descriptor9.dropLast())).failure.contains("not the recovery key"))
      let replaced = try await newKey(passcode: TestStore.passcode)
      #expect(replaced.status == 0, "\(replaced.diagnostics)")
      #expect(replaced.diagnostics == "The new recovery key is valid, and the old one is not any more.\n")
      #expect(try await recover(store.recoveryKey).status == 77)
      let right = try await recover(String(replaced.descriptor9.dropLast()))
      #expect(right.status == 0, "\(right.diagnostics)")
      let mixed = try await store.whorl("recover", "--new-recovery-fd", "1")
      #expect(mixed.status == 64)
    }
  }

  @Test("reseal refuses a private store, whose key is in its file")
  func reseal() async throws {
    try await TestStore.with { store in
      let refused = try await store.unlocked("reseal")
      #expect(refused.status == 64)
      #expect(refused.failure.contains("this store keeps its key in a file"))
      #expect(try await store.whorl("status").text.contains("key file (private)"))
    }
  }

  @Test("after the fifth wrong passcode even the right one has to wait")
  func delay() async throws {
    try await TestStore.with { store in
      for _ in 1...5 {
        let wrong = try await Invocation(
          arguments: store.arguments(["unlock", "--passcode-fd", "3"]), descriptors: ["wrong one\n"]
        ).run()
        #expect(wrong.status == 77)
      }
      let right = try await store.unlocked("unlock")
      #expect(right.status == 77)
      #expect(right.failure.contains("too many wrong passcodes"))
      #expect(try await store.whorl("status").text.contains("the next passcode is accepted in"))
    }
  }
}
