import Glibc
import ProgramDriver
import Testing

@Suite("Error messages for a person's mistakes")
struct MistakeTests {
  /// Checks the last line: what happened, then what to do, in words for a person.
  private func expect(
    _ result: Invocation.Result, _ status: Int32, _ what: String, _ advice: String,
    _ place: SourceLocation = #_sourceLocation
  ) {
    #expect(result.status == status, "\(result.diagnostics)", sourceLocation: place)
    #expect(result.output.isEmpty, sourceLocation: place)
    #expect(result.failure.contains(what), "\(result.failure)", sourceLocation: place)
    #expect(result.failure.contains(advice), "\(result.failure)", sourceLocation: place)
    #expect(PlainWords.foreign(in: result.failure) == [], "\(result.failure)", sourceLocation: place)
  }

  @Test(
    "get, set, unlock and backup say that there is no store, and how one is begun",
    arguments: ["get", "set", "unlock", "backup"])
  func noStore(_ command: String) async throws {
    try await withFolder { folder in
      let argument = ["get": ["a"], "set": ["a"], "backup": ["\(folder)/copy"]][command] ?? []
      let words = [command] + argument + ["--store", "\(folder)/store"]
      let result = try await Invocation(arguments: words).run()
      expect(result, 66, "no store in \(folder)/store", "'whorl setup' begins one")
    }
  }

  @Test("whorl set of a secret for fingers says that no finger is enrolled, and how to enrol one")
  func noFinger() async throws {
    try await TestStore.with { store in
      for access in ["any-finger", "current-set"] {
        let result = try await store.whorl(
          "set", "a", "--access", access, "--reader", "libfprint:none", input: Array("s".utf8))
        expect(result, 66, "no finger is enrolled", "enrol one in the desktop's settings (Users, Fingerprint), or with")
      }
    }
  }

  @Test("whorl enroll says that the named reader is missing, and how to list readers")
  func noReader() async throws {
    try await TestStore.with { store in
      let named = try await store.unlocked("enroll", "--reader", "libfprint:none")
      expect(named, 66, "no reader none", "'whorl reader list' lists what there is")
    }
  }

  @Test("a command that can ask nobody for the passcode or a yes names the option that gives it")
  func nobody() async throws {
    try await TestStore.with { store in
      try await store.unlocked("set", "p", "--access", "passcode", input: Array("guarded".utf8)).mustSucceed()
      expect(
        try await store.whorl("get", "p"), 77, "the passcode is needed and there is no terminal to ask at",
        "give it with --passcode-fd")
      expect(
        try await store.whorl("unlock"), 77, "the passcode is needed and there is no terminal to ask at",
        "give it with --passcode-fd")
      expect(
        try await store.whorl("passcode", "--remove"), 77, "this has to be confirmed, and nobody can be asked",
        "confirm it with --yes")
    }
  }

  @Test("export, import, backup and restore say what is wrong with a file, and what to do")
  func files() async throws {
    try await TestStore.with { store in
      try await store.set("a", "secret", "--access", "none")
      let (note, folder) = ("\(store.folder)/note", "\(store.folder)/full")
      try writeFile(note, Array("no export\n".utf8))
      mkdir(folder, 0o700)
      try writeFile("\(folder)/x", [])
      expect(try await store.whorl("export", note), 73, "\(note) exists already", "overwrite it with --replace")
      expect(try await store.whorl("import", "\(note).none"), 66, "there is nothing at", "name where it is")
      expect(try await store.whorl("import", note), 65, "has not written \(note)", "name that, as in")
      expect(try await store.whorl("backup", folder), 73, "\(folder) exists already", "name a new directory")
      expect(
        try await store.whorl("restore", "\(note).none", "--yes"), 66, "there is nothing at", "'whorl backup' has made")
      expect(try await store.whorl("restore", note, "--yes"), 64, "a backup is a directory", "'whorl import' reads")
      expect(try await store.whorl("restore", folder, "--yes"), 64, "is not a backup", "'whorl backup' has made")
    }
  }

  @Test(
    "set on a full disk says that the disk is full, and not that a permission is missing", .enabled(if: getuid() == 0))
  func noRoom() async throws {
    guard try await MachineFprintd.isPossible() else { return }
    try await withFolder { folder in
      let script = #"""
        mount -t tmpfs -o size=2m none "$1" || exit 1
        "$2" init --no-passcode --recovery-fd 4 --store "$1/store" 4>/dev/null || exit 2
        dd if=/dev/zero of="$1/full" bs=4k 2>/dev/null
        echo s | exec "$2" set b --access none --store "$1/store"
        """#
      let stored = try await Invocation(
        program: "/usr/bin/unshare",
        arguments: ["--mount", "/bin/sh", "-c", script, "sh", folder, try Programs.path("whorl")]
      ).run()
      expect(stored, 74, "the disk is full: cannot ", "make room on the disk, then try again")
      #expect(!stored.failure.contains("may read and write"), "\(stored.diagnostics)")
    }
  }

  @Test("set and get say what to do about a full disk, and the store stays whole")
  func fullDisk() async throws {
    try await TestStore.with { store in
      try await store.set("a", "secret", "--access", "none")
      let whorl = try Programs.path("whorl")
      let stored = try await Invocation(
        program: "/bin/sh",
        arguments: ["-c", "trap '' XFSZ; ulimit -f 0; echo s | '\(whorl)' set b --store '\(store.directory)'"]
      ).run()
      expect(stored, 74, "", "the disk's space")
      let written = try await Invocation(
        program: "/bin/sh", arguments: ["-c", "'\(whorl)' get a --store '\(store.directory)' >/dev/full"]
      ).run()
      expect(written, 74, "No space left on device", "whether there is room")
      #expect(try await store.whorl("get", "a").text == "secret")
    }
  }

  @Test(
    "whorl refuses a store that another user owns", .enabled("only root makes folders of others") { geteuid() == 0 })
  func anotherUser() async throws {
    try await TestStore.with { store in
      chown(store.directory, 65_534, 65_534)
      let result = try await store.whorl("ls")
      expect(result, 78, "belongs to user 65534", "name another with --store")
    }
  }

  @Test("a wrong passcode, a wrong recovery key and entries that differ give errors with advice")
  func typingErrors() async throws {
    try await TestStore.with { store in
      let wrong = try await Invocation(
        arguments: store.arguments(["unlock", "--passcode-fd", "3"]), descriptors: ["correct hores\n"]
      ).run()
      expect(wrong, 77, "wrong passcode", "'whorl recover' sets a new one with the recovery key")
      let noKey = try await Invocation(
        arguments: store.arguments(["recover", "--recovery-fd", "4", "--passcode-fd", "3"]),
        descriptors: ["a new passcode\n", "not a key\n"]
      ).run()
      expect(noKey, 77, "this is not a recovery key", "check it for typing errors")
      let terminal = try PseudoTerminal(store.arguments(["set", "typed"]), output: "/dev/null")
      for attempt in 1...3 {
        try await terminal.waits(for: "New secret of typed: ", count: attempt)
        terminal.type("one\n")
        try await terminal.waits(for: "again: ", count: attempt)
        terminal.type("another\n")
      }
      #expect(try await terminal.status() == 64)
      #expect(terminal.shown.contains("the two entries differed three times: try again"), "\(terminal.shown)")
    }
  }
}
