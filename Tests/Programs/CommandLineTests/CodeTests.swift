import Glibc
import ProgramDriver
import Testing

@Suite("whorl code")
struct CodeTests {
  private static let seed = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"

  @Test("whorl code makes a code of the item NAME#totp, or of NAME itself, and writes nothing else")
  func code() async throws {
    try await TestStore.with { store in
      try await store.set("mail/ann", "a password", "--access", "none")
      try await store.set("mail/ann#totp", "otpauth://totp/x?secret=\(Self.seed)&digits=8", "--access", "none")
      try await store.set("forge", "otpauth://totp/x?secret=\(Self.seed)", "--access", "none")
      for (name, digits) in [("mail/ann", 8), ("mail/ann#totp", 8), ("forge", 6)] {
        let made = try await store.whorl("code", name)
        #expect(made.status == 0)
        #expect(made.diagnostics.isEmpty)
        #expect(made.output.count == digits)
        #expect(made.output.allSatisfy { (0x30...0x39).contains($0) }, "\(made.text)")
      }
      let json = try await store.whorl("code", "forge", "--json")
      #expect(json.text.wholeMatch(of: /\{"code":"[0-9]{6}","period":30,"secondsLeft":([1-9]|[12][0-9]|30)\}\n/) != nil)
    }
  }

  @Test("whorl code makes codes of the seeds in every kind of file that is imported")
  func imported() async throws {
    let address = "otpauth://totp/x?secret=\(Self.seed)"
    let files = [
      (
        "Bitwarden CSV", "csv",
        "folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp\n"
          + ",,login,Bitwarden CSV,,,0,https://a.test,,p,\(Self.seed)\n"
      ),
      (
        "Bitwarden JSON", "json",
        #"{"encrypted":false,"items":[{"type":1,"name":"Bitwarden JSON","login":{"totp":"\#(Self.seed)"}}]}"#
      ),
      (
        "1Password CSV", "csv",
        "Title,Url,Username,Password,OTPAuth,Favorite,Archived,Tags,Notes\n1Password CSV,,,p,\(address),,,,\n"
      ),
      (
        "1Password JSON", "json",
        #"{"accounts":[{"vaults":[{"items":[{"overview":{"title":"1Password JSON"},"details":{"sections":[{"fields":["#
          + #"{"title":"code","value":{"totp":"\#(address)"}}]}]}}]}]}]}"#
      ),
      (
        "KeePassXC CSV", "keepassxc",
        #""Group","Title","Username","Password","URL","Notes","TOTP","Icon","Last Modified","Created""#
          + "\n\"Root\",\"KeePassXC CSV\",\"\",\"p\",\"\",\"\",\"\(address)\",\"0\",\"\",\"\"\n"
      ),
      (
        "KeePassXC XML", "keepassxc",
        "<KeePassFile><Root><Group><Entry><String><Key>Title</Key><Value>KeePassXC XML</Value></String>"
          + "<String><Key>TOTP Seed</Key><Value>\(Self.seed)</Value></String></Entry></Group></Root></KeePassFile>"
      ),
      (
        "Proton CSV", "csv",
        "type,name,url,email,username,password,note,totp,createTime,modifyTime,vault\n"
          + "login,Proton CSV,,,,p,,\(address),1,1,Personal\n"
      ),
      (
        "Proton JSON", "json",
        #"{"encrypted":false,"vaults":{"v":{"items":[{"data":{"metadata":{"name":"Proton JSON"},"type":"login","#
          + #""content":{"totpUri":"\#(address)"}}}]}}}"#
      ),
      (
        "Aegis", "aegis",
        #"{"db":{"entries":[{"type":"totp","name":"","issuer":"Aegis","#
          + #""info":{"secret":"\#(Self.seed)","algo":"SHA1","digits":6,"period":30}}]}}"#
      ),
      ("Apple", "csv", "Title,URL,Username,Password,Notes,OTPAuth\nApple,,,,,\(address)\n"),
    ]
    try await TestStore.with { store in
      for (name, program, text) in files {
        let file = "\(store.folder)/file"
        try writeFile(file, Array(text.utf8))
        let brought = try await store.whorl("import", "--from", program, file, "--yes", "--access", "none")
        #expect(brought.status == 0, "\(name): \(brought.diagnostics)")
        let made = try await store.whorl("code", name)
        #expect(made.output.count == 6, "\(name): \(made.diagnostics)")
      }
    }
  }

  @Test("whorl code agrees with oathtool")
  func oathtool() async throws {
    guard access("/usr/bin/oathtool", X_OK) == 0 else { return print("skipped: oathtool is not installed") }
    try await TestStore.with { store in
      try await store.set("a#totp", Self.seed, "--access", "none")
      func other() async throws -> String {
        let made = try await Invocation(
          program: "/usr/bin/oathtool", arguments: ["--totp", "-b", Self.seed]
        ).run()
        return String(made.text.dropLast())
      }
      // The codes may change between two of the runs, but not twice.
      let (before, made, after) = (try await other(), try await store.whorl("code", "a").text, try await other())
      #expect([before, after].contains(made))
    }
  }

  @Test("whorl code asks as the item's rule says, and refuses without a prompt")
  func rule() async throws {
    try await TestStore.enrolled { store in
      try await store.set("a#totp", Self.seed, "--access", "current-set")
      let made = try await store.touched(["code", "a"], [.right])
      #expect(made.output.count == 6)
      #expect(made.diagnostics.contains("to use “a#totp”, for: show a one-time code"), "\(made.diagnostics)")
      for refused in [
        try await store.touched(["code", "a"], [.wrong, .wrong, .wrong]),
        try await store.whorl("code", "a", "--no-prompt"),
      ] {
        #expect(refused.status == 77)
        #expect(refused.output.isEmpty)
      }
    }
  }

  @Test("whorl code says what is wrong with an item that holds no seed, and never shows a part of it")
  func wrong() async throws {
    try await TestStore.with { store in
      let counted = "otpauth://hotp/x?secret=\(Self.seed)&counter=1"
      for (name, secret, words) in [
        ("a", Self.seed, "holds no otpauth:// address"), ("b#totp", counted, "count their uses (HOTP)"),
        ("c#totp", "pass word!", "not in base32"), ("d", "hunter2", "holds no otpauth:// address"),
      ] {
        try await store.set(name, secret, "--access", "none")
        let made = try await store.whorl("code", name)
        #expect(made.status == 64)
        #expect(made.output.isEmpty)
        #expect(made.failure.contains(words), "\(made.failure)")
        #expect(!made.failure.contains(secret) && !made.failure.contains(Self.seed))
      }
      let missing = try await store.whorl("code", "nothing")
      #expect(missing.status == 66)
      #expect(missing.failure.contains("no item nothing"), "\(missing.failure)")
    }
  }
}
