import Glibc
import ProgramDriver
import Testing
import VaultDriver

/// GnuPG's agent asks `whorl pinentry`, which has another pinentry beside it.
struct PinentryDesk: Sendable {
  static let grip = "89ABCDEF0123456789ABCDEF0123456789ABCDEF"
  static let asksForKey = "SETKEYINFO n/\(grip)\n"
  static let cancelled = "ERR 83886179 "

  let store: TestStore
  var environment: [String: String]

  init(_ store: TestStore) throws {
    self.store = store
    environment = ["HOME": store.folder, "GNUPGHOME": store.folder, "DISPLAY": ":7"]
    try writeFile(
      other,
      Array(
        """
        #!/bin/sh
        cd \(store.folder) || exit
        echo OK
        while read -r line; do
          echo "$line" >>log
          case $line in
            GETPIN)
              typed=$(head -n 1 typed 2>/dev/null)
              if [ "$typed" ]; then sed -i 1d typed; echo "D $typed"; echo OK; else echo "ERR 83886179 not typed"; fi ;;
            CONFIRM*) if [ -e keep ]; then echo OK; else echo "ERR 83886179 not wanted"; fi ;;
            "OPTION strange") echo "ERR 83886254 unknown" ;;
            *) echo OK ;;
          esac
        done

        """.utf8))
    chmod(other, 0o700)
    try writeFile("\(store.folder)/gpg-agent.conf", Array("pinentry-program \(other)\n".utf8))
  }

  /// The pinentry that would run without Whorl.
  var other: String { "\(store.folder)/other" }

  /// What the person types into the other pinentry.
  func types(_ words: String...) throws {
    try writeFile("\(store.folder)/typed", Array(words.map { "\($0)\n" }.joined().utf8))
  }

  /// Has the person agree that Whorl keeps what they type.
  func agrees() throws { try writeFile("\(store.folder)/keep", []) }

  /// What the other pinentry was told since the last time.
  func log() throws -> [Substring] {
    let path = "\(store.folder)/log"
    defer { unlink(path) }
    return ((try? readFile(path)).map { String(decoding: $0, as: UTF8.self) } ?? "").split(separator: "\n")
  }

  /// Tells `whorl pinentry` these lines, and returns its answers to them without the greeting.
  func tell(_ lines: String, _ touches: [Touches.Touch] = []) async throws -> String {
    let result = try await Invocation(
      arguments: store.arguments(["pinentry"] + store.reader), input: Array(lines.utf8), environment: environment
    ).run(heard: Touches(socket: store.socket, touches).heard)
    let greeting = "OK Pleased to meet you\n"
    #expect(result.status == 0 && result.text.hasPrefix(greeting), "\(result.text)\(result.diagnostics)")
    return String(result.text.dropFirst(greeting.count))
  }

  /// Asks for the passphrase of the key.
  func ask(_ touches: Touches.Touch...) async throws -> String {
    try await tell(Self.asksForKey + "GETPIN\nBYE\n", touches)
  }

  /// The passphrase that the store keeps for the key; nil if there is none.
  func kept(_ grip: String = grip) async throws -> String? {
    let got = try await store.touched(["get", "gpg/\(grip)"], [.right])
    return got.status == 0 ? got.text : nil
  }

  static func with(_ body: (PinentryDesk) async throws -> Void) async throws {
    try await TestStore.enrolled { store in try await body(PinentryDesk(store)) }
  }

  static func gives(_ passphrase: String) -> String { "OK\nD \(passphrase)\nOK\nOK\n" }
}

@Suite("whorl pinentry")
struct PinentryTests {
  @Test("whorl pinentry answers each command as the protocol says, and ignores empty lines and comments")
  func commands() async throws {
    try await PinentryDesk.with { desk in
      let answers = try await desk.tell(
        "\n# hello\nNOP\noption grab\nOPTION\nSETDESC 50%25%0Aof it\nSETFROBNICATED 1\nfrobnicate\nGETINFO flavor\n"
          + "GETINFO world\n\(String(repeating: "x", count: 5_000))\nSETKEYINFO --clear\nRESET\nGETINFO version\r\nBYE\nNOP\n"
      )
      let unknown = "ERR 83886355 Unknown IPC command <Whorl>"
      #expect(
        answers.split(separator: "\n").map(String.init) == [
          "OK", "OK", "ERR 83886254 Unknown option <Whorl>", "OK", unknown, unknown, "D whorl", "OK",
          "ERR 83886360 IPC parameter error <Whorl>", "ERR 83886343 Line too long <Whorl>", "OK", "OK", "D 0.1.0", "OK",
          "OK",
        ])
      let help = try await desk.tell("HELP\nBYE\n")
      #expect(help.contains("# GETPIN\n") && help.contains("# SETKEYINFO\n") && help.hasSuffix("\nOK\nOK\n"))
      #expect(try desk.log().isEmpty)
    }
  }

  @Test("a touch releases the passphrase of the key, in lines that are escaped and not too long")
  func touch() async throws {
    try await PinentryDesk.with { desk in
      try await desk.store.set("gpg/\(PinentryDesk.grip)", "50% of ✓")
      #expect(try await desk.ask(.right) == PinentryDesk.gives("50%25 of ✓"))
      #expect(try desk.log().isEmpty)
      let long = String(repeating: "%", count: 700)
      try await desk.store.set("gpg/\(PinentryDesk.grip)", long, "--replace")
      let lines = try await desk.ask(.right).split(separator: "\n")
      #expect(lines.allSatisfy { $0.utf8.count <= 1_000 } && lines.count > 4)
      #expect(lines.filter { $0.hasPrefix("D ") }.map { $0.dropFirst(2) }.joined() == long.replacing("%", with: "%25"))
    }
  }

  @Test("a passphrase without a rule needs nobody, and the agent's key for ssh is the same key")
  func open() async throws {
    try await PinentryDesk.with { desk in
      try await desk.store.set("gpg/\(PinentryDesk.grip)", "free", "--access", "none")
      let lines = "SETKEYINFO s/\(PinentryDesk.grip.lowercased())\nGETPIN\nBYE\n"
      #expect(try await desk.tell(lines) == PinentryDesk.gives("free"))
    }
  }

  @Test("after a finger that is not known the other pinentry asks with the agent's texts, and nothing is offered")
  func wrongFinger() async throws {
    try await PinentryDesk.with { desk in
      try await desk.store.set("gpg/\(PinentryDesk.grip)", "kept", "--access", "any-finger")
      try desk.types("typed")
      try desk.agrees()
      let told = "OPTION ttyname=/dev/pts/7\nOPTION strange\nOPTION allow-external-password-cache\nSETDESC Please\n"
      let answers = try await desk.tell(
        told + PinentryDesk.asksForKey + "SETPROMPT Passphrase:\nGETPIN\nBYE\n", [.wrong, .wrong, .wrong])
      #expect(answers == "OK\nOK\nOK\nOK\nOK\nOK\nD typed\nOK\nOK\n")
      #expect(
        try desk.log() == [
          "OPTION ttyname=/dev/pts/7", "OPTION strange", "SETDESC Please", "SETPROMPT Passphrase:", "GETPIN",
        ], "it gets no key and no leave to keep the passphrase itself")
      #expect(try await desk.kept() == "kept")
    }
  }

  @Test("a lockout of fingers has the other pinentry ask at once")
  func lockout() async throws {
    try await PinentryDesk.with { desk in
      try await desk.store.set("gpg/\(PinentryDesk.grip)", "kept", "--access", "any-finger")
      _ = try await desk.ask(.wrong, .wrong, .wrong)
      _ = try await desk.ask(.wrong, .wrong)
      try desk.types("typed")
      #expect(try await desk.ask() == PinentryDesk.gives("typed"))
    }
  }

  @Test("Cancel in Whorl's notification is the agent's Cancel, and the other pinentry does not ask")
  func cancel() async throws {
    try await PrivateBus.with { bus in
      let desktop = try await DesktopStandIn(on: bus)
      defer { desktop.close() }
      try await PinentryDesk.with { desk in
        var desk = desk
        desk.environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address
        try await desk.store.set("gpg/\(PinentryDesk.grip)", "kept")
        let asking = desk
        async let answer = asking.tell(
          "SETDESC unlock the key:%0A\"Ann <ann@test>\"\n" + PinentryDesk.asksForKey + "GETPIN\nBYE\n")
        let shown = try await desktop.first()
        #expect(shown.text.contains("use “gpg/\(PinentryDesk.grip)”, for: GnuPG: Ann"), "\(shown.text)")
        desktop.choose("cancel", of: shown.number)
        #expect(try await answer == "OK\nOK\nERR 83886179 Operation cancelled <Whorl>\nOK\n")
        #expect(try desk.log().isEmpty)
      }
    }
  }

  @Test("where nobody can be asked for a finger, or the store is closed or missing, the other pinentry asks")
  func nobody() async throws {
    try await PinentryDesk.with { desk in
      var desk = desk
      try await desk.store.set("gpg/\(PinentryDesk.grip)", "kept")
      desk.environment["DISPLAY"] = nil
      try desk.types("one", "two", "three")
      #expect(try await desk.ask() == PinentryDesk.gives("one"))
      try await makeWaitForPasscode(storeAt: desk.store.directory, passcode: TestStore.passcode)
      #expect(try await desk.ask() == PinentryDesk.gives("two"))
      rename(desk.store.directory, "\(desk.store.folder)/away")
      #expect(try await desk.ask() == PinentryDesk.gives("three"))
    }
  }

  @Test("what was typed is kept if the person agrees, needs a touch from then on, and is named by the key's user")
  func offer() async throws {
    try await PinentryDesk.with { desk in
      try desk.types("secret", "secret", "secret")
      #expect(try await desk.ask() == PinentryDesk.gives("secret"))
      #expect(try desk.log().map { $0.prefix(7) } == ["GETPIN", "SETTITL", "SETDESC", "SETOK K", "SETCANC", "CONFIRM"])
      #expect(try await desk.kept() == nil)
      try desk.agrees()
      // Without a farewell the agent may have refused it.
      _ = try await desk.tell(PinentryDesk.asksForKey + "GETPIN\n")
      #expect(try await desk.kept() == nil)
      _ = try await desk.tell("SETDESC \"Ann <ann@test>\"\n" + PinentryDesk.asksForKey + "GETPIN\nBYE\n")
      let listed = try await desk.store.whorl("ls", "gpg", "--json")
      #expect(listed.text.contains("presence") && listed.text.contains("GnuPG: Ann"), "\(listed.text)")
      #expect(try await desk.ask(.right) == PinentryDesk.gives("secret"))
    }
  }

  @Test("a mistyped passphrase is not kept, and the person is asked once whether to keep it")
  func mistyped() async throws {
    try await PinentryDesk.with { desk in
      try desk.types("mistake", "right")
      try desk.agrees()
      _ = try await desk.tell(PinentryDesk.asksForKey + "GETPIN\nSETERROR Bad Passphrase (try 2 of 3)\nGETPIN\nBYE\n")
      let log = try desk.log()
      #expect(log.count { $0 == "CONFIRM" } == 1)
      #expect(log.suffix(2) == ["SETERROR Bad Passphrase (try 2 of 3)", "GETPIN"])
      #expect(try await desk.kept() == "right")
    }
  }

  @Test("a kept passphrase that is wrong is given once, and the typed one takes its place with the same rule")
  func wrongKept() async throws {
    try await PinentryDesk.with { desk in
      try await desk.store.set("gpg/\(PinentryDesk.grip)", "old", "--access", "any-finger")
      try desk.types("new")
      let again = PinentryDesk.asksForKey + "GETPIN\nSETERROR Bad Passphrase\nGETPIN\nBYE\n"
      // The second touch would release it again.
      #expect(try await desk.tell(again, [.right, .right]) == "OK\nD old\nOK\nOK\nD new\nOK\nOK\n")
      #expect(try desk.log() == ["SETERROR Bad Passphrase", "GETPIN"], "nothing is asked about keeping it")
      #expect(try await desk.kept() == "new")
      let listed = try await desk.store.whorl("ls", "gpg", "--json")
      #expect(listed.text.contains("any-finger"), "\(listed.text)")
    }
  }

  @Test(
    "a kept passphrase that is wrong is forgotten if no right one is typed",
    arguments: ["BYE\n", "", "SETERROR Bad\nGETPIN\nBYE\n"])
  func forgotten(_ end: String) async throws {
    try await PinentryDesk.with { desk in
      try await desk.store.set("gpg/\(PinentryDesk.grip)", "old")
      if end.hasPrefix("SETERROR") { try desk.types("one", "two") }
      _ = try await desk.tell(PinentryDesk.asksForKey + "GETPIN\nSETERROR Bad\nGETPIN\n" + end, [.right])
      #expect(try await desk.kept() == nil)
    }
  }

  @Test("a new passphrase, and one that belongs to no key, is not looked up, offered or kept")
  func unnamed() async throws {
    try await PinentryDesk.with { desk in
      try await desk.store.set("gpg/\(PinentryDesk.grip)", "kept", "--access", "none")
      try desk.types("a", "b", "c", "d")
      try desk.agrees()
      let grip = PinentryDesk.grip
      let infos = ["--clear", "u/\(grip)", "n/\(grip.dropLast())", "n/../\(grip)"]
      for (info, typed) in zip(infos, ["a", "b", "c", "d"]) {
        #expect(try await desk.tell("SETKEYINFO \(info)\nGETPIN\nBYE\n") == PinentryDesk.gives(typed))
      }
      try desk.types("fresh")
      let fresh = try await desk.tell(PinentryDesk.asksForKey + "SETREPEAT again\nGETPIN\nBYE\n")
      #expect(fresh == "OK\nOK\nD fresh\nOK\nOK\n")
      #expect(try desk.log().allSatisfy { $0 == "GETPIN" || $0 == "SETREPEAT again" })
      #expect(try await desk.kept() == "kept")
    }
  }

  @Test("each key has a passphrase of its own, and the agent can have one forgotten")
  func twoKeys() async throws {
    try await PinentryDesk.with { desk in
      let second = String(PinentryDesk.grip.reversed())
      try await desk.store.set("gpg/\(PinentryDesk.grip)", "first", "--access", "none")
      try await desk.store.set("gpg/\(second)", "second", "--access", "none")
      let both = PinentryDesk.asksForKey + "GETPIN\nSETKEYINFO n/\(second)\nGETPIN\nBYE\n"
      #expect(try await desk.tell(both) == "OK\nD first\nOK\nOK\nD second\nOK\nOK\n")
      #expect(try await desk.tell("CLEARPASSPHRASE n/\(second)\nBYE\n") == "OK\nOK\n")
      #expect(try await desk.kept(second) == nil)
      #expect(try await desk.kept() == "first")
    }
  }

  @Test("the other pinentry answers CONFIRM and MESSAGE, and is not run where another user could have put it")
  func others() async throws {
    try await PinentryDesk.with { desk in
      try desk.agrees()
      let answers = try await desk.tell("SETDESC Sure?\nCONFIRM --one-button\nMESSAGE\nBYE\n")
      #expect(answers == "OK\nOK\nOK\nOK\n")
      #expect(try desk.log() == ["SETDESC Sure?", "CONFIRM --one-button", "SETDESC Sure?", "MESSAGE"])
      chmod(desk.other, 0o777)
      #expect(try await desk.tell("GETPIN\nBYE\n") == "ERR 83886166 No pinentry <Whorl>\nOK\n")
      #expect(try desk.log().isEmpty)
    }
  }

  @Test("without a desktop the prompt is on the terminal of the job in which gpg runs, also where gpg itself has none")
  func terminal() async throws {
    try await PinentryDesk.with { desk in
      var desk = desk
      desk.environment["DISPLAY"] = nil
      try await desk.store.set("gpg/\(PinentryDesk.grip)", "kept")
      let script = "sleep 1000 </dev/null >/dev/null 2>&1 & echo pid $!.; wait"
      let terminal = try PseudoTerminal(["-c", script], program: "/bin/sh")
      try await terminal.waits(for: ".")
      let gpg = try #require(pid_t(terminal.shown.split(separator: ".")[0].drop { !$0.isNumber }))
      let lines = "OPTION owner=\(gpg)/0 machine\n" + PinentryDesk.asksForKey + "GETPIN\nBYE\n"
      #expect(try await desk.tell(lines, [.right]) == "OK\nOK\nD kept\nOK\nOK\n")
      #expect(terminal.shown.contains("use “gpg/\(PinentryDesk.grip)”"), "\(terminal.shown)")
      kill(gpg, SIGTERM)
      terminal.signal(SIGTERM)
      _ = try await terminal.status()
    }
  }
}
