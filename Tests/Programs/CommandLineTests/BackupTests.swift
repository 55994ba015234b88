import Glibc
import ProgramDriver
import Testing

@Suite("backup, and restore of the copy")
struct BackupTests {
  private func mode(_ path: String) -> mode_t {
    var info = stat()
    return lstat(path, &info) == 0 ? info.st_mode : 0
  }

  @Test("a backup is restored with the passcode, after a list of what is lost and what comes back")
  func roundTrip() async throws {
    try await TestStore.with { store in
      try await store.set("mail/alice", "of mail", "--access", "none")
      try await store.set("kept", "of kept", "--access", "none")
      let copy = "\(store.folder)/copy"
      let made = try await store.whorl("backup", copy)
      #expect(made.status == 0 && made.diagnostics.contains("The store and its 2 items are in"), "\(made.diagnostics)")
      #expect(mode(copy) == S_IFDIR | 0o700)
      #expect(mode("\(copy)/store.whorl-backup") == S_IFREG | 0o600)
      let taken = try await store.whorl("backup", copy)
      #expect(taken.status == 73 && taken.failure.contains("exists already"), "\(taken.failure)")
      #expect(mkdir("\(store.folder)/empty", 0o755) == 0)
      let second = try await store.whorl("backup", "\(store.folder)/empty/", "--json")
      #expect(second.text == #"{"directory":"\#(store.folder)/empty/","items":2}"# + "\n", "\(second.text)")
      #expect(mode("\(store.folder)/empty") == S_IFDIR | 0o700)

      try await store.whorl("rm", "mail/alice").mustSucceed()
      try await store.set("added", "later", "--access", "none")
      let asked = try await store.unlocked("restore", copy)
      #expect(asked.status == 77 && asked.failure.contains("this has to be confirmed"), "\(asked.failure)")
      for line in ["1 item of the store will be lost:\n  added", "1 item will come back:\n  mail/alice"] {
        #expect(asked.diagnostics.contains(line), "\(asked.diagnostics)")
      }
      #expect(try await store.whorl("get", "added").text == "later")
      let restored = try await store.unlocked("restore", copy, "--yes", "--json")
      #expect(restored.text == #"{"dead":[],"items":2,"leftOut":[],"restored":true}"# + "\n", "\(restored.diagnostics)")
      #expect(restored.diagnostics.contains("will be lost:\n  added"), "\(restored.diagnostics)")
      let names = try await store.whorl("ls").text.split(separator: "\n").map { $0.prefix { $0 != "\t" } }
      #expect(names == ["mail/alice", "kept"])
      #expect(try await store.whorl("get", "mail/alice").text == "of mail")
      #expect(try await store.whorl("doctor").diagnostics.contains("damaged") == false)
    }
  }

  @Test("whorl restore without a store makes one from the backup with the recovery key")
  func newMachine() async throws {
    try await TestStore.with { store in
      try await store.set("mail/alice", "of mail", "--access", "passcode")
      let copy = "\(store.folder)/copy"
      try await store.whorl("backup", copy).mustSucceed()
      func restore(_ key: String) async throws -> Invocation.Result {
        try await Invocation(
          arguments: ["restore", copy, "--yes", "--store", "\(store.folder)/new", "--recovery-fd", "3"],
          descriptors: [key + "\n"]
        ).run()
      }
      let wrong = try await restore("whorl-wrong")
      #expect(wrong.status == 77 && access("\(store.folder)/new", F_OK) != 0, "\(wrong.diagnostics)")
      let made = try await restore(store.recoveryKey)
      #expect(made.status == 0 && made.diagnostics.contains("Restored 1 item."), "\(made.diagnostics)")
      let read = try await Invocation(
        arguments: ["get", "mail/alice", "--store", "\(store.folder)/new", "--passcode-fd", "3"],
        descriptors: [TestStore.passcode + "\n"]
      ).run()
      #expect(read.text == "of mail", "\(read.diagnostics)")
    }
  }

  @Test("whorl restore without a store leaves out what a login would run or set, and names it")
  func newMachinesLogin() async throws {
    try await TestStore.with { store in
      try await store.set("token", "of token", "--access", "none", "--accessible", "after-first-unlock")
      for target in ["command:touch /tmp/owned", "env:LD_PRELOAD"] {
        try await store.whorl("login", "add", "token", "--to", target).mustSucceed()
      }
      try await store.whorl("backup", "\(store.folder)/copy").mustSucceed()
      let made = try await Invocation(
        arguments: [
          "restore", "\(store.folder)/copy", "--yes", "--store", "\(store.folder)/new", "--recovery-fd", "3",
        ], descriptors: [store.recoveryKey + "\n"]
      ).run()
      #expect(made.status == 0 && made.diagnostics.contains("Restored 1 item."), "\(made.diagnostics)")
      #expect(made.diagnostics.contains("\n  command:touch /tmp/owned\n"), "\(made.diagnostics)")
      #expect(made.diagnostics.contains("\n  env:LD_PRELOAD\n"), "\(made.diagnostics)")
      let entries = try await Invocation(arguments: ["login", "ls", "--json", "--store", "\(store.folder)/new"]).run()
      #expect(entries.text == #"{"entries":[]}"# + "\n", "\(entries.text)\(entries.diagnostics)")
    }
  }

  @Test("whorl restore copies the items of another store's backup into this one, with its recovery key and no passcode")
  func otherStore() async throws {
    try await TestStore.withoutPasscode { other in
      let set = try await Invocation(
        arguments: other.arguments(["passcode", "--recovery-fd", "3", "--passcode-fd", "4"]),
        descriptors: [other.recoveryKey + "\n", "four odd words here\n"]
      ).run()
      try set.mustSucceed()
      try await other.set("mail/alice", "of mail", "--access", "none")
      try await other.set("bank/alice", "of bank", "--access", "passcode")
      try await other.whorl("backup", "\(other.folder)/copy").mustSucceed()
      try await TestStore.with { store in
        try await store.set("mine", "of mine", "--access", "none")
        func restore(_ key: String, _ more: String...) async throws -> Invocation.Result {
          try await Invocation(
            arguments: store.arguments(["restore", "\(other.folder)/copy", "--yes", "--recovery-fd", "3"] + more),
            descriptors: [key + "\n"], environment: ["XDG_RUNTIME_DIR": store.folder]
          ).run()
        }
        let before = try folderEntries(store.folder)
        let wrong = try await restore(store.recoveryKey)
        #expect(wrong.status == 77 && wrong.failure.contains("not the recovery key"), "\(wrong.failure)")
        let copied = try await restore(other.recoveryKey)
        #expect(
          copied.status == 0 && copied.diagnostics.contains("Copied 2 items into your store."), "\(copied.diagnostics)")
        #expect(try await store.whorl("get", "mail/alice").text == "of mail")
        #expect(try await store.unlocked("get", "bank/alice").text == "of bank")
        #expect(try await store.whorl("get", "mine").text == "of mine")
        let again = try await restore(other.recoveryKey, "--json")
        #expect(again.text.contains(#""alreadyThere":2"#) && again.text.contains(#""items":0"#), "\(again.text)")
        // Nothing is left of the store that was made for it.
        #expect(try folderEntries(store.folder) == before)
      }
    }
  }

  /// Whoever gives a copy and its recovery key away knows the key pair in it, and chooses what a login does.
  @Test("whorl restore takes no key pair and no entry of the login out of another store's backup, and says so")
  func otherStoresChoices() async throws {
    try await TestStore.withoutPasscode { other in
      try await other.set("mail/alice", "of mail", "--access", "none", "--accessible", "after-first-unlock")
      try await other.whorl("login", "add", "mail/alice", "--to", "command:touch /tmp/owned").mustSucceed()
      let theirs = try await other.whorl("key")
      try theirs.mustSucceed()
      try await other.whorl("backup", "\(other.folder)/copy").mustSucceed()
      try await TestStore.with { store in
        let copied = try await Invocation(
          arguments: store.arguments(["restore", "\(other.folder)/copy", "--yes", "--recovery-fd", "3"]),
          descriptors: [other.recoveryKey + "\n"], environment: ["XDG_RUNTIME_DIR": store.folder]
        ).run()
        #expect(copied.status == 0 && copied.diagnostics.contains("Copied 1 item into your store."))
        #expect(copied.diagnostics.contains("an entry of 'whorl login' of that other store"), "\(copied.diagnostics)")
        #expect(copied.diagnostics.contains("make another here"), "\(copied.diagnostics)")
        #expect(try await !store.whorl("login", "ls", "--json").text.contains("owned"))
        let own = try await store.whorl("key")
        #expect(own.status == 0 && own.text != theirs.text)
      }
    }
  }

  @Test("whorl restore refuses in one line what is missing, no backup, or a backup of another store")
  func badInput() async throws {
    try await TestStore.with { store in
      let nothing = try await store.unlocked("restore", "\(store.folder)/nothing", "--yes")
      #expect(nothing.status == 66 && nothing.failure.contains("there is nothing at"), "\(nothing.failure)")
      try writeFile("\(store.folder)/file.age", Array("age-encryption.org/v1\n".utf8))
      let file = try await store.unlocked("restore", "\(store.folder)/file.age", "--yes")
      #expect(file.status == 64 && file.failure.contains("'whorl import' reads"), "\(file.failure)")
      let copy = "\(store.folder)/copy"
      #expect(mkdir(copy, 0o700) == 0)
      try writeFile("\(copy)/store.whorl-backup", Array("something else".utf8))
      let other = try await store.unlocked("restore", copy, "--yes")
      #expect(other.status == 65 && other.failure.contains("it is not a backup of whorl"), "\(other.failure)")
      #expect(!other.failure.contains("export"), "\(other.failure)")
      for refused in [nothing, file, other] {
        #expect(refused.diagnostics.split(separator: "\n").count == 1, "\(refused.diagnostics)")
      }
      try await TestStore.withoutPasscode { another in
        try await another.whorl("backup", "\(store.folder)/theirs").mustSucceed()
        let theirs = try await store.whorl(
          "restore", "\(store.folder)/theirs", "--yes", environment: ["XDG_RUNTIME_DIR": store.folder])
        #expect(theirs.status == 77 && theirs.failure.contains("the recovery key is needed"), "\(theirs.failure)")
        #expect(theirs.diagnostics.contains("That takes the recovery key of\nthat other store, and no passcode of it."))
      }
    }
  }

  @Test("whorl restore reports a wrong file or newer version before it asks anything")
  func refusedFirst() async throws {
    try await TestStore.with { store in
      let copy = "\(store.folder)/copy"
      try await store.whorl("backup", copy).mustSucceed()
      let file = "\(copy)/store.whorl-backup"
      let whole = try readFile(file)
      var newer = whole
      // The version is the first number after the head's length.
      newer["whorl-backup\n".utf8.count + 4 + 5 + 7] += 1
      for (bytes, words) in [(newer, "newer"), (Array(whole.dropFirst()), "not a backup of whorl")] {
        try writeFile(file, bytes)
        // Nobody answers, so a question would make this wait.
        let terminal = try PseudoTerminal(["restore", copy, "--store", "\(store.folder)/new"])
        #expect(try await terminal.status() != 0)
        #expect(terminal.shown.contains(words) && !terminal.shown.contains("Go on?"), "\(terminal.shown)")
      }
      try writeFile(file, whole)
      let asked = try PseudoTerminal(["restore", copy, "--store", "\(store.folder)/new"])
      try await asked.waits(for: "Go on? [y/N]")
      asked.type("n\n")
      #expect(try await asked.status() == 77)
    }
  }
}
