import Glibc
import ProgramDriver
import Testing
import VirtualFinger

/// The keys that cancel a call.
enum CancelKey: String, CaseIterable {
  case escape = "\u{1B}"
  case controlD = "\u{4}"
}

@Suite("Keys at the prompt of the command line")
struct CancelKeyTests {
  private func waitingForFinger(
    _ store: TestStore, _ item: String = "presence", _ options: String...
  ) async throws -> PseudoTerminal {
    let terminal = try PseudoTerminal(store.arguments(["get", item] + options + store.reader), output: "/dev/null")
    try await terminal.waits(for: "Esc: cancel)")
    try await terminal.becomes(echoing: false)
    return terminal
  }

  private func waitingForPasscode(_ store: TestStore) async throws -> PseudoTerminal {
    let terminal = try PseudoTerminal(store.arguments(["unlock"]))
    try await terminal.waits(for: "Passcode: ")
    try await terminal.becomes(echoing: false)
    return terminal
  }

  @Test(
    "Esc and Ctrl-D cancel the wait for a touch: status 77, LAError.userCancel, and the terminal is restored",
    arguments: CancelKey.allCases)
  func touch(key: CancelKey) async throws {
    try await TestStore.enrolled { store in
      for item in ["presence", "any-finger"] {
        let terminal = try await waitingForFinger(store, item, "--verbose")
        terminal.type(key.rawValue)
        #expect(try await terminal.status() == 77)
        #expect(terminal.shown.contains("cancelled: run it again"))
        #expect(terminal.shown.contains("LAError.userCancel, exit status 77"), "\(terminal.shown)")
        #expect(terminal.isAsFound)
      }
      #expect(try await store.whorl("status", "--json").text.contains(#""failures":0"#))
    }
  }

  @Test("Esc and Ctrl-D cancel a passcode prompt, also after some of the passcode", arguments: CancelKey.allCases)
  func passcode(key: CancelKey) async throws {
    try await TestStore.with { store in
      for typed in ["", "half a passcode"] {
        let terminal = try await waitingForPasscode(store)
        terminal.type(typed + key.rawValue)
        #expect(try await terminal.status() == 77)
        #expect(terminal.shown.contains("cancelled: run it again"))
        #expect(terminal.isAsFound)
      }
    }
  }

  @Test("arrow keys cancel neither a touch nor a passcode prompt, and are no part of the passcode")
  func arrows() async throws {
    try await TestStore.enrolled { store in
      let terminal = try await waitingForFinger(store)
      for arrow in ["\u{1B}[A", "\u{1B}OB", "\u{1B}[1;5C", "\u{1B}\u{1B}[D"] { terminal.type(arrow) }
      try await Task.sleep(for: .milliseconds(400))
      terminal.type("\n")
      try await terminal.waits(for: "Passcode: ")
      terminal.type("\u{1B}[A\(TestStore.passcode)\u{1B}[3~\n")
      #expect(try await terminal.status() == 0)
    }
  }

  @Test("text typed while a finger is awaited is neither shown nor used as an answer")
  func typedTooEarly() async throws {
    try await TestStore.enrolled { store in
      let terminal = try await waitingForFinger(store)
      terminal.type("too early")
      try await Task.sleep(for: .milliseconds(200))
      terminal.type("\nlate")
      try await terminal.waits(for: "Passcode: ")
      try await Task.sleep(for: .milliseconds(200))
      terminal.type("\(TestStore.passcode)\n")
      #expect(try await terminal.status() == 0)
      #expect(!terminal.shown.contains("early"))
      #expect(terminal.isAsFound)
    }
  }

  @Test("the passcode can be edited: Backspace, Ctrl-W, Ctrl-U, and Ctrl-V for a literal byte")
  func editing() async throws {
    try await TestStore.with { store in
      let right = TestStore.passcode
      for typed in ["\(right)é\u{7F}", "\(right)x\u{8}", "all wrong\u{15}\(right)", "correct hearse\u{17}horse"] {
        let terminal = try await waitingForPasscode(store)
        terminal.type("\(typed)\n")
        #expect(try await terminal.status() == 0, "\(typed.debugDescription)")
      }
      let literal = try await waitingForPasscode(store)
      literal.type("\u{16}\u{1B}\u{15}\(right)\n")
      #expect(try await literal.status() == 0)
    }
  }

  @Test("a signal that ends whorl at a prompt restores the terminal", arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
  func ended(signal: Int32) async throws {
    try await TestStore.enrolled { store in
      for terminal in [try await waitingForFinger(store), try await waitingForPasscode(store)] {
        terminal.signal(signal)
        #expect(try await terminal.endingSignal() == signal)
        #expect(terminal.isAsFound)
      }
    }
  }
}

@Suite("Keys at the prompt of the library")
struct LibraryCancelKeyTests {
  /// A program over the library on a terminal, with this store and its virtual reader.
  private func start(_ program: String, _ arguments: [String], _ store: TestStore) throws -> PseudoTerminal {
    let configuration = "\(store.folder)/configuration"
    if access(configuration, F_OK) != 0 {
      try #require(mkdirPrivate(configuration) && mkdirPrivate("\(configuration)/whorl"))
      let text =
        #"{"store":"\#(store.directory)","reader":"virtual-image:\#(store.socket)","readerProgram":"\#(try Programs.path("whorl-reader"))","vaultProgram":"\#(try Programs.path("whorld"))"}"#
      try writeFile("\(configuration)/whorl/config.json", Array(text.utf8))
    }
    return try PseudoTerminal(
      arguments, program: program, environment: ["XDG_CONFIG_HOME": configuration, "SWIFT_BACKTRACE": "enable=no"])
  }

  private func waitingForFinger(_ store: TestStore) async throws -> PseudoTerminal {
    let terminal = try start("sign-in", [], store)
    try await terminal.waits(for: "the reader (virtual reader) to sign in to your account")
    try await terminal.becomes(echoing: false)
    return terminal
  }

  @Test(
    "Esc and Ctrl-D at the touch are LAError.userCancel, and the program's own title for Cancel is shown",
    arguments: CancelKey.allCases)
  func evaluation(key: CancelKey) async throws {
    try await TestStore.enrolled { store in
      let terminal = try await waitingForFinger(store)
      #expect(terminal.shown.contains("(Esc: Not now)"))
      terminal.type(key.rawValue)
      #expect(try await terminal.status() == 1)
      #expect(terminal.shown.contains("cancelled\r\nsigned out"))
      #expect(terminal.isAsFound)
    }
  }

  @Test("Esc and Ctrl-D at the passcode are LAError.userCancel", arguments: CancelKey.allCases)
  func passcode(key: CancelKey) async throws {
    // No finger is enrolled, so the device owner's policy asks for the passcode.
    try await TestStore.with { store in
      let terminal = try start("sign-in", [], store)
      try await terminal.waits(for: "Passcode to sign in to your account: ")
      try await terminal.becomes(echoing: false)
      terminal.type("not all of i" + key.rawValue)
      #expect(try await terminal.status() == 1)
      #expect(terminal.shown.contains("cancelled\r\nsigned out"))
      #expect(!terminal.shown.contains("not all"))
      #expect(terminal.isAsFound)
    }
  }

  @Test("Esc and Ctrl-D while a secret is read are errSecUserCanceled", arguments: CancelKey.allCases)
  func reading(key: CancelKey) async throws {
    try await TestStore.enrolled { store in
      let added = try start("bound-secret", ["add"], store)
      #expect(try await added.status() == 0)
      let terminal = try start("bound-secret", ["read"], store)
      try await terminal.waits(for: "(Esc: cancel)")
      try await terminal.becomes(echoing: false)
      terminal.type(key.rawValue)
      #expect(try await terminal.status() == 0)
      #expect(terminal.shown.contains("read without a context: cancelled"))
      #expect(terminal.isAsFound)
    }
  }

  @Test(
    "a signal that ends a program at a prompt of the library restores the terminal",
    arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGABRT, SIGSEGV])
  func ended(signal: Int32) async throws {
    try await TestStore.enrolled { store in
      let terminal = try await waitingForFinger(store)
      if signal == SIGINT { terminal.type("\u{3}") } else { terminal.signal(signal) }
      #expect(try await terminal.status() == 128 + signal)
      #expect(terminal.isAsFound)
    }
  }

  @Test("Ctrl-Z at a prompt of the library restores the terminal, and the prompt continues afterwards")
  func stopped() async throws {
    try await TestStore.enrolled { store in
      // A shell with job control: a key can stop a program only if its parent is in another process group.
      let program = try Programs.path("sign-in")
      let terminal = try start("/bin/sh", ["-mc", "'\(program)'; echo halted; read line; fg"], store)
      try await terminal.waits(for: "(Esc: Not now)")
      try await terminal.becomes(echoing: false)
      terminal.type("\u{1A}")
      try await terminal.waits(for: "halted")
      #expect(terminal.isAsFound)
      terminal.type("\n")
      try await terminal.becomes(echoing: false)
      terminal.type(CancelKey.escape.rawValue)
      try await terminal.waits(for: "signed out")
      #expect(terminal.isAsFound)
    }
  }
}
