import FoundationEssentials
import Glibc
import ProgramDriver
import Synchronization
import Testing

@Suite("passkey show, export and import")
struct PasskeyMovingTests {
  private static let p256 =
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgowqMmqmbrwqUvdors5M_NaohCSI-59y7Vmbtet7nGCKhRANCAASU7X1Z66XU2gYzuQEE1Tdw0AXtg-_oDDBHpjOKQe0GNpRxMtaMUdzxe52hZBSuslUoY4mtj9C1a7KZk5a6ZD-7"
  private static let ed25519 = "MC4CAQAwBQYDK2VwBCIEIG36EZkFL7Wb7TMyhIC7rmUqOiAeND6UPvaEMCZWbRqp"
  private static let hmacKey = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"

  private static func passkey(
    _ id: String, _ site: String, _ key: String, user: String = "alice", more: String = ""
  ) -> String {
    #"{"id":"AQ","title":"\#(site)","credentials":[{"type":"passkey","credentialId":"\#(id)","rpId":"\#(site)","#
      + #""username":"\#(user)","userDisplayName":"Alice Müller","userHandle":"BAU","key":"\#(key)"\#(more)}]}"#
  }

  private static func exchange(_ items: String...) -> String {
    #"{"version":{"major":1,"minor":0},"exporterRpId":"o.example","exporterDisplayName":"Other","timestamp":1,"#
      + #""accounts":[{"id":"AA","username":"","email":"","collections":[],"items":[\#(items.joined(separator: ","))]}]}"#
  }

  /// A file with a P-256 passkey of example.com and an Ed25519 one of example.org.
  static let two = exchange(
    passkey("AQID", "example.com", p256),
    passkey(
      "BAUG", "example.org", ed25519,
      more: #","fido2Extensions":{"hmacCredentials":{"algorithm":"hmac-sha256","credWithUV":"\#(hmacKey)","#
        + #""credWithoutUV":"AA"},"credBlob":"AQ"}"#))

  private func write(_ text: String, in store: TestStore) throws -> String {
    let file = "\(store.folder)/passkeys.json"
    try writeFile(file, Array(text.utf8))
    return file
  }

  private func run(_ store: TestStore, _ words: String..., touches: [Touches.Touch]) async throws -> Invocation.Result {
    try await Invocation(
      arguments: store.arguments(words + ["--passphrase-fd", "3"] + store.reader),
      descriptors: [ExportTests.passphrase + "\n"]
    ).run(heard: Touches(socket: store.socket, touches).heard)
  }

  private func age(_ words: String...) async throws -> String {
    let result = try await Invocation(program: "/usr/bin/age", arguments: words).run()
    try result.mustSucceed()
    return result.text
  }

  @Test("a passkey is renamed after a touch for both names, and without one if it has the name already")
  func renaming() async throws {
    try await TestStore.enrolled { store in
      let file = try write(Self.exchange(Self.passkey("AQID", "example.com", Self.p256)), in: store)
      #expect(try await store.touched(["passkey", "import", file, "--yes"], [.right]).status == 0)
      let same = try await store.whorl("passkey", "rename", "example.com/alice", "alice", "--json")
      #expect(
        same.status == 0 && same.text == #"{"renamed":"example.com/alice"}"# + "\n", "\(same.text)\(same.diagnostics)")
      let renamed = try await store.touched(["passkey", "rename", "example.com", "al at work"], [.right])
      #expect(renamed.status == 0, "\(renamed.diagnostics)")
      #expect(
        renamed.diagnostics.contains("rename the passkey example.com/alice to “al at work”"), "\(renamed.diagnostics)")
      #expect(try await store.whorl("passkey", "list").text.contains("al at work"))
    }
  }

  @Test("passkeys are imported after one touch, shown, and exported with the same keys")
  func roundTrip() async throws {
    try await TestStore.enrolled { store in
      let file = try write(Self.two, in: store)
      let dry = try await store.whorl("passkey", "import", file, "--dry-run")
      #expect(dry.status == 0 && dry.diagnostics.contains("Would bring in 2 entries"), "\(dry.diagnostics)")
      #expect(dry.diagnostics.contains("is not encrypted: whoever can read it can sign in as you"))
      #expect(try await store.whorl("passkey", "list", "--json").text == #"{"passkeys":[]}"# + "\n")
      let wrong = try await store.touched(["passkey", "import", file, "--yes"], [.thumb, .thumb, .thumb])
      #expect(wrong.status == 77, "\(wrong.diagnostics)")
      #expect(try await store.whorl("passkey", "list", "--json").text == #"{"passkeys":[]}"# + "\n")
      let brought = try await store.touched(["passkey", "import", file, "--yes"], [.right])
      #expect(brought.status == 0 && brought.diagnostics.contains("Brought in 2 items"), "\(brought.diagnostics)")
      #expect(brought.diagnostics.contains("import 2 passkeys from \(file)"), "\(brought.diagnostics)")
      let again = try await store.touched(["passkey", "import", file, "--yes"], [])
      #expect(again.status == 0 && again.diagnostics.contains("in the store already"), "\(again.diagnostics)")

      let shown = try await store.whorl("passkey", "show", "example.org", "--json").text
      for part in [
        #""algorithm":"EdDSA""#, #""backupEligible":true"#, #""credentialID":"BAUG""#, #""discoverable":true"#,
        #""displayName":"Alice Müller""#, #""hmacSecret":true"#, #""protection":1"#, #""site":"example.org""#,
        #""user":"alice""#, #""userID":"BAU""#,
      ] { #expect(shown.contains(part), "\(part): \(shown)") }
      let told = try await store.whorl("passkey", "show", "example.com/alice").text
      #expect(told.contains("credential id: AQID\n") && told.contains("algorithm: ES256\n"), "\(told)")
      #expect(told.contains("last used: not known\n"), "\(told)")
      #expect(!shown.contains(Self.ed25519) && !told.contains(Self.p256))
      #expect(try await store.whorl("passkey", "show", "nowhere.example").status == 66)

      let out = "\(store.folder)/out.age"
      let identity = "\(store.folder)/identity"
      _ = try await Invocation(program: "/usr/bin/age-keygen", arguments: ["-o", identity]).run()
      let key = try await Invocation(program: "/usr/bin/age-keygen", arguments: ["-y", identity]).run().text
      let refused = try await store.touched(
        ["passkey", "export", out, "--to", String(key.dropLast())], [.thumb, .thumb, .thumb])
      #expect(refused.status == 77 && access(out, F_OK) != 0, "\(refused.diagnostics)")
      let touches = Touches(socket: store.socket, [.right])
      let early = Mutex(0)
      let exported = try await Invocation(
        arguments: store.arguments(["passkey", "export", out, "--to", String(key.dropLast())] + store.reader)
      ).run { line, program in
        if line.contains("export ALL 2 passkeys") {
          let files = (try? FileManager.default.contentsOfDirectory(atPath: store.folder)) ?? []
          early.withLock { $0 += files.count { $0.hasPrefix("out.age") } }
        }
        touches.heard(line, program)
      }
      #expect(early.withLock { $0 } == 0, "there is no file yet while the person is asked")
      #expect(exported.status == 0 && exported.diagnostics.contains("Exported 2 passkeys"), "\(exported.diagnostics)")
      let plain = try await age("-d", "-i", identity, out)
      for part in [
        #""version":{"major":1,"minor":0}"#, #""key":"\#(Self.p256)""#, #""key":"\#(Self.ed25519)""#,
        #""credWithUV":"\#(Self.hmacKey)""#, #""credBlob":"AQ""#, #""credentialId":"AQID""#, #""userHandle":"BAU""#,
      ] { #expect(plain.contains(part), "\(part)") }
      for part in ["fido2Extensions", "hmacCredentials", "credBlob"] {
        #expect(plain.ranges(of: part).count == 1, "one passkey has it: \(part)")
      }
    }
  }

  @Test("an encrypted file of passkeys is imported into another store, and 'whorl export' includes passkeys")
  func files() async throws {
    try await TestStore.enrolled { store in
      let file = try write(Self.two, in: store)
      try await store.touched(["passkey", "import", file, "--yes"], [.right]).mustSucceed()
      let (passkeys, all) = ("\(store.folder)/passkeys.age", "\(store.folder)/all.age")
      try await run(store, "passkey", "export", passkeys, touches: [.right]).mustSucceed()
      let exported = try await run(store, "export", all, touches: [.right])
      #expect(exported.status == 0, "\(exported.diagnostics)")
      try await TestStore.enrolled { other in
        let brought = try await run(other, "passkey", "import", passkeys, "--yes", touches: [.right])
        #expect(brought.status == 0 && brought.diagnostics.contains("Brought in 2 items"), "\(brought.diagnostics)")
        #expect(!brought.diagnostics.contains("is not encrypted"))
      }
      try await TestStore.enrolled { other in
        let brought = try await run(other, "import", all, "--yes", "--skip-bound", touches: [])
        #expect(brought.diagnostics.contains("example.com/alice"), "\(brought.diagnostics)")
        let listed = try await other.whorl("passkey", "list", "--json").text
        #expect(listed.contains("example.com") && listed.contains("example.org"))
      }
    }
  }

  @Test("passkey import lists what it leaves out, and passkey show needs the account or ID if a site has several")
  func names() async throws {
    try await TestStore.enrolled { store in
      let empty = try await store.whorl("passkey", "export", "\(store.folder)/none.age")
      #expect(empty.status == 66 && empty.failure.contains("no passkeys to export"), "\(empty.diagnostics)")
      let blob = String(repeating: "A", count: 44)
      let file = try write(
        Self.exchange(
          Self.passkey("AQID", "example.com", Self.p256),
          Self.passkey(
            "BAUG", "example.com", Self.ed25519, user: "bob", more: #","fido2Extensions":{"credBlob":"\#(blob)"}"#),
          #"{"id":"Ag","title":"other","credentials":[{"type":"note"}]}"#), in: store)
      let open = try await store.whorl("passkey", "import", file, "--access", "none", "--dry-run")
      #expect(open.status == 64 && open.failure.contains("a passkey always needs a person"), "\(open.diagnostics)")
      let brought = try await store.touched(["passkey", "import", file, "--yes"], [.right])
      #expect(brought.status == 0, "\(brought.diagnostics)")
      #expect(brought.diagnostics.contains("Left out: 1 other entry, not passkeys."), "\(brought.diagnostics)")
      #expect(brought.diagnostics.contains("keep with 1 passkey cannot be stored here"), "\(brought.diagnostics)")
      let several = try await store.whorl("passkey", "show", "example.com")
      #expect(several.status == 64 && several.failure.contains("several passkeys"), "\(several.diagnostics)")
      let bob = try await store.whorl("passkey", "show", "example.com/bob", "--json").text
      #expect(bob.contains(#""credentialID":"BAUG""#), "\(bob)")
      let id = try #require(bob.firstMatch(of: /"id":"([^"]+)"/)?.1)
      #expect(try await store.whorl("passkey", "show", String(id), "--json").text == bob)
    }
  }

  @Test("whorl passkey import refuses a too large or invalid file in one line, and takes a repeated passkey once")
  func hostile() async throws {
    try await TestStore.enrolled { store in
      for (text, words) in [
        (String(repeating: "x", count: 10 << 20), "too large"), ("hello", "has no passkeys in a known format"),
        (Self.two.replacing(#""rpId":"example.com","#, with: ""), "\"rpId\" is missing"),
      ] {
        let result = try await store.whorl("passkey", "import", try write(text, in: store), "--yes")
        #expect(result.status == 65 && result.failure.contains(words), "\(result.diagnostics)")
        #expect(result.diagnostics.split(separator: "\n").count == 1, "\(result.diagnostics)")
      }
      let (long, key) = ("\(store.folder)/long.age", try await store.whorl("key").text)
      let text = [UInt8](repeating: UInt8(ascii: "x"), count: 10 << 20)
      try await Invocation(
        program: "/usr/bin/age", arguments: ["-r", String(key.dropLast()), "-o", long], input: text
      ).run().mustSucceed()
      let refused = try await store.unlocked("passkey", "import", long, "--yes")
      #expect(refused.status == 65 && refused.failure.contains("too large"), "\(refused.diagnostics)")
      let twice = Self.exchange(
        Self.passkey("AQID", "example.com", Self.p256), Self.passkey("AQID", "example.com", Self.p256))
      let result = try await store.touched(["passkey", "import", try write(twice, in: store), "--yes"], [.right])
      #expect(result.status == 79 && result.diagnostics.contains("Brought in 1 item"), "\(result.diagnostics)")
    }
  }
}
