import Glibc
import ProgramDriver
import Testing

@Suite("The window in another language", .serialized)
struct LanguageTests {
  private static let root = #filePath.split(separator: "/").dropLast(4).map { "/\($0)" }.joined()

  /// Where the built programs look for catalogues.
  private static func catalogues() throws -> String {
    // realpath: the result belongs to the caller.
    let program = try Programs.path("whorl-gtk")
    guard let resolved = realpath(program, nil) else { throw SystemFailure(program) }
    defer { free(resolved) }
    return String(cString: resolved).split(separator: "/").dropLast(2).map { "/\($0)" }.joined() + "/share/locale"
  }

  /// A made-up language, in which each letter is another one, and each word a third longer.
  private struct Invented {
    static let name = "zz"
    private let texts: [String: String]

    /// Puts its catalogue where the built programs look for one.
    init() async throws {
      let folder = "\(try catalogues())/\(Self.name)/LC_MESSAGES"
      try await Self.write(to: folder)
      let listed = try await Invocation(
        program: "/usr/bin/msgunfmt", arguments: ["--no-wrap", "\(folder)/whorl.mo"]
      ).run()
      var (texts, english) = ([String: String](), "")
      for line in listed.text.split(separator: "\n") {
        if let text = line.wholeMatch(of: /msgid "(.*)"/)?.1 { english = String(text) }
        if let text = line.wholeMatch(of: /msgstr "(.*)"/)?.1 { texts[english] = String(text) }
      }
      self.texts = texts
    }

    static func write(to folder: String) async throws {
      try await Invocation(program: "/bin/mkdir", arguments: ["-p", folder]).run().mustSucceed()
      try await Invocation(
        program: "/usr/bin/python3", arguments: ["\(root)/scripts/translations.py", "invent", "\(folder)/whorl.mo"]
      ).run().mustSucceed()
    }

    /// As it is shown, without the mark of a key.
    func callAsFunction(_ english: String) throws -> String {
      try #require(texts[english], "\(english)").replacing("_", with: "")
    }
  }

  /// What is in English also here: names of things, and the texts of GTK and libadwaita, which have catalogues of their own.
  private static let others: Set = [
    "Whorl", "whorl", "mail", "alice", "presence", "current", "set", "any", "finger", "open", "Minimize", "Maximize",
    "Close",
    "Show", "Hide", "Text", "Password", "Caps", "Lock", "Apply", "user", "name", "from", "CSV", "XML",
  ]

  /// The English words among these texts. A widget without a name is listed by its type.
  private func english(_ texts: [String]) -> Set<String> {
    let commands = /'(?:whorl|sudo|systemctl|git|make) [^']+'/
    return texts.reduce(into: []) { found, text in
      let words = text.replacing(commands, with: "").matches(of: /[A-Za-z]{3,}/).map { String($0.output) }
      found.formUnion(words.filter { !Self.others.contains($0) && !$0.hasPrefix("Gtk") && !$0.hasPrefix("Adw") })
    }
  }

  private func shown(
    _ page: String, width: Int = 1_200, _ body: (WindowOnDisplay, Invented) async throws -> Void
  ) async throws {
    let invented = try await Invented()
    try await TestStore.enrolled { store in
      try await store.set("mail/alice", "a secret of mine", "--access", "presence")
      try await WindowOnDisplay.with(
        ["--store", store.directory, "--page", page] + store.reader, in: store.folder, width: width,
        more: ["LANGUAGE": Invented.name]
      ) { try await body($0, invented) }
    }
  }

  @Test(
    "Each page of the window is in the language of the session, and needs no more than 360 pixels with longer words",
    arguments: ["secrets", "passkeys", "keys", "fingers", "computers", "activity"])
  func pages(_ page: String) async throws {
    try await shown(page, width: 300) { window, invented in
      try await window(.see(invented("Back")))
      // A private store has no log: the vault's own words. A reader has the name that libfprint gives it.
      let texts = try await window.texts().filter {
        !$0.hasPrefix("Only the system service keeps a log") && !$0.hasPrefix("Virtual image device for debugging")
      }
      #expect(english(texts) == [])
      #expect(try #require(try await window.width()) <= 360)
    }
  }

  @Test("The page of protection is in the language of the session, except for what its checks say")
  func protection() async throws {
    try await shown("protection", width: 300) { window, invented in
      try await window(
        .gone(invented("Checking …")), .see(invented("Passcode and Recovery Key")), .see(invented("In Order")),
        .gone("Passcode and Recovery Key"), .gone("In Order"))
      #expect(try #require(try await window.width()) <= 360)
    }
  }

  @Test("The dialogues of the window and its prompt are in the language of the session")
  func dialogues() async throws {
    try await shown("secrets") { window, invented in
      try await window(.click("mail/alice"), .press(invented("Show")), .see(invented("Confirm")))
      #expect(english(try await window.texts()) == [])
      try await window(
        .type(TestStore.passcode, into: invented("Passcode")), .press(invented("C_onfirm")), .see("a secret of mine"),
        .press(invented("Hide")), .press(invented("Back")), .press(invented("New Secret")),
        .see(invented("Length of a Made Password")))
      #expect(english(try await window.texts()) == [])
      try await window(
        .press(invented("_Cancel")), .press(invented("Import")), .see(invented("The Desktop's Keyring")))
      #expect(english(try await window.texts()) == [])
    }
  }

  @Test(
    "The page with the longest buttons needs no more than 360 pixels in any language",
    arguments: ["de", "es", "fr", "it", "ja", "pl", "pt_BR", "zh_CN"])
  func widths(_ language: String) async throws {
    try await Invocation(
      program: "/usr/bin/python3",
      arguments: ["\(Self.root)/scripts/translations.py", "compile", try Self.catalogues()]
    ).run().mustSucceed()
    try await TestStore.enrolled { store in
      try await WindowOnDisplay.with(
        ["--store", store.directory, "--page", "computers"] + store.reader, in: store.folder, width: 300,
        more: ["LANGUAGE": language]
      ) { window in
        // In none of them is it the same.
        try await window(.see("Whorl"), .gone("Only This Computer"))
        #expect(try #require(try await window.width()) <= 360)
      }
    }
  }

  @Test("The first start is in the language of the session")
  func firstStart() async throws {
    let invented = try await Invented()
    try await withFolder { folder in
      let store = TestStore(folder: folder, recoveryKey: "")
      try await WindowOnDisplay.with(
        ["--store", store.directory] + store.reader, in: folder, more: ["LANGUAGE": Invented.name]
      ) { window in
        try await window(.see(invented("_Set Up")))
        #expect(english(try await window.texts()) == [])
      }
    }
  }

  @Test("A language that is a path to somebody's own catalogue is not read")
  func path() async throws {
    try await TestStore.enrolled { store in
      try await Invented.write(to: "\(store.folder)/\(Invented.name)/LC_MESSAGES")
      let up = String(repeating: "../", count: 20)
      try await WindowOnDisplay.with(
        ["--store", store.directory] + store.reader, in: store.folder,
        more: ["LANGUAGE": "\(up)\(store.folder.dropFirst())/\(Invented.name)", "TEXTDOMAINDIR": store.folder]
      ) { window in
        try await window(.see("Secrets"), .see("Protection"))
      }
    }
  }
}
