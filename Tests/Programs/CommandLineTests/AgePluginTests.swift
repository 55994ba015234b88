import Glibc
import ProgramDriver
import Testing
import VaultDriver
import VirtualFinger

/// A key for age in a store, and a program that speaks age's plugin protocol with Whorl.
struct AgeDesk: Sendable {
  static let fileKey = "c2l4dGVlbiBieXRlcyBpdA"

  let store: TestStore
  let identity: String
  let publicKey: String
  /// A display on which nobody can be reached: prompts go to standard error alone.
  var environment = ["DISPLAY": ":7"]

  /// Makes a key.
  static func key(
    _ name: String, in store: TestStore, _ options: [String] = []
  ) async throws -> (identity: String, publicKey: String) {
    let made = try await Invocation(arguments: store.arguments(["age", "add", name] + options)).run()
    try made.mustSucceed()
    let lines = made.text.split(separator: "\n").map(String.init)
    let identity = try #require(lines.first { $0.hasPrefix("AGE-PLUGIN-WHORL-1") })
    return (identity, try #require(lines.first { $0.hasPrefix("# public key: ") }.map { String($0.dropFirst(14)) }))
  }

  /// Says these stanzas to `whorl age-plugin`, each a line and its body after "|".
  func say(
    _ machine: String, _ stanzas: [String], _ touches: [Touches.Touch] = []
  ) async throws -> Invocation.Result {
    let text = stanzas.map { stanza in
      let parts = stanza.split(separator: "|", omittingEmptySubsequences: false)
      return "-> \(parts[0])\n\(parts.count > 1 ? parts[1] : "")\n"
    }
    return try await Invocation(
      arguments: store.arguments(["age-plugin", "--age-plugin=\(machine)"] + store.reader),
      input: Array(text.joined().utf8), environment: environment
    ).run(heard: Touches(socket: store.socket, touches).heard)
  }

  /// What the plugin has said to the stanzas and ten times "ok", each command with its body in one line.
  func tell(
    _ machine: String, _ stanzas: [String], _ touches: [Touches.Touch] = [], answers: [String] = []
  ) async throws -> [String] {
    let result = try await say(
      machine, stanzas + ["done"] + answers + Array(repeating: "ok", count: 10), touches)
    #expect(result.status == 0, "\(result.diagnostics)")
    return Self.commands(result.text)
  }

  static func commands(_ text: String) -> [String] {
    text.split(separator: "\n").reduce(into: []) { commands, line in
      if line.hasPrefix("-> ") {
        commands.append(String(line.dropFirst(3)))
      } else {
        commands[commands.count - 1] += "|\(line)"
      }
    }
  }

  /// A recipient stanza for the key, as age sends it on, for the file of this number.
  func stanza(of file: Int, for identity: String? = nil) async throws -> String {
    let said = try await tell(
      "recipient-v1", ["add-identity \(identity ?? self.identity)", "wrap-file-key|\(Self.fileKey)"])
    #expect(said.count == 2 && said.last == "done")
    let words = try #require(said.first).split(separator: " ", maxSplits: 2)
    #expect(words[0] == "recipient-stanza" && words[1] == "0")
    return "recipient-stanza \(file) \(words[2])"
  }

  static func gives(_ file: Int) -> String { "file-key \(file)|\(fileKey)" }

  /// The text of an error.
  static func text(of command: String) throws -> String {
    // Each line of the body follows a "|".
    let body = command.split(separator: "|").dropFirst().joined()
    let padded = body + String(repeating: "=", count: (4 - body.count % 4) % 4)
    return String(decoding: try #require(base64(padded)), as: UTF8.self)
  }

  private static func base64(_ text: String) -> [UInt8]? {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var (bytes, pending, bits): ([UInt8], UInt32, UInt32) = ([], 0, 0)
    for character in text.utf8 where character != UInt8(ascii: "=") {
      guard let value = alphabet.firstIndex(of: character) else { return nil }
      (pending, bits) = (pending << 6 | UInt32(value), bits + 6)
      guard bits >= 8 else { continue }
      bits -= 8
      bytes.append(UInt8(truncatingIfNeeded: pending >> bits))
    }
    return bytes
  }

  static func with(_ options: String..., body: (AgeDesk) async throws -> Void) async throws {
    try await TestStore.enrolled { store in
      let made = try await Self.key("work", in: store, options)
      try await body(AgeDesk(store: store, identity: made.identity, publicKey: made.publicKey))
    }
  }

  private init(store: TestStore, identity: String, publicKey: String) {
    (self.store, self.identity, self.publicKey) = (store, identity, publicKey)
  }
}

@Suite("whorl age-plugin")
struct AgePluginTests {
  private static let grease = ["grease-7f3 1 2|AAAA", "grease-0"]

  @Test(
    "age's plugin decrypts the key of a file after a touch that names the key, between commands that it does not know")
  func touch() async throws {
    try await AgeDesk.with { desk in
      let stanza = try await desk.stanza(of: 0)
      let said = try await desk.say(
        "identity-v1",
        Self.grease + ["add-identity \(desk.identity)"] + Self.grease
          + ["recipient-stanza 0 ssh-ed25519 AAAA BBBB|AAAA", stanza, "recipient-stanza 0 joint x", "done", "ok"],
        [.right])
      #expect(said.status == 0 && AgeDesk.commands(said.text) == [AgeDesk.gives(0), "done"], "\(said.diagnostics)")
      #expect(said.diagnostics.contains("use “work”, for: decrypt a file with the age key work"), "\(said.diagnostics)")
    }
  }

  @Test("age's plugin needs nobody for a key without a rule, and says nothing for a file of another key")
  func withoutRule() async throws {
    try await AgeDesk.with("--access", "none") { desk in
      let other = try await AgeDesk.key("other", in: desk.store, ["--access", "none"])
      let stanzas = [try await desk.stanza(of: 0, for: other.identity), try await desk.stanza(of: 1)]
      let said = try await desk.tell("identity-v1", ["add-identity \(desk.identity)"] + stanzas, answers: ["fail"])
      #expect(said.first?.hasPrefix("confirm ") == true && said.dropFirst() == [AgeDesk.gives(1), "done"], "\(said)")
      let both = ["add-identity \(desk.identity)", "add-identity \(other.identity)"]
      #expect(try await desk.tell("identity-v1", both + [stanzas[0]]) == [AgeDesk.gives(0), "done"])
    }
  }

  @Test("several files need a touch each, and one touch for all if the person says so")
  func severalFiles() async throws {
    try await AgeDesk.with { desk in
      let files = [try await desk.stanza(of: 0), try await desk.stanza(of: 3)]
      let request = ["add-identity \(desk.identity)"] + files
      for (answer, touches) in [("ok yes", 1), ("ok no", 2), ("fail", 2), ("unsupported", 2), ("ok", 2)] {
        let said = try await desk.say(
          "identity-v1", request + ["done", answer] + Array(repeating: "ok", count: 5),
          Array(repeating: .right, count: 3))
        #expect(AgeDesk.commands(said.text).dropFirst() == [AgeDesk.gives(0), AgeDesk.gives(3), "done"], "\(said)")
        let asked = said.diagnostics.split(separator: "\n").count {
          $0.contains(" the fingerprint reader") || $0.contains(" the reader (")
        }
        #expect(asked == touches, "\(answer): \(said.diagnostics)")
      }
    }
  }

  @Test("a finger that is not known gives age an error with the reason, and no file key")
  func wrongFinger() async throws {
    try await AgeDesk.with("--access", "any-finger") { desk in
      let asked = ["add-identity \(desk.identity)", try await desk.stanza(of: 0)]
      let said = try await desk.tell("identity-v1", asked, [.wrong, .wrong, .wrong])
      #expect(said.count == 2 && said[0].hasPrefix("error identity 0|") && said[1] == "done")
      let noMatch = try AgeDesk.text(of: said[0])
      #expect(noMatch.contains("match"), "\(noMatch)")
      // A lockout of fingers.
      _ = try await desk.tell("identity-v1", asked, [.wrong, .wrong])
      let locked = try await desk.tell("identity-v1", asked)
      #expect(locked.count == 2 && locked[0].hasPrefix("error identity 0|"))
      let lockout = try AgeDesk.text(of: locked[0])
      #expect(lockout.contains("locked"), "\(lockout)")
    }
  }

  @Test("where nobody can see a prompt, age's plugin asks for no touch and says why")
  func nobody() async throws {
    try await AgeDesk.with { desk in
      var desk = desk
      let asked = ["add-identity \(desk.identity)", try await desk.stanza(of: 0)]
      desk.environment = [:]
      let said = try await desk.tell("identity-v1", asked, [.right])
      #expect(said.count == 2 && said[0].hasPrefix("error identity 0|") && said[1] == "done", "\(said)")
      // Nor can anybody type the passcode that opens the store.
      try await makeWaitForPasscode(storeAt: desk.store.directory, passcode: TestStore.passcode)
      let closed = try await desk.tell("identity-v1", asked, [.right])
      #expect(closed.count == 2 && closed[0].hasPrefix("error ") && closed[1] == "done", "\(closed)")
    }
  }

  @Test("a key that the store has no more is told to the person, and a missing store is an error")
  func missing() async throws {
    try await AgeDesk.with { desk in
      let asked = ["add-identity \(desk.identity)", try await desk.stanza(of: 0)]
      try await desk.store.whorl("age", "rm", "work", "--yes").mustSucceed()
      let said = try await desk.tell("identity-v1", asked)
      #expect(said.count == 2 && said[0].hasPrefix("msg|") && said[1] == "done")
      #expect(try AgeDesk.text(of: said[0]).contains(desk.publicKey))
      rename(desk.store.directory, "\(desk.store.folder)/away")
      let without = try await desk.tell("identity-v1", asked)
      #expect(without.count == 2 && without[0].hasPrefix("error internal|") && without[1] == "done")
    }
  }

  @Test("an identity that is not Whorl's, and a stanza of a wrong form, open nothing and are named to age")
  func wrongIdentity() async throws {
    try await AgeDesk.with("--access", "none") { desk in
      let stanza = try await desk.stanza(of: 1)
      let own = "add-identity \(desk.identity)"
      for wrong in [
        String(desk.identity.dropLast()) + (desk.identity.last == "Q" ? "P" : "Q"), desk.identity.lowercased(),
        "AGE-PLUGIN-WHORL-1", "x",
      ] {
        let said = try await desk.tell("identity-v1", [own, "add-identity \(wrong)", stanza])
        #expect(said.count == 2 && said[0].hasPrefix("error identity 1|") && said[1] == "done", "\(wrong): \(said)")
      }
      let share = String(repeating: "A", count: 43)
      for wrong in ["X25519|AAAA", "X25519 AAAA|\(share)", "X25519 \(share) x|\(share)", "X25519 \(share)|AAAA"] {
        let said = try await desk.tell(
          "identity-v1",
          [
            own, "recipient-stanza 0 other|AAAA", "recipient-stanza 0 \(wrong)", stanza.replacing(" 1 ", with: " 0 "),
            stanza,
          ])
        #expect(said.count == 3 && said[0].hasPrefix("error stanza 0 1|"), "\(wrong): \(said)")
        #expect(said.dropFirst() == [AgeDesk.gives(1), "done"])
      }
      // Of small order.
      #expect(try await desk.tell("identity-v1", [own, "recipient-stanza 0 X25519 \(share)|\(share)"]) == ["done"])
    }
  }

  @Test("what breaks age's plugin protocol, or is too much, ends the plugin before anybody is asked")
  func broken() async throws {
    try await AgeDesk.with("--access", "none") { desk in
      let own = "add-identity \(desk.identity)"
      let stanza = try await desk.stanza(of: 0)
      let share = String(repeating: "A", count: 43)
      let broken: [[String]] = [
        [own, stanza], [own, "done x"], ["add-identity", "done"], ["add-identity a b", "done"], ["done  "],
        [own, "recipient-stanza 0", "done"], [own, "recipient-stanza -1 X25519 \(share)", "done"],
        [own, "recipient-stanza 99999999999999999999 X25519 \(share)", "done"],
        [own, stanza.replacing(" 0 ", with: " 1 "), stanza, "done"],
        [own, "grease|A", "done"], [own, "grease|AAB", "done"], [own, "grease|AA==", "done"],
        [own, "grease|-_AA", "done"],
        [own, "grease|\(String(repeating: "A", count: 65))", "done"], [own, "gr\u{7}ase", "done"],
        [own, "grease \(String(repeating: "x", count: 17_000))", "done"],
        Array(repeating: own, count: 65) + [stanza, "done"],
        [own] + (0...256).map { "recipient-stanza \($0) other" } + ["done"],
        [own] + Array(repeating: stanza, count: 1_025) + ["done"],
      ]
      for stanzas in broken {
        let said = try await desk.say("identity-v1", stanzas + ["ok", "ok", "ok"])
        #expect(said.status == 65 && said.text.isEmpty, "\(stanzas.prefix(3)): \(said.status) \(said.text)")
        #expect(said.failure.contains("age's plugin protocol"), "\(said.failure)")
      }
      let endless = try await desk.say(
        "identity-v1", [own] + Array(repeating: "grease \(String(repeating: "x", count: 16_000))", count: 300))
      #expect(endless.status == 65)
      for machine in ["identity-v2", "", "recipient"] {
        #expect(try await desk.say(machine, ["done"]).status == 64)
      }
      #expect(try await desk.store.whorl("age-plugin").status == 64)
    }
  }

  @Test("age's plugin encrypts keys of files to identities without a store or a touch, and refuses other recipients")
  func wrapping() async throws {
    try await AgeDesk.with { desk in
      let other = try await AgeDesk.key("other", in: desk.store)
      rename(desk.store.directory, "\(desk.store.folder)/away")
      let said = try await desk.tell(
        "recipient-v1",
        Self.grease + ["add-identity \(desk.identity)", "wrap-file-key|\(AgeDesk.fileKey)", "extension-labels"]
          + ["add-identity \(other.identity)", "wrap-file-key|\(AgeDesk.fileKey)"])
      #expect(said.count == 5 && said.last == "done")
      #expect(said.dropLast().map { String($0.prefix(25)) } == [0, 0, 1, 1].map { "recipient-stanza \($0) X25519" })
      #expect(Set(said).count == 5)
      let refused = try await desk.tell(
        "recipient-v1",
        [
          "add-recipient age1whorl1x", "add-identity \(desk.identity)", "add-identity x",
          "wrap-file-key|\(AgeDesk.fileKey)",
        ])
      #expect(refused.count == 3 && refused[0].hasPrefix("error recipient 0|"), "\(refused)")
      #expect(refused[1].hasPrefix("error identity 1|") && refused[2] == "done")
      for broken in [
        ["wrap-file-key|AAAA", "done"], ["wrap-file-key x|\(AgeDesk.fileKey)", "done"], ["add-recipient", "done"],
      ] {
        #expect(try await desk.say("recipient-v1", broken).status == 65)
      }
    }
  }

  @Test("keys for age are made, listed, shown and removed by name, and a name is used once")
  func commands() async throws {
    try await AgeDesk.with { desk in
      let again = try await desk.store.whorl("age", "add", "work")
      #expect(again.status == 73 && again.text.isEmpty)
      #expect(try await desk.store.whorl("age", "add", "two\nlines").status == 64)
      #expect(try await desk.store.whorl("age", "public", "work").text == "\(desk.publicKey)\n")
      let identity = try await desk.store.whorl("age", "identity").text
      #expect(identity.hasSuffix("# public key: \(desk.publicKey)\n\(desk.identity)\n"))
      #expect(try await desk.store.whorl("age", "list").text == "work\tpresence\tliving\t\(desk.publicKey)\n")
      #expect(try await desk.store.whorl("age", "list", "--json").text.contains(desk.publicKey))
      #expect(try await desk.store.whorl("age", "public", "nobody").status == 66)
      #expect(try await desk.store.whorl("age", "rm", "work").status == 77, "nobody can be asked")
      try await desk.store.whorl("age", "rm", desk.publicKey, "--yes").mustSucceed()
      #expect(try await desk.store.whorl("age", "list").text.isEmpty)
      #expect(try await desk.store.whorl("ssh", "add", "--type", "x25519").status == 64)
    }
  }
}
