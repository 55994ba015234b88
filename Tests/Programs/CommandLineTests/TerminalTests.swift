import Glibc
import ProgramDriver
import Testing

@Suite("At a terminal")
struct TerminalTests {
  @Test("init at a terminal asks for the passcode twice without echo, shows the recovery key, and restores the echo")
  func initialise() async throws {
    try await withFolder { folder in
      let terminal = try PseudoTerminal(["init", "--store", "\(folder)/store"])
      try await terminal.waits(for: "New passcode: ")
      #expect(!terminal.echoes)
      terminal.type("one passcode\n")
      try await terminal.waits(for: "New passcode, again: ")
      terminal.type("another\n")
      try await terminal.waits(for: "They differ")
      try await terminal.waits(for: "New passcode: ", count: 2)
      terminal.type("one passcode\n")
      try await terminal.waits(for: "New passcode, again: ", count: 2)
      terminal.type("one passcode\n")
      #expect(try await terminal.status() == 0)
      #expect(terminal.shown.contains("The recovery key, shown this once"))
      #expect(!terminal.shown.contains("one passcode"))
      #expect(terminal.echoes)
    }
  }

  @Test("whorl set at a terminal asks for the secret twice without echo, and get prints a newline after it")
  func typed() async throws {
    try await TestStore.with { store in
      let set = try PseudoTerminal(store.arguments(["set", "a", "--access", "none"]))
      try await set.waits(for: "New secret of a: ")
      set.type("typed secret\n")
      try await set.waits(for: "again: ")
      set.type("typed secret\n")
      #expect(try await set.status() == 0)
      #expect(!set.shown.contains("typed secret"))
      let get = try PseudoTerminal(store.arguments(["get", "a"]))
      #expect(try await get.status() == 0)
      #expect(get.shown == "typed secret\r\n")
    }
  }

  @Test("the passcode is asked for at the terminal if no finger can be used, at most three times")
  func passcode() async throws {
    try await TestStore.with { store in
      try await store.set("a", "secret")
      let right = try PseudoTerminal(store.arguments(["get", "a"]), output: "/dev/null")
      try await right.waits(for: "Passcode: ")
      #expect(right.shown.contains("No fingerprint reader."))
      right.type("\(TestStore.passcode)\n")
      #expect(try await right.status() == 0)
      let wrong = try PseudoTerminal(store.arguments(["get", "a"]), output: "/dev/null")
      for attempt in 1...3 {
        try await wrong.waits(for: "Passcode: ", count: attempt)
        wrong.type("wrong \(attempt)\n")
      }
      #expect(try await wrong.status() == 77)
    }
  }

  @Test("Ctrl-C at a hidden prompt ends the command by that signal, and restores the echo")
  func interrupted() async throws {
    try await TestStore.with { store in
      try await store.set("p", "x")
      for arguments in [["init", "--store", "\(store.folder)/new"], store.arguments(["unlock"])] {
        let terminal = try PseudoTerminal(arguments)
        try await terminal.waits(for: "asscode: ")
        #expect(!terminal.echoes)
        let start = ContinuousClock.now
        terminal.type("\u{3}")
        #expect(try await terminal.endingSignal() == SIGINT)
        #expect(ContinuousClock.now - start < .seconds(10))
        #expect(terminal.echoes)
        #expect(terminal.shown.contains("cancelled: run it again"))
      }
    }
  }

  @Test("SIGTSTP at a passcode prompt restores the echo, and typing is hidden again after SIGCONT")
  func stopped() async throws {
    try await TestStore.with { store in
      let terminal = try PseudoTerminal(store.arguments(["unlock"]))
      try await terminal.waits(for: "Passcode: ")
      terminal.signal(SIGTSTP)
      try await terminal.becomes(echoing: true)
      terminal.signal(SIGCONT)
      try await terminal.becomes(echoing: false)
      terminal.type("\(TestStore.passcode)\n")
      #expect(try await terminal.status() == 0)
    }
  }

  @Test("whorl passcode --remove at a terminal lists the items that it destroys, and needs the word delete")
  func confirmation() async throws {
    try await TestStore.with { store in
      try await store.set("s", "x", "--access", "none", "--accessible", "passcode-set")
      let no = try PseudoTerminal(store.arguments(["passcode", "--remove"]))
      try await no.waits(for: "Enter keeps it: ")
      #expect(no.shown.contains("  s\r\n"))
      no.type("y\n")
      #expect(try await no.status() == 77)
      #expect(try await store.whorl("get", "s").text == "x")
      for (key, shown) in [("\u{3}", "^C\r\n"), ("\u{4}", "\r\n")] {
        let left = try PseudoTerminal(store.arguments(["passcode", "--remove"]))
        try await left.waits(for: "Enter keeps it: ")
        left.type(key)
        #expect(try await left.status() == (key == "\u{3}" ? 128 + SIGINT : 77))
        let words = "Enter keeps it: \(shown)whorl: passcode: cancelled"
        #expect(left.shown.contains(words), "\(left.shown.debugDescription)")
      }
      let yes = try PseudoTerminal(store.arguments(["passcode", "--remove"]))
      try await yes.waits(for: "Enter keeps it: ")
      yes.type("delete\n")
      try await yes.waits(for: "Passcode: ")
      yes.type("\(TestStore.passcode)\n")
      #expect(try await yes.status() == 0)
      #expect(yes.shown.contains("Lost: s"))
    }
  }

  @Test("whorl ls at a terminal prints a table with a head")
  func table() async throws {
    try await TestStore.with { store in
      try await store.set("a/b", "x", "--access", "none")
      let terminal = try PseudoTerminal(store.arguments(["ls"]))
      #expect(try await terminal.status() == 0)
      #expect(terminal.shown.hasPrefix("NAME  KIND      GROUP  NEEDS    OPEN"), "\(terminal.shown)")
      #expect(terminal.shown.contains("a/b   password  whorl  nothing  while unlocked"), "\(terminal.shown)")
      let verbose = try PseudoTerminal(store.arguments(["ls", "--verbose"]))
      #expect(try await verbose.status() == 0)
      #expect(verbose.shown.hasPrefix("NAME  CLASS             GROUP  ACCESS  ACCESSIBLE"))
      #expect(verbose.shown.contains("a/b   generic-password  whorl  none    when-unlocked"))
    }
  }
}
