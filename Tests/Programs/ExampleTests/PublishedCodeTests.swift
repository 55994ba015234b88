import Primitives
import ProgramDriver
import Testing
import VirtualFinger

/// `published-code` is a program made of code from articles about Keychain Services and LocalAuthentication. A
/// simulated person uses it on a pseudoterminal.
@Suite("Code from published articles")
struct PublishedCodeTests {
  /// Runs one function of the program, which must succeed. Returns the terminal's output.
  ///
  /// - Parameters:
  ///   - fingers: the touches, each made when one is asked for.
  ///   - unanswered: the number of wanted touches that are not made.
  ///   - keys: what is typed after the touches.
  private func run(
    _ word: String, in store: TestStore, _ fingers: SyntheticFinger..., unanswered: Int = 0,
    then keys: (PseudoTerminal) async throws -> Void = { _ in }
  ) async throws -> String {
    let home = "\(store.folder)/home"
    if mkdirPrivate(home), mkdirPrivate("\(home)/whorl") {
      let configuration = #"{"store": "\#(store.directory)", "reader": "virtual-image:\#(store.socket)"}"#
      try writeFile("\(home)/whorl/config.json", Array(configuration.utf8))
    }
    let terminal = try PseudoTerminal([word], program: "published-code", environment: ["XDG_CONFIG_HOME": home])
    let reader = VirtualImageReader(socket: store.socket, patience: .seconds(10))
    for (index, finger) in fingers.enumerated() {
      try await terminal.waits(for: "the reader (virtual reader)", count: index + 1)
      // The line is printed while the scan is being armed. The driver is ready a moment later.
      try await Task.sleep(for: .milliseconds(300))
      try await onThread { try reader.press(finger.impression(.random(in: 0..<1 << 40))) }
    }
    try await keys(terminal)
    let status = try await terminal.status(seconds: 60)
    #expect(status == 0, "\(terminal.shown)")
    #expect(
      terminal.shown.ranges(of: "the reader (virtual reader)").count == fingers.count + unanswered, "\(terminal.shown)")
    return terminal.shown
  }

  @Test("a password wrapper from a published article saves, updates, reads, lists and deletes without prompts")
  func wrapper() async throws {
    try await TestStore.enrolled { store in
      let shown = try await run("wrapper", in: store)
      #expect(
        shown.split(separator: "\r\n") == [
          "saved: first", "saved again: second", "keys: refresh token", "keys: refresh", "no password",
        ])
    }
  }

  @Test("an item behind biometry is read after the right finger, and not after three wrong ones: -25293")
  func reading() async throws {
    try await TestStore.enrolled { store in
      #expect(try await run("save-current-set", in: store).contains("saved: 0\r\n"))
      let right = try await run("read", in: store, Fingers.right)
      #expect(right.contains("exists: true\r\n"))
      #expect(right.contains("see where the treasure is"))
      #expect(right.contains("read: behind the mirror\r\n"))
      let wrong = try await run("read", in: store, Fingers.wrong, Fingers.wrong, Fingers.wrong)
      #expect(wrong.contains("read: authentication failed (-25293)\r\n"))
      #expect(!wrong.contains("mirror"))
    }
  }

  @Test("adding a finger invalidates an item of the current set of fingers: -25300, and saving it again works")
  func invalidation() async throws {
    try await TestStore.enrolled { store in
      _ = try await run("save-current-set", in: store)
      #expect(try await run("make-key", in: store).contains("made\r\n"))
      #expect(try await run("remember-fingers", in: store).contains("remembered\r\n"))
      #expect(try await run("check-fingers", in: store).contains("the fingers are the same\r\n"))
      try await store.enroll("left-thumb", .thumb).mustSucceed()
      #expect(try await run("check-fingers", in: store).contains("the fingers have changed: sign in again\r\n"))
      let gone = try await run("read", in: store)
      #expect(gone.contains("exists: false\r\n"))
      #expect(gone.contains("read: not found (-25300)\r\n"))
      #expect(try await run("use-key", in: store).contains("no key\r\n"))
      #expect(try await run("save-current-set", in: store).contains("saved: 0\r\n"))
      #expect(try await run("read", in: store, Fingers.thumb).contains("read: behind the mirror\r\n"))
    }
  }

  @Test("three wrong touches end an evaluation with -1, and five in a row lock biometry: -8, until the passcode")
  func lockout() async throws {
    try await TestStore.enrolled { store in
      let wrong = Fingers.wrong
      #expect(
        try await run("evaluate", in: store, wrong, wrong, wrong)
          .contains("the user failed to provide valid credentials (-1)\r\n"))
      #expect(try await run("evaluate", in: store, wrong, wrong).contains("too many failed attempts (-8)\r\n"))
      #expect(
        try await run("evaluate", in: store).contains("cannot evaluate: too many failed attempts (-8)\r\n"))
      let unlocked = try await run("evaluate-owner", in: store) { terminal in
        try await terminal.waits(for: "Passcode to access your notes: ")
        terminal.type("\(TestStore.passcode)\n")
      }
      #expect(unlocked.contains("authenticated successfully\r\n"))
      #expect(!unlocked.contains(TestStore.passcode))
      let right = try await run("evaluate", in: store, Fingers.right)
      #expect(right.contains("type: Touch ID\r\n"))
      #expect(right.contains("authenticated successfully\r\n"))
    }
  }

  @Test("an evaluation's fallback gives -3 for biometrics, and the passcode prompt for device owner authentication")
  func fallback() async throws {
    try await TestStore.enrolled { store in
      let chosen = try await run("evaluate", in: store, Fingers.wrong, unanswered: 1) { terminal in
        try await terminal.waits(for: "Use a password")
        terminal.type("\n")
      }
      #expect(chosen.contains("the user chose to use the fallback (-3)\r\n"))
      let owner = try await run("evaluate-owner", in: store, Fingers.wrong, Fingers.wrong, Fingers.wrong) { terminal in
        try await terminal.waits(for: "Passcode to access your notes: ")
        terminal.type("\(TestStore.passcode)\n")
      }
      #expect(owner.contains("authenticated successfully\r\n"))
    }
  }

  @Test("one touch is enough for an evaluation, another within the reuse time, and reads with the context")
  func reuse() async throws {
    try await TestStore.enrolled { store in
      _ = try await run("save-current-set", in: store)
      let shown = try await run("reuse", in: store, Fingers.right)
      #expect(shown.contains("evaluated\r\nevaluated again\r\n"))
      #expect(shown.contains("read: behind the mirror\r\nread again: behind the mirror\r\n"))
      #expect(shown.contains("read after invalidating: authentication failed (-25293)\r\n"))
    }
  }

  @Test("a secure-enclave key behind biometry signs and decrypts, each after a touch")
  func enclaveKey() async throws {
    try await TestStore.enrolled { store in
      #expect(try await run("make-key", in: store).contains("made\r\n"))
      let used = try await run("use-key", in: store, Fingers.right, Fingers.right)
      #expect(used.contains("signature: valid\r\n"))
      #expect(used.contains("decrypted: a message\r\n"))
    }
  }

  @Test("LARight code for a login, a token and a server's key does what Apple's pages say")
  func rights() async throws {
    try await TestStore.enrolled { store in
      let login = try await run("login", in: store, Fingers.right)
      #expect(login.contains("before: unknown\r\n"))
      #expect(login.contains("logged in: true, authorized\r\nlogged out: not authorized\r\n"))
      let refused = try await run("login", in: store, Fingers.wrong, Fingers.wrong, Fingers.wrong) { terminal in
        try await terminal.waits(for: "Passcode to access your sandcastles: ")
        terminal.type("\u{1B}")
      }
      #expect(refused.contains("authentication required: -2\r\n"))
      #expect(refused.contains("logged in: false, not authorized\r\n"))
      let token = try await run("token", in: store, Fingers.right, Fingers.right)
      #expect(token.contains("token: sand\r\n") && token.contains("token by completion: sand\r\n"))
      #expect(token.contains("no token without authorization\r\n"))
      let key = try await run("server-key", in: store, Fingers.right)
      #expect(key.contains("public key: 65 bytes\r\n"))
      #expect(key.contains("answered: true, and for the server: true\r\nanother challenge: false\r\nremoved\r\n"))
    }
  }

  @Test(
    "Esc and Ctrl-D at a prompt give -128 in the keychain, -2 in a context and a key", arguments: ["\u{1B}", "\u{4}"])
  func cancelling(key: String) async throws {
    try await TestStore.enrolled { store in
      func press(_ terminal: PseudoTerminal) async throws {
        try await terminal.waits(for: "Esc: cancel")
        try await terminal.becomes(echoing: false)
        terminal.type(key)
      }
      _ = try await run("save-current-set", in: store)
      _ = try await run("make-key", in: store)
      #expect(
        try await run("read", in: store, unanswered: 1, then: press).contains("read: cancelled by the user (-128)\r\n"))
      #expect(try await run("evaluate", in: store, unanswered: 1, then: press).contains("the user did cancel (-2)\r\n"))
      #expect(
        try await run("evaluate-owner", in: store, unanswered: 1, then: press).contains("the user did cancel (-2)\r\n"))
      #expect(
        try await run("use-key", in: store, unanswered: 1, then: press)
          .contains("not signed: com.apple.LocalAuthentication -2\r\n"))
    }
  }
}
