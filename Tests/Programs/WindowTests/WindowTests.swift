import Glibc
import ProgramDriver
import Testing
import VirtualFinger

@Suite("The window")
struct WindowTests {
  /// The window over a store that has the secret `mail/alice`, with the finger of `TestStore.enrolled`.
  private func shown<Value>(
    _ arguments: String..., body: (WindowOnDisplay, TestStore) async throws -> Value
  ) async throws -> Value {
    try await TestStore.enrolled { store in
      try await store.set("mail/alice", "a secret of mine", "--access", "presence")
      return try await WindowOnDisplay.with(
        ["--store", store.directory] + store.reader + arguments, in: store.folder
      ) { try await body($0, store) }
    }
  }

  private func first<Value>(_ body: (WindowOnDisplay, TestStore) async throws -> Value) async throws -> Value {
    try await withFolder { folder in
      let store = TestStore(folder: folder, recoveryKey: "")
      return try await WindowOnDisplay.with(["--store", store.directory] + store.reader, in: folder) {
        try await body($0, store)
      }
    }
  }

  private func press(_ finger: SyntheticFinger, on reader: VirtualImageReader) async throws {
    try await onOwnThread { () throws(VirtualReaderError) in
      try reader.press(finger.impression(.random(in: 1...1_000_000)))
    }
  }

  private func recoveryKey(in window: WindowOnDisplay) async throws -> String {
    var key: String?
    for _ in 0..<50 where key == nil {
      key = try await window.texts().first { $0.wholeMatch(of: /([0-9A-Z]{5}-){6}[0-9A-Z]{5}/) != nil }
    }
    return try #require(key)
  }

  private func exists(_ store: TestStore) -> Bool { access("\(store.directory)/vault.db", F_OK) == 0 }

  @Test("the window lays itself out no more when it has shown its list")
  func rest() async throws {
    try await shown { window, _ in
      try await window(.see("mail/alice"))
      // The display sends what it has to say of the last frames.
      try await Task.sleep(for: .seconds(2))
      let before = try window.waits()
      try await Task.sleep(for: .seconds(3))
      // An animation has sixty frames a second, and waits several times in each.
      #expect(try window.waits() - before < 60)
    }
  }

  @Test("a window that nobody uses wakes no thread each second")
  func quiet() async throws {
    try await shown { window, _ in
      try await window(.see("mail/alice"))
      try await Task.sleep(for: .seconds(2))
      let before = try window.waitsOfThreads()
      try await Task.sleep(for: .seconds(6))
      let waits = try window.waitsOfThreads().map { $1 - (before[$0] ?? 0) }
      #expect(waits.reduce(0, +) < 5, "\(waits)")
    }
  }

  @Test("A first start in the window refuses a weak passcode, and makes a store that the shown recovery key opens")
  func firstStart() async throws {
    try await first { window, store in
      try await window(
        .see("Set Up"), .enter, .type("abcd", into: "Passcode"), .type("abce", into: "Once more"),
        .see("The two are not the same."), .type("abcd", into: "Once more"), .press("Continue"),
        .see("Somebody with a copy of your disk finds this passcode within a day. Take a longer one."))
      #expect(!exists(store))
      let passcode = "quartz blanket river 47"
      try await window(
        .type(passcode, into: "Passcode"), .type(passcode, into: "Once more"), .press("Continue"),
        .see("Its last part, from your paper"))
      let shown = try await recoveryKey(in: window)
      #expect(!exists(store), "the store is kept before its recovery key was written down")
      try await window(
        .type(String(shown.suffix(5)).lowercased(), into: "Its last part, from your paper"), .enter,
        .see("Whorl Is Ready"), .enter, .see("No Secrets Yet"))
      try await Invocation(
        arguments: store.arguments(["recover", "--recovery-fd", "3", "--passcode-fd", "4"]),
        descriptors: [shown + "\n", "another long passcode 9\n"]
      ).run().mustSucceed()
    }
  }

  @Test("A secret in the window is found by search, and shown and copied after a touch of the enrolled finger alone")
  func touched() async throws {
    try await shown { window, store in
      let finger = VirtualImageReader(socket: store.socket, patience: .seconds(10))
      try await window(
        .type("ali", into: "Search"), .gone("any-finger"), .click("mail/alice"), .press("Show"), .see("Confirm"),
        .see("Swipe the reader (virtual reader) to show “mail/alice”"))
      try await press(Fingers.wrong, on: finger)
      try await window(.see("No match, 2 touches left"))
      #expect(try await !window.texts().contains("a secret of mine"))
      try await press(Fingers.right, on: finger)
      try await window(.see("a secret of mine"), .gone("Confirm"), .press("Hide"), .gone("a secret of mine"))
      try await window(.press("Copy"), .see("Confirm"))
      try await press(Fingers.right, on: finger)
      try await window(.see("Copied; the clipboard is emptied in 30 seconds"))
    }
  }

  @Test("The window shows a secret after the passcode, and not after a wrong one or Cancel")
  func typed() async throws {
    try await shown { window, _ in
      try await window(
        .click("mail/alice"), .press("Show"), .press("Cancel"), .gone("Confirm"), .press("Show"),
        .type("wrong", into: "Passcode"), .press("Confirm"), .see("Wrong passcode. Passcode to show “mail/alice”"))
      #expect(try await !window.texts().contains("a secret of mine"))
      try await window(
        .type(TestStore.passcode, into: "Passcode"), .press("Confirm"), .see("a secret of mine"))
    }
  }

  @Test("Programs that read windows are not told what is typed into the window's password entries")
  func untold() async throws {
    try await shown { window, _ in
      let secrets = [TestStore.passcode, "mistyped", "correct battery"]
      let told = try await window.told {
        try await window(
          .type("ali", into: "Search"), .click("mail/alice"), .press("Show"), .type("mistyped", into: "Passcode"),
          .type(TestStore.passcode, into: "Passcode"), .press("Confirm"), .see("a secret of mine"), .press("Back"),
          .press("New Secret"), .type("correct battery", into: "Secret"), .press("Cancel"))
      }
      #expect(told.contains("ali"), "\(told)")
      for secret in secrets { #expect(!told.contains { $0.contains(secret) }, "\(told)") }
    }
  }

  @Test("A secret that the window made is the command line's, and a removed one comes back with Undo until it closes")
  func changed() async throws {
    try await shown { window, store in
      try await window(
        .press("New Secret"), .type("bank", into: "Name, such as a site or a program"),
        .type("alice", into: "Account (may be empty)"), .type("correct battery", into: "Secret"), .press("Save"),
        .click("bank/alice"), .see("Changed"))
      #expect(try await store.unlocked("get", "bank/alice").text == "correct battery")
      try await window(.press("Remove"), .press("Undo"), .gone("Undo"), .click("bank/alice"), .see("Changed"))
      #expect(try await store.unlocked("get", "bank/alice").status == 0)
      try await window(.press("Remove"), .see("Undo"), .press("Close"))
      try await window.hasEnded()
      #expect(try await store.unlocked("get", "bank/alice").status == 66)
    }
  }

  @Test("A finger is enrolled in the window with its passcode, and removed after what is lost was said")
  func fingers() async throws {
    try await shown("--page", "fingers") { window, store in
      let reader = VirtualImageReader(socket: store.socket, patience: .seconds(10))
      let lost =
        "These secrets are bound to the fingers as they are now, and are lost for good: “current-set”."
      try await window(
        .see("Right index finger, enrolled"), .press("Left thumb, not enrolled"), .see(lost), .unusable("Enrol"),
        .click("These secrets may be destroyed"), .press("Enrol"),
        .type(TestStore.passcode, into: "Passcode"), .press("Confirm"), .see("Progress"))
      for stage in 1...5 {
        try await press(Fingers.thumb, on: reader)
        try await window(.see("Stage \(stage) of 5\(stage < 5 ? ": lift and touch again" : "")"))
      }
      try await press(Fingers.thumb, on: reader)
      try await window(.see("The left thumb is enrolled"), .see("Left thumb, enrolled"))
      try await window(
        .press("Left thumb, enrolled"), .see("It opens nothing any more. You can enrol it again."), .press("Remove"),
        .type(TestStore.passcode, into: "Passcode"), .press("Confirm"), .see("Left thumb, not enrolled"))
      #expect(try await !store.whorl("fingers").text.contains("left-thumb"))
      try await store.set("later", "a secret of mine", "--access", "current-set")
      try await window(
        .press("Right index finger, enrolled"),
        .see(
          "It opens nothing any more. You can enrol it again. \(lost.replacing("current-set", with: "later"))"),
        .unusable("Remove"), .click("These secrets may be destroyed"), .click("These secrets may be destroyed"),
        .unusable("Remove"), .press("Cancel"), .see("Right index finger, enrolled"))
    }
  }

  @Test("A key for SSH is made in the window, for the hosts that were named, and no log of a private store is claimed")
  func keys() async throws {
    try await shown("--page", "keys") { window, store in
      try await window(
        .press("New SSH Key"), .type("work", into: "Name, such as this computer's"),
        .type("a.test, b c", into: "Only for these hosts, with commas (may be empty)"), .press("Save"),
        .click("work"), .see("a.test, b, c"))
      try await window(.press("Copy the Public Half"), .see("Public half copied"))
      #expect(try await store.whorl("ssh", "public").text.hasSuffix(" work\n"))
      try await window(.click("Activity"), .see("No Log"))
    }
  }

  @Test("The window shows the computers that share, takes the version that is chosen, and removes a computer")
  func computers() async throws {
    try await SyncMachines.with { machines in
      let (one, _) = try await machines.conflict()
      try await WindowOnDisplay.with(
        ["--store", one.directory, "--page", "computers"] + one.reader, in: one.folder
      ) { window in
        let before = try await one.whorl("get", "x").text
        try await window(
          .see("this computer"), .press("Use this version of x"), .see("Exchanged with your other computers"),
          .gone("Use this version of x"))
        #expect(try await one.whorl("get", "x").text != before)
        try await window(
          .press("Remove two"), .see("Remove “two”?"), .press("Remove"), .type(TestStore.passcode, into: "Passcode"),
          .press("Confirm"), .gone("Remove two"))
        #expect(try await !one.whorl("sync", "status").text.contains("two"))
      }
    }
  }

  @Test("A file of another program is imported after what comes and stays was shown, and what came is taken out again")
  func imported() async throws {
    try await shown { window, store in
      let file = "\(store.folder)/passwords.csv"
      let rows = [
        "name,url,username,password", "a.test,https://a.test,alice,first", "mail,https://m.test,alice,second",
        "b.test,https://b.test,bob,third", "b.test,https://b.test,bob,fourth",
      ]
      try writeFile(file, Array(rows.joined(separator: "\n").utf8))
      try await window(
        .press("Import"), .type("\(file)x", into: "File"), .press("Look Into It"),
        .see("There is nothing at \(file)x: name where it is."), .type(file, into: "File"), .press("Look Into It"),
        .see("Coming: 2 Entries"), .see("a.test/alice"), .see("b.test/bob"), .see("mail/alice"))
      #expect(try await store.unlocked("get", "a.test/alice").status == 66)
      try await window(.press("Import"), .see("2 Secrets Imported"))
      #expect(try await store.unlocked("get", "a.test/alice").text == "first")
      try await window(.press("Take Out Again"), .see("What was imported is taken out again"), .gone("a.test/alice"))
      #expect(try await store.unlocked("get", "b.test/bob").status == 66)
      #expect(try await store.unlocked("get", "mail/alice").text == "a secret of mine")
    }
  }

  @Test("Files that cannot be imported are refused with a sentence, and the window goes on")
  func notImported() async throws {
    try await shown { window, store in
      let pipe = "\(store.folder)/pipe.csv"
      #expect(mkfifo(pipe, 0o600) == 0)
      let folder = "\(store.folder)/folder.json"
      #expect(mkdir(folder, 0o700) == 0)
      let large = "\(store.folder)/large.csv"
      try writeFile(large, Array("name,password\n".utf8))
      // A sparse file.
      #expect(truncate(large, 1 << 40) == 0)
      let nested = "\(store.folder)/nested.json"
      try writeFile(nested, Array(repeating: UInt8(ascii: "["), count: 1 << 20))
      try await window(.press("Import"))
      let end = ": nothing was imported; correct that, and import again."
      for (file, words) in [
        (pipe, "\(pipe) is a pipe or a device: name a file"),
        ("/dev/zero", "/dev/zero is a pipe or a device: name a file"),
        (folder, "\(folder) is a folder: name the file in it"),
        (
          large,
          "\(large) is larger than 64 MiB: export it as CSV, which has no attached files, or in several parts"
        ), (nested, "It is JSON: export it as CSV"),
      ] {
        try await window(.type(file, into: "File"), .press("Look Into It"), .see(words + end))
      }
    }
  }

  @Test(
    "A secret is changed in the window after its passcode, with a made password of the chosen length and another rule")
  func edited() async throws {
    try await shown { window, store in
      try await window(
        .click("mail/alice"), .press("Edit"), .type("alice2", into: "Account (may be empty)"),
        .type("12", into: "Length of a Made Password"), .press("Make a Password"), .press("Save"), .see("Confirm"),
        .press("Cancel"),
        .gone("Confirm"), .press("Save"), .type(TestStore.passcode, into: "Passcode"), .press("Confirm"),
        .gone("Save"), .see("mail/alice2"))
      let changed = try await store.unlocked("get", "mail/alice2")
      #expect(changed.status == 0 && changed.text.count == 12)
      #expect(try await store.unlocked("get", "mail/alice").status == 66)
    }
  }

  @Test("A secret is shared in the window, and not kept here again while another version of it would be lost")
  func shared() async throws {
    try await SyncMachines.with { machines in
      let (one, _) = try await machines.conflict()
      try await one.set("mine", "a secret of mine", "--access", "presence")
      try await WindowOnDisplay.with(["--store", one.directory] + one.reader, in: one.folder) { window in
        try await window(
          .click("x"), .press("Stop Sharing"),
          .see("Another version of it would be lost. Choose one of the two on the page “Computers” first."),
          .press("Back"), .click("mine"), .see("On this computer only"), .press("Share"),
          .type(TestStore.passcode, into: "Passcode"), .press("Confirm"), .see("Shared with your computers"),
          .see("Also on your other computers"), .press("Stop Sharing"))
      }
    }
  }

  @Test("A computer begins to share in the window, and another one joins in its window by the same six words")
  func joined() async throws {
    try await SyncMachines.with { machines in
      let (one, two) = (try await machines.machine("one"), try await machines.machine("two"))
      try await WindowOnDisplay.with(["--store", one.directory, "--page", "computers"] + one.reader, in: one.folder) {
        first in
        try await first(
          .press("Begin With This Computer"), .type("\(one.folder)/none", into: "Repository, as git takes it"),
          .type("one", into: "Name of this computer"), .press("Continue"))
        try await first(
          .type(machines.remote, into: "Repository, as git takes it"), .press("Continue"),
          .type(TestStore.passcode, into: "Passcode"), .press("Confirm"), .see("this computer"))
        try await WindowOnDisplay.with(["--store", two.directory, "--page", "computers"] + two.reader, in: two.folder) {
          second in
          try await second(
            .press("Join My Other Computers"), .type(machines.remote, into: "Repository, as git takes it"),
            .type("two", into: "Name of this computer"), .press("Continue"),
            .type(TestStore.passcode, into: "Passcode"), .press("Confirm"), .see("This computer asks to share"))
          try await first(.press("Exchange Now"), .press("Show the six words"), .see("They Are the Same"))
          try await second(.see("They Are the Same"))
          let isWords = { (text: String) in text.wholeMatch(of: /([a-z]+ ){5}[a-z]+/) != nil }
          let words = try #require(try await first.texts().first(where: isWords))
          try await second(
            .see(words), .press("They Are the Same"), .type(TestStore.passcode, into: "Passcode"), .press("Confirm"))
          try await first(
            .press("They Are the Same"), .type(TestStore.passcode, into: "Passcode"), .press("Confirm"),
            .see("Remove two"))
          try await second(.see("Remove one"))
        }
      }
    }
  }

  @Test("The window has git ask Whorl for passwords, and not any more, each after a question")
  func setUp() async throws {
    try await shown("--page", "setup") { window, store in
      func helper() throws -> Bool {
        let file = "\(store.folder)/.gitconfig"
        guard access(file, F_OK) == 0 else { return false }
        return String(decoding: try readFile(file), as: UTF8.self).contains("git-credential")
      }
      try await window(.gone("Looking …"), .press("Turn on: git"), .press("Cancel"), .see("Turn on: git"))
      #expect(try !helper())
      try await window(.press("Turn on: git"), .press("Continue"), .see("Turn off: git"))
      #expect(try helper())
      try await window(.press("Turn off: git"), .press("Continue"), .see("Turn on: git"))
      #expect(try !helper())
    }
  }

  @Test("A weak passcode is refused in the window, and a new passcode and a new recovery key open the store")
  func passcodeAndRecoveryKey() async throws {
    try await shown("--page", "protection") { window, store in
      try await window(
        .gone("Checking …"), .see("In Order"), .press("Change the Passcode"),
        .type(TestStore.passcode, into: "Passcode"), .press("Confirm"), .type("abcd", into: "New passcode"),
        .type("abcd", into: "Once more"), .press("Confirm"), .see("This Passcode Can Be Guessed"), .press("Cancel"))
      #expect(try await store.unlocked("get", "mail/alice").status == 0)
      let passcode = "quartz blanket river 47"
      try await window(
        .press("Change the Passcode"), .type(TestStore.passcode, into: "Passcode"), .press("Confirm"),
        .type(passcode, into: "New passcode"), .type(passcode, into: "Once more"), .press("Confirm"),
        .see("The new passcode is set"))
      #expect(try await store.unlocked("get", "mail/alice").status == 77)
      try await window(.press("Replace the Recovery Key"), .see("Its last part, from your paper"))
      let key = try await recoveryKey(in: window)
      try await window(
        .type(String(key.suffix(5)), into: "Its last part, from your paper"), .press("Continue"),
        .type(passcode, into: "Passcode"), .press("Confirm"),
        .see("The new recovery key is valid, and the earlier one is not any more"))
      try await Invocation(
        arguments: store.arguments(["recover", "--recovery-fd", "3", "--passcode-fd", "4"]),
        descriptors: [key + "\n", "another long passcode 9\n"]
      ).run().mustSucceed()
    }
  }

  @Test("A copy that the window has made is put back after it has said what is lost and what returns")
  func copies() async throws {
    try await shown("--page", "protection") { window, store in
      let copy = "\(store.folder)/copy"
      try await window(
        .press("Back Up All Secrets"), .type(copy, into: "Folder"), .press("Back Up"),
        .see("All secrets are copied to \(copy)"))
      try await store.whorl("rm", "mail/alice", "--yes").mustSucceed()
      try await store.set("new", "later")
      try await window(
        .press("Restore a Copy"), .type("\(store.folder)/store", into: "Folder"), .press("Continue"),
        .see("\(store.folder)/store is not a backup: name what 'whorl backup' has made."), .press("Restore a Copy"),
        .type(copy, into: "Folder"), .press("Continue"), .see("Replace All Secrets With These?"))
      let texts = try await window.texts()
      #expect(texts.contains { $0.contains("will be lost:\n  new") && $0.contains("come back:\n  mail/alice") })
      try await window(
        .press("Restore"), .type(TestStore.passcode, into: "Passcode"), .press("Confirm"), .gone("Confirm"))
      #expect(try await store.unlocked("get", "mail/alice").text == "a secret of mine")
      #expect(try await store.unlocked("get", "new").status == 66)
    }
  }

  /// The window over a store with this item that holds a seed of one-time codes of eight digits.
  private func withCodes(
    _ name: String, seconds: Int, body: (WindowOnDisplay, TestStore) async throws -> Void
  ) async throws {
    try await TestStore.enrolled { store in
      let address = "otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&digits=8&period=\(seconds)"
      try await store.set("mail", "a secret of mine", "--access", "presence")
      try await store.set(name, address, "--access", "presence")
      try await WindowOnDisplay.with(["--store", store.directory] + store.reader, in: store.folder) {
        try await body($0, store)
      }
    }
  }

  private func code(in window: WindowOnDisplay) async throws -> String? {
    try await window.texts().first { $0.wholeMatch(of: /[0-9]{8}/) != nil }
  }

  @Test("The window shows and copies the one-time code of an item after the passcode, with the seconds left")
  func codes() async throws {
    try await withCodes("mail#totp", seconds: 3_600) { window, store in
      try await window(.click("mail"), .press("Show the Code"), .press("Cancel"), .gone("Confirm"))
      #expect(try await code(in: window) == nil)
      let before = try await store.unlocked("code", "mail").text
      try await window(
        .press("Show the Code"), .type(TestStore.passcode, into: "Passcode"), .press("Confirm"), .see("Hide the Code"))
      let shown = try #require(try await code(in: window))
      // It may have changed meanwhile, once an hour.
      let after = try await store.unlocked("code", "mail").text
      #expect([before, after].contains(shown))
      #expect(try await window.texts().contains { $0.hasPrefix("Seconds left: ") })
      try await window(
        .press("Hide the Code"), .gone(shown), .press("Copy the Code"), .type(TestStore.passcode, into: "Passcode"),
        .press("Confirm"), .see("Copied; the clipboard is emptied in 30 seconds"))
    }
  }

  @Test("The window hides a one-time code when it is over")
  func codeIsOver() async throws {
    try await withCodes("brief#totp", seconds: 15) { window, _ in
      try await window(
        .click("brief#totp"), .press("Show the Code"), .type(TestStore.passcode, into: "Passcode"))
      // Long before the end of a code.
      while time(nil) % 15 > 3 { try await Task.sleep(for: .milliseconds(100)) }
      try await window(.press("Confirm"), .see("Hide the Code"), .gone("Hide the Code"), .see("Show the Code"))
      #expect(try await code(in: window) == nil)
    }
  }

  @Test(
    "Each page of the window needs no more than 360 pixels, in the light and the dark style, and each of its controls has a name",
    arguments: ["secrets", "passkeys", "keys", "fingers", "computers", "activity", "protection", "setup"])
  func narrow(page: String) async throws {
    try await TestStore.enrolled { store in
      let style = ["protection", "secrets"].contains(page) ? "prefer-dark" : "prefer-light"
      try await WindowOnDisplay.with(
        ["--store", store.directory, "--page", page] + store.reader, in: store.folder, width: 300,
        more: ["ADW_DEBUG_COLOR_SCHEME": style]
      ) { window in
        try await window(.see("Back"), .gone("Checking …"), .gone("Looking …"))
        let width = try #require(try await window.width())
        #expect(width <= 360)
        #expect(try await window.unnamed() == [])
      }
    }
  }

  @Test("Each control of the window has a name for a screen reader, and a folder that everybody can write is explained")
  func named() async throws {
    try await TestStore.enrolled { store in
      chmod(store.directory, 0o777)
      try await WindowOnDisplay.with(["--store", store.directory] + store.reader, in: store.folder) { window in
        try await window(.see("Try Again"))
        #expect(try await !window.texts().contains("current-set"))
        chmod(store.directory, 0o700)
        try await window(.press("Try Again"), .click("current-set"), .see("Changed"))
        for page in ["Fingers", "Computers", "Activity", "Protection"] { try await window(.click(page), .see("Pages")) }
        try await window(.click("Secrets"), .press("New Secret"), .see("Save"))
        #expect(try await window.unnamed() == [])
      }
    }
  }
}
