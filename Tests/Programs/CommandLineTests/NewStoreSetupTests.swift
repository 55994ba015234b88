import Foundation
import Glibc
import ProgramDriver
import Testing

/// `whorl setup` where there is no store, with the mistakes that people make.
@Suite("whorl setup of a new store")
struct NewStoreSetupTests {
  private static let first = "New passcode: "
  private static let again = "New passcode, again: "
  private static let place = "Show it [Enter], or the file: "
  private static let group = "the first 4 characters of group "

  private func setup(
    in folder: String, _ environment: [String: String] = [:]
  ) throws -> PseudoTerminal {
    let home = ["HOME": folder, "XDG_RUNTIME_DIR": folder].merging(environment) { $1 }
    return try PseudoTerminal(["setup", "--store", "\(folder)/store"], environment: home)
  }

  /// Types hidden input after echo was turned off.
  private func secretly(_ terminal: PseudoTerminal, _ prompt: String, count: Int = 1, _ text: String) async throws {
    try await terminal.waits(for: prompt, count: count)
    try await terminal.becomes(echoing: false)
    terminal.type("\(text)\n")
  }

  private func choosePasscode(_ terminal: PseudoTerminal) async throws {
    try await secretly(terminal, Self.first, "one passcode")
    try await secretly(terminal, Self.again, "one passcode")
    try await terminal.waits(for: Self.place)
  }

  /// The requested characters of the recovery key on the screen.
  private func sample(_ terminal: PseudoTerminal) throws -> String {
    let key = try #require(terminal.shown.firstMatch(of: /(?:[0-9A-Z]{5}-){6}[0-9A-Z]{5}/)).0
    let number = try #require(terminal.shown.firstMatch(of: /characters of group ([1-7])/)).1
    return String(key.split(separator: "-")[try #require(Int(number)) - 1].prefix(4))
  }

  private func decline(_ terminal: PseudoTerminal) async throws {
    try await terminal.waits(for: "ssh, which signs only after a touch? [y/N]")
    terminal.type("\n")
    try await terminal.waits(for: "each after a touch? [y/N]")
    terminal.type("\n")
  }

  @Test(
    "whorl setup explains the passcode, catches a mistyped repeat, and has the recovery key typed back first")
  func typos() async throws {
    try await withFolder { folder in
      let terminal = try setup(in: folder)
      try await terminal.waits(for: "The passcode is a word or number that stands in for your finger")
      for attempt in 1...3 {
        try await secretly(terminal, Self.first, count: attempt, "one passcode")
        try await secretly(terminal, Self.again, count: attempt, "another")
      }
      // Three different pairs do not end it.
      try await terminal.waits(for: "The two entries differ. Type the same word twice.")
      try await secretly(terminal, Self.first, count: 4, "one passcode")
      try await secretly(terminal, Self.again, count: 4, "one passcode")
      // No file can be created there, so the question is repeated.
      try await terminal.waits(for: Self.place)
      terminal.type("\(folder)/none/key\n")
      try await terminal.waits(for: "That does not work: cannot make \(folder)/none/key: No such file or directory.")
      try await terminal.waits(for: Self.place, count: 2)
      terminal.type("\n")
      try await secretly(terminal, Self.group, "!!!!")
      try await terminal.waits(for: "Those are not the first characters")
      // However it ended, there is no store yet.
      #expect(access("\(folder)/store", F_OK) != 0)
      try await secretly(terminal, Self.group, count: 2, try sample(terminal).lowercased())
      try await terminal.waits(for: "The store is made.")
      try await decline(terminal)
      #expect(try await terminal.status() == 0)
      let set = try await Invocation(
        arguments: ["set", "a", "--access", "passcode", "--store", "\(folder)/store"], input: Array("secret".utf8)
      ).run()
      try set.mustSucceed()
      let read = try await Invocation(
        arguments: ["get", "a", "--passcode-fd", "3", "--store", "\(folder)/store"], descriptors: ["one passcode\n"]
      ).run()
      #expect(read.text == "secret", "\(read.diagnostics)")
    }
  }

  @Test("whorl setup saves a new store's recovery key in a new file that only the person can read")
  func saved() async throws {
    try await withFolder { folder in
      let terminal = try setup(in: folder)
      try await choosePasscode(terminal)
      // The home directory, as in a shell.
      terminal.type("~/key\n")
      try await terminal.waits(for: "The recovery key is in ~/key.")
      try await decline(terminal)
      #expect(try await terminal.status() == 0)
      var status = stat()
      #expect(stat("\(folder)/key", &status) == 0 && status.st_mode & 0o777 == 0o600)
      let key = String(decoding: try readFile("\(folder)/key"), as: UTF8.self)
      #expect(!terminal.shown.contains(key.dropLast()))
      let recovered = try await Invocation(
        arguments: ["recover", "--recovery-fd", "3", "--passcode-fd", "4", "--store", "\(folder)/store"],
        descriptors: [key, "new passcode\n"]
      ).run()
      #expect(recovered.status == 0, "\(recovered.diagnostics)")
    }
  }

  @Test("whorl setup explains a passcode that is easy to guess, and takes it only from a person who insists")
  func guessable() async throws {
    try await withFolder { folder in
      let terminal = try setup(in: folder)
      try await secretly(terminal, Self.first, "1234")
      try await secretly(terminal, Self.again, "1234")
      try await terminal.waits(for: "That passcode is easy to find by trying")
      try await terminal.waits(for: "Use it anyway? [y/N]")
      terminal.type("\n")
      try await secretly(terminal, Self.first, count: 2, "")
      try await secretly(terminal, Self.again, count: 2, "")
      try await terminal.waits(for: "That passcode cannot be taken: ")
      try await secretly(terminal, Self.first, count: 3, "1234")
      try await secretly(terminal, Self.again, count: 3, "1234")
      try await terminal.waits(for: "Use it anyway? [y/N]", count: 2)
      terminal.type("y\n")
      try await terminal.waits(for: Self.place)
    }
  }

  @Test("whorl setup takes a word without a slash for no file name, and a yes for the wish to see the key")
  func noFile() async throws {
    try await withFolder { folder in
      let terminal = try setup(in: folder)
      try await choosePasscode(terminal)
      terminal.type("key\n")
      try await terminal.waits(for: "A file is named with its folder here, as ~/recovery-key.")
      try await terminal.waits(for: Self.place, count: 2)
      terminal.type("y\n")
      try await terminal.waits(for: Self.group)
      #expect(access("\(folder)/key", F_OK) != 0 && access("\(folder)/y", F_OK) != 0)
      try await secretly(terminal, Self.group, try sample(terminal))
      // What is typed from paper can be read on the screen.
      try await terminal.waits(for: "The store is made.")
      #expect(terminal.shown.contains(": \(try sample(terminal))\r\n"), "\(terminal.shown)")
    }
  }

  @Test("whorl setup takes more characters of the recovery key than it asked for, if they are right")
  func wholeGroup() async throws {
    try await withFolder { folder in
      let terminal = try setup(in: folder)
      try await choosePasscode(terminal)
      terminal.type("\n")
      try await terminal.waits(for: Self.group)
      let key = try #require(terminal.shown.firstMatch(of: /(?:[0-9A-Z]{5}-){6}[0-9A-Z]{5}/)).0
      let rest = try #require(key.ranges(of: try sample(terminal)).last.map { key[$0.lowerBound...] })
      try await secretly(terminal, Self.group, "\(rest)A")
      try await terminal.waits(for: "Those are not the first characters")
      try await secretly(terminal, Self.group, count: 2, rest.lowercased().replacing("-", with: " "))
      try await terminal.waits(for: "The store is made.")
    }
  }

  @Test(
    "whorl setup ends for a person who only presses Enter, whatever passcode is typed, and makes no store",
    arguments: ["", "abc", "1234", "sunshine7", "one passcode"])
  func onlyEnter(_ passcode: String) async throws {
    try await withFolder { folder in
      let terminal = try setup(in: folder)
      let status = try await terminal.walks { $0.hasPrefix("New passcode") ? passcode : "" }
      #expect(status == 77, "\(terminal.shown)")
      let what =
        passcode == "one passcode"
        ? "the recovery key was not typed back, so that no store was made"
        : "no passcode was chosen, and no store was made"
      #expect(terminal.shown.contains(what) && terminal.shown.contains("'whorl setup' goes on from here"))
      #expect(try folderEntries(folder).filter { $0.hasPrefix("store") || $0.hasPrefix(".store") }.isEmpty)
    }
  }

  /// The questions that are asked before the store exists.
  enum Question: CaseIterable { case first, again, place, group }

  @Test(
    "whorl setup ended at any prompt leaves no store, and says how to continue", arguments: Question.allCases,
    ["\u{3}", "\u{4}"])
  func ended(_ question: Question, by key: String) async throws {
    try await withFolder { folder in
      let terminal = try setup(in: folder)
      if question != .first { try await secretly(terminal, Self.first, "one passcode") }
      if question == .place || question == .group {
        try await secretly(terminal, Self.again, "one passcode")
        try await terminal.waits(for: Self.place)
      }
      if question == .group { terminal.type("\n") }
      let prompt =
        switch question {
        case .first: Self.first
        case .again: Self.again
        case .place: Self.place
        case .group: Self.group
        }
      try await terminal.waits(for: prompt)
      try await terminal.becomes(echoing: question == .place)
      terminal.type(key)
      if key == "\u{3}" {
        #expect(try await terminal.endingSignal() == SIGINT)
      } else {
        #expect(try await terminal.status() == 77)
      }
      try await terminal.waits(for: "'whorl setup' goes on from here", count: 2)
      #expect(terminal.isAsFound)
      // A key that is on paper already is not kept for a store that does not exist.
      let void = terminal.shown.ranges(of: "No store was made: the recovery key above opens nothing.").count
      #expect(void == (question == .group ? 1 : 0), "\(terminal.shown)")
      #expect(try folderEntries(folder).filter { $0.hasPrefix("store") || $0.hasPrefix(".store") }.isEmpty)
      // And it does.
      let again = try setup(in: folder)
      try await again.waits(for: Self.first)
      again.type("\u{3}")
      _ = try await again.endingSignal()
    }
  }

  @Test("whorl setup asks for a new passcode once, and passes it to the next command that needs it")
  func once() async throws {
    try await withFolder { folder in
      let terminal = try PseudoTerminal(
        ["setup", "--store", "\(folder)/store", "--reader", "virtual-image:\(folder)/reader"],
        environment: ["HOME": folder, "XDG_RUNTIME_DIR": folder])
      try await choosePasscode(terminal)
      terminal.type("~/key\n")
      try await terminal.waits(for: "Enrol the right index finger now?")
      terminal.type("\n")
      try await terminal.waits(for: "the reader (virtual reader) with the right index finger")
      #expect(terminal.shown.ranges(of: "asscode: ").count == 1, "\(terminal.shown)")
      terminal.type("\u{3}")
      #expect(try await terminal.endingSignal() == SIGINT)
      try await terminal.waits(for: "'whorl setup' goes on from here", count: 2)
    }
  }

  @Test("whorl setup without reader, desktop and other services explains what each means, and continues")
  func bare() async throws {
    try await withFolder { folder in
      let terminal = try setup(in: folder)
      try await choosePasscode(terminal)
      #expect(terminal.shown.contains("reader    none"))
      terminal.type("~/key\n")
      try await terminal.waits(
        for: "Its keys are in a file, not in a security chip (TPM) of this computer. You need not")
      try await decline(terminal)
      #expect(try await terminal.status() == 0)
      let told = try await Invocation(
        arguments: ["setup", "--store", "\(folder)/store"], environment: ["HOME": folder, "XDG_RUNTIME_DIR": folder]
      ).run().text
      #expect(told.contains("fingers   after a reader is there; the passcode stands in until then"), "\(told)")
      #expect(
        told.contains("secrets   no desktop session found whose programs could keep passwords in Whorl"), "\(told)")
    }
  }

  @Test("whorl setup on a full disk says so and how to continue, and leaves nothing there", .enabled(if: getuid() == 0))
  func full() async throws {
    guard try await MachineFprintd.isPossible() else { return }
    try await withFolder { folder in
      let script = #"""
        mount -t tmpfs -o size=16k none "$1"
        status=0
        "$2" setup --store "$1/store" || status=$?
        echo "left: [$(ls -A "$1")]"
        exit $status
        """#
      let terminal = try PseudoTerminal(
        ["--mount", "/bin/sh", "-ec", script, "sh", folder, try Programs.path("whorl")], program: "/usr/bin/unshare",
        environment: ["HOME": folder, "XDG_RUNTIME_DIR": "/nonexistent"])
      try await secretly(terminal, Self.first, "one passcode")
      try await secretly(terminal, Self.again, "one passcode")
      #expect(try await terminal.status() == 74)
      let lines = terminal.shown.split(separator: "\r\n")
      let failure = String(lines.dropLast().last ?? "")
      #expect(
        failure.contains("whorl: setup: the disk is full: cannot ") && failure.contains(folder), "\(terminal.shown)")
      #expect(failure.hasSuffix("make room, then 'whorl setup' goes on from here"), "\(terminal.shown)")
      #expect(lines.last == "left: []", "\(terminal.shown)")
    }
  }

  @Test("whorl setup refuses another user's store before any prompt", .enabled(if: getuid() == 0))
  func othersFolder() async throws {
    try await TestStore.with { store in
      chown(store.directory, 65534, 65534)
      let told = try PseudoTerminal(store.arguments(["setup"]), environment: ["HOME": store.folder])
      #expect(try await told.status() == 78)
      #expect(told.shown.contains("whorl: setup: the store's directory cannot be trusted: "), "\(told.shown)")
      #expect(!told.shown.contains("[y/N]"))
    }
  }

  @Test("whorl setup under sudo asks whether to set up root's store", .enabled(if: getuid() == 0))
  func sudo() async throws {
    try await withFolder { folder in
      let terminal = try setup(in: folder, ["SUDO_USER": "alice"])
      try await terminal.waits(for: "This sets up root's store, since sudo runs it.")
      try await terminal.waits(for: "Go on? [y/N]")
      terminal.type("\n")
      #expect(try await terminal.status() == 77)
      #expect(terminal.shown.contains("run 'whorl setup' as alice, without sudo"), "\(terminal.shown)")
      #expect(!terminal.shown.contains("passcode"))
    }
  }
}
