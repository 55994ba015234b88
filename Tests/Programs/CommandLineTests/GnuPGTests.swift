import Glibc
import ProgramDriver
import Synchronization
import Testing
import VirtualFinger

@Suite("whorl gpg")
struct GnuPGTests {
  private static let contents = [
    "", "default-cache-ttl 60\n", "pinentry-program /usr/bin/pinentry-tty\n# mine\n",
    "a\n\n  pinentry-program\t/usr/bin/pinentry-tty  \nb without an end", "pinentry-programs x\n",
  ]

  @Test(
    "whorl gpg enable keeps everything in gpg-agent.conf, and disable makes the file what it was", arguments: contents)
  func enableAndDisable(_ text: String) async throws {
    try await TestStore.with { store in
      let desk = try PinentryDesk(store)
      let file = "\(store.folder)/gpg-agent.conf"
      try writeFile(file, Array(text.utf8))
      chmod(file, 0o640)
      let program = "\(store.folder)/other"
      func gpg(_ words: String...) async throws -> Invocation.Result {
        try await Invocation(
          arguments: store.arguments(["gpg"] + words), environment: desk.environment
        ).run()
      }
      // Twice is once.
      for _ in 1...2 {
        let enabled = try await gpg("enable", "--program", program)
        #expect(enabled.status == 0, "\(enabled.diagnostics)")
      }
      let written = String(decoding: try readFile(file), as: UTF8.self)
      let lines = written.split(separator: "\n")
      let naming = lines.filter { $0.contains("pinentry-program") && !$0.hasPrefix("#") && !$0.hasSuffix("x") }
      #expect(naming == ["pinentry-program \(program)"])
      let status = try await gpg("status", "--json")
      let other = text.contains("pinentry-tty") ? "pinentry-tty" : "pinentry"
      #expect(status.text.contains(#""enabled":true"#) && status.text.contains(#""other":"/usr/bin/\#(other)""#))
      try await gpg("disable").mustSucceed()
      // An empty file and none are the same to GnuPG.
      #expect((try? readFile(file)) ?? [] == Array(text.utf8))
      var information = stat()
      #expect(text.isEmpty || stat(file, &information) == 0 && information.st_mode & 0o777 == 0o640)
      #expect(try await gpg("status").text.contains("no"))
      #expect(try await gpg("disable").status == 0)
    }
  }

  @Test("whorl gpg enable changes nothing behind a symbolic link, without a store, or for a program that is not there")
  func refusals() async throws {
    try await TestStore.with { store in
      let desk = try PinentryDesk(store)
      let file = "\(store.folder)/gpg-agent.conf"
      let before = try readFile(file)
      func enable(_ program: String, in directory: String = store.directory) async throws -> Int32 {
        try await Invocation(
          arguments: ["gpg", "enable", "--program", program, "--store", directory], environment: desk.environment
        ).run().status
      }
      #expect(try await enable("/nonexistent") == 64)
      #expect(try await enable("other") == 64)
      #expect(try await enable(desk.other) == 64, "it would have itself ask")
      #expect(try await enable("/bin/true", in: "/nonexistent") != 0)
      #expect(try readFile(file) == before)
      rename(file, "\(store.folder)/real.conf")
      symlink("real.conf", file)
      #expect(try await enable("/bin/true") == 73)
      #expect(try readFile("\(store.folder)/real.conf") == before)
    }
  }

  /// GnuPG with an agent that asks Whorl, and the pinentry from before.
  private struct RunningGnuPG {
    let desk: PinentryDesk
    let touches: LoggedTouches
    /// What the agent's file was.
    let settings: String

    func run(_ program: String, _ words: [String], input: String = "", _ more: [String: String] = [:]) async throws
      -> Invocation.Result
    {
      try await Invocation(
        program: program, arguments: words, input: Array(input.utf8), environment: desk.environment.merging(more) { $1 }
      ).run()
    }

    func gpg(_ words: String..., input: String = "") async throws -> Invocation.Result {
      try await run("/usr/bin/gpg", ["--batch", "--quiet"] + words, input: input)
    }
  }

  /// - Parameter settings: further lines of the agent's file.
  private func withGnuPG(
    _ settings: String = "", _ body: (RunningGnuPG, TestStore, PasswordFolder) async throws -> Void
  ) async throws {
    try await TestStore.enrolled { store in
      try await PasswordFolder.with(passphrase: "p%ss phrase") { folder in
        var desk = try PinentryDesk(store)
        desk.environment = folder.variables.merging(["DISPLAY": ":7"]) { $1 }
        let log = "\(store.folder)/prompts"
        try writeFile(log, [])
        let words = (["pinentry"] + store.reader + ["--store", store.directory]).joined(separator: " ")
        let program = "\(store.folder)/pinentry-tested"
        try writeFile(program, Array("#!/bin/sh\nexec \(try Programs.path("whorl")) \(words) \"$@\" 2>>\(log)\n".utf8))
        chmod(program, 0o700)
        let settings = "pinentry-program \(desk.other)\ndefault-cache-ttl 0\nmax-cache-ttl 0\n\(settings)"
        try writeFile("\(folder.folder)/gnupg/gpg-agent.conf", Array(settings.utf8))
        let enabled = try await Invocation(
          arguments: store.arguments(["gpg", "enable", "--program", program]), environment: desk.environment
        ).run()
        #expect(enabled.status == 0, "\(enabled.diagnostics)")
        let touches = LoggedTouches(log, socket: store.socket)
        defer { touches.end() }
        try await body(RunningGnuPG(desk: desk, touches: touches, settings: settings), store, folder)
      }
    }
  }

  @Test(
    "gpg signs and decrypts after touches alone, each key with its passphrase, and a wrong kept one is typed anew",
    .enabled(if: PasswordFolder.gpgIsInstalled))
  func real() async throws {
    try await withGnuPG { gnupg, store, folder in
      let (desk, touches) = (gnupg.desk, gnupg.touches)
      let grips = try await gnupg.gpg("--with-colons", "--with-keygrip", "-K").text.split(separator: "\n")
        .filter { $0.hasPrefix("grp:") }.compactMap { $0.split(separator: ":").last.map(String.init) }
      #expect(grips.count == 2)

      // Typed and kept, and then a touch.
      try desk.types("p%25ss phrase")
      try desk.agrees()
      let first = try await gnupg.gpg("--clearsign", input: "text")
      #expect(first.text.contains("BEGIN PGP SIGNATURE"), "\(first.diagnostics)")
      #expect(touches.count == 0)
      _ = try desk.log()
      let signed = try await gnupg.gpg("--clearsign", input: "text")
      #expect(signed.text.contains("BEGIN PGP SIGNATURE"), "\(signed.diagnostics)")
      #expect(try touches.count == 1 && desk.log().isEmpty)
      #expect(try await gnupg.gpg("--verify", input: signed.text).status == 0)

      // The key for encryption has a passphrase of its own.
      let encrypted = try await gnupg.gpg("--armor", "--encrypt", "-r", "alice@example.org", input: "of mine")
      try await store.set("gpg/\(grips[1])", "wrong")
      try desk.types("p%25ss phrase")
      let opened = try await gnupg.gpg("--decrypt", input: encrypted.text)
      #expect(opened.text == "of mine", "\(opened.diagnostics)")
      #expect(try desk.log().contains { $0.hasPrefix("SETERROR") })
      let again = try await gnupg.gpg("--decrypt", input: encrypted.text)
      #expect(again.text == "of mine", "\(again.diagnostics)")
      #expect(try touches.count == 3 && desk.log().isEmpty, "the right one was kept")

      // Without Whorl.
      try await Invocation(
        arguments: store.arguments(["gpg", "disable"]), environment: desk.environment
      ).run().mustSucceed()
      #expect(String(decoding: try readFile("\(folder.folder)/gnupg/gpg-agent.conf"), as: UTF8.self) == gnupg.settings)
      try desk.types("p%25ss phrase")
      #expect(try await gnupg.gpg("--decrypt", input: encrypted.text).text == "of mine")
      #expect(try touches.count == 3 && desk.log().contains("GETPIN"))
    }
  }

  @Test(
    "a touch releases the passphrase of an ssh key in GnuPG's agent, and new passphrases are typed and not kept",
    .enabled(if: PasswordFolder.gpgIsInstalled))
  func sshAndSymmetric() async throws {
    try await withGnuPG("enable-ssh-support\ndefault-cache-ttl-ssh 0\nmax-cache-ttl-ssh 0\n") { gnupg, store, folder in
      let (desk, touches) = (gnupg.desk, gnupg.touches)
      try desk.agrees()
      let socket = try await gnupg.run("/usr/bin/gpgconf", ["--list-dirs", "agent-ssh-socket"]).text.dropLast()
      let agent = ["SSH_AUTH_SOCK": String(socket)]
      // ssh tells the agent no display: it uses the one of this moment.
      try await gnupg.run("/usr/bin/gpg-connect-agent", ["updatestartuptty", "/bye"]).mustSucceed()
      let key = "\(folder.folder)/key"
      try await gnupg.run("/usr/bin/ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key]).mustSucceed()
      // Of the key in the agent, typed twice.
      try desk.types("of ssh", "of ssh")
      let added = try await gnupg.run("/usr/bin/ssh-add", ["-q", key], agent)
      #expect(added.status == 0, "\(added.diagnostics)")
      #expect(try await store.whorl("ls", "gpg").text.isEmpty, "a new passphrase was kept")
      unlink(key)
      func sign() async throws -> Invocation.Result {
        try await gnupg.run(
          "/usr/bin/ssh-keygen", ["-Y", "sign", "-n", "file", "-f", "\(key).pub"], input: "text", agent)
      }
      _ = try desk.log()
      try desk.types("of ssh")
      let first = try await sign()
      #expect(first.text.contains("BEGIN SSH SIGNATURE"), "\(first.diagnostics)")
      #expect(touches.count == 0)
      let firstLog = try desk.log()
      let signed = try await sign()
      #expect(signed.text.contains("BEGIN SSH SIGNATURE"), "\(signed.diagnostics)")
      let log = try desk.log()
      #expect(touches.count == 1 && log.isEmpty, "\(firstLog) \(log)")

      let kept = try await store.whorl("ls", "gpg").text
      try desk.types("of the file", "of the file")
      let locked = try await gnupg.gpg("--armor", "--symmetric", input: "by passphrase")
      #expect(locked.text.contains("BEGIN PGP MESSAGE"), "\(locked.diagnostics)")
      try desk.types("of the file")
      let opened = try await gnupg.gpg("--decrypt", input: locked.text)
      #expect(opened.text == "by passphrase", "\(opened.diagnostics)")
      #expect(touches.count == 1)
      #expect(try await store.whorl("ls", "gpg").text == kept)
    }
  }
}

/// Presses the right finger each time a program that nobody else reads asks for one.
private final class LoggedTouches: Sendable {
  private let state = Mutex((count: 0, isOver: false))

  /// - Parameter log: what the program writes to standard error.
  init(_ log: String, socket: String) {
    let reader = VirtualImageReader(socket: socket, patience: .seconds(10))
    startThread {
      while !self.state.withLock({ $0.isOver }) {
        let lines = ((try? readFile(log)).map { String(decoding: $0, as: UTF8.self) } ?? "").split(separator: "\n")
        let asked = lines.count { $0.contains(" the reader (") }
        if asked > self.count {
          let number = self.state.withLock { state in
            state.count += 1
            return state.count
          }
          usleep(100_000)
          try? reader.press(Fingers.right.impression(.init(number)))
        }
        usleep(10_000)
      }
    }
  }

  var count: Int { state.withLock { $0.count } }

  func end() { state.withLock { $0.isOver = true } }
}
