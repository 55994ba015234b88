import Glibc
import Primitives
import Processes
import ProgramDriver
import Testing
import VirtualFinger

@Suite("whorl reader and whorl doctor")
struct ReaderCommandTests {
  @Test("whorl reader list describes a virtual reader as virtual, in text and JSON")
  func list() async throws {
    try await withFolder { folder in
      let arguments = ["reader", "list", "--reader", "virtual-image:\(folder)/socket"]
      let words = try await Invocation(arguments: arguments).run()
      #expect(words.status == 0)
      #expect(words.text.contains("(virtual reader)"))
      for field in ["driver", "id", "nature", "finger", "stages", "features", "temperature"] {
        #expect(words.text.contains("\n  \(field) "), "\(field)")
      }
      let json = try await Invocation(arguments: arguments + ["--json"]).run()
      #expect(json.text.hasPrefix(#"{"readers":["#))
      for part in [#""driver":"virtual_image""#, #""nature":"virtual""#, #""enrollStages":5"#] {
        #expect(json.text.contains(part), "\(json.text)")
      }
      let list = json.text.split(separator: #""features":["#).last ?? ""
      let features = list.prefix { $0 != "]" }.split(separator: ",")
      #expect(features.count > 1 && features == features.sorted(), "in an order that stays: \(features)")
    }
  }

  @Test("whorl-reader-kit test uses the reader without a store, and skips what the reader cannot do")
  func test() async throws {
    try await withFolder { folder in
      let touches = Touches(socket: "\(folder)/socket", Array(repeating: .right, count: 7))
      let result = try await Invocation(
        program: "whorl-reader-kit",
        arguments: [
          "test", "--format", "tap", "--steps", "clear,enroll,list,verify,identify,delete", "--reader",
          "virtual-image:\(folder)/socket",
        ]
      ).run(heard: touches.heard)
      #expect(result.status == 0, "\(result.diagnostics)\(result.text)")
      let lines = result.text.split(separator: "\n").map(String.init)
      #expect(lines[0] == "TAP version 13" && lines[1] == "1..6")
      #expect(lines.contains("ok 1 - clear # SKIP not supported"))
      #expect(lines.contains { $0.hasPrefix("ok 2 - enroll # 5 stages, ") })
      #expect(lines.contains("ok 3 - list # SKIP not supported"))
      #expect(lines.contains { $0.hasPrefix("ok 4 - verify # match, ") })
      #expect(lines.contains { $0.hasPrefix("ok 5 - identify # match, ") })
      #expect(lines.contains("ok 6 - delete # SKIP not supported"))
    }
  }

  @Test("a failed step of whorl-reader-kit test sets its status, and the later steps still run")
  func failingStep() async throws {
    try await withFolder { folder in
      let touches = Touches(socket: "\(folder)/socket", Array(repeating: .right, count: 5) + [.wrong, .right])
      let result = try await Invocation(
        program: "whorl-reader-kit",
        arguments: [
          "test", "--json", "--steps", "enroll,verify,identify", "--reader", "virtual-image:\(folder)/socket",
        ]
      ).run(heard: touches.heard)
      #expect(result.status == 77)
      #expect(result.failure.contains(#""error":"verify: the finger did not match""#))
      #expect(result.text.contains(#""passed":false"#))
      #expect(result.text.contains(#""result":"failed","seconds":"#))
      #expect(result.text.contains(#""step":"identify""#))
    }
  }

  @Test("an interrupt in the middle of whorl-reader-kit test ends the command with the signal's status")
  func interrupted() async throws {
    try await withFolder { folder in
      let arguments = ["test", "--reader", "virtual-image:\(folder)/socket"]
      let result = try await Invocation(program: "whorl-reader-kit", arguments: arguments).run { line, program in
        guard line.contains("(virtual reader)") else { return }
        program.signal(SIGINT)
      }
      #expect(result.status == 128 + SIGINT)
      #expect(result.failure == "whorl-reader-kit: test: cancelled: run it again")
    }
  }

  @Test("whorl status reports the key tier, the store and its readers")
  func status() async throws {
    try await TestStore.with { store in
      let words = try await store.whorl("status", "--reader", "virtual-image:\(store.socket)")
      #expect(words.status == 0)
      #expect(words.text.contains("keys      key file (private)\n"))
      #expect(words.text.contains("store     \(store.directory)\n"))
      #expect(words.text.contains("passcode  set\n"))
      #expect(words.text.contains("(virtual reader)\n"))
      let json = try await store.whorl("status", "--json", "--reader", "virtual-image:\(store.socket)").text
      for part in [
        #""tier":"key file (private)""#, #""passcodeSet":true"#, #""failures":0"#, #""lockedOut":false"#,
        #""passcodeDelay":0"#, #""restoreDetected":false"#, #""items":0"#, #""sets":[]"#, #""nature":"virtual""#,
      ] { #expect(json.contains(part), "\(part) in \(json)") }
    }
  }

  @Test("whorl doctor checks store and reader, and fails with the first failure")
  func doctor() async throws {
    try await TestStore.with { store in
      let well = try await store.whorl("doctor", "--reader", "virtual-image:\(store.socket)")
      let confinement = Landlock.version == nil ? "warn  confinement: this kernel" : "ok    confinement: "
      #expect(well.text.contains(confinement), "\(well.text)")
      #expect(well.status == 0, "\(well.text)")
      for line in [
        "ok    store: ", "ok    data: whole", "warn  keys: key file (private)", "ok    open: ", "warn  nature: ",
      ] {
        #expect(well.text.contains(line), "\(line)")
      }
      let missing = try await store.whorl("doctor", "--reader", "libfprint:no such reader", "--json")
      #expect(missing.status == 66 || missing.status == 69)
      #expect(missing.text.contains(#""result":"fail""#))
      chmod(store.directory, 0o777)
      let open = try await store.whorl("doctor", "--reader", "virtual-image:\(store.socket)")
      #expect(open.status == 78)
      #expect(open.text.contains("fail  store: "))
      #expect(try await store.whorl("ls").status == 78)
    }
  }
}

@Suite("whorl doctor")
struct DoctorTests {
  @Test("whorl doctor reports how a restored store is accepted, and gives no advice about backups")
  func restored() async throws {
    try await TestStore.with { store in
      let database = "\(store.directory)/vault.db"
      let earlier = try readFile(database)
      try await store.set("a", "secret")
      try writeFile(database, earlier)
      unlink("\(database)-wal")
      unlink("\(database)-shm")
      let checked = try await store.whorl("doctor", "--reader", "virtual-image:\(store.socket)")
      #expect(checked.status == 65)
      let line = try #require(checked.text.split(separator: "\n").first { $0.hasPrefix("fail  data: ") })
      #expect(line.contains("'whorl unlock' lists what came back") && !line.contains("backup"), "\(line)")
      let status = try await store.whorl("status", "--reader", "virtual-image:\(store.socket)")
      #expect(status.text.contains("fingers   refused until what was put back is accepted"), "\(status.text)")
      #expect(try await store.unlocked("unlock", "--accept-restore").status == 0)
      #expect(try await store.whorl("doctor", "--reader", "virtual-image:\(store.socket)").status == 0)
    }
  }

  @Test("whorl doctor does not count the fingers of another reader as fingers on the attached reader")
  func otherReader() async throws {
    try await TestStore.enrolled { store in
      let own = try await store.whorl("doctor", "--reader", "virtual-image:\(store.socket)")
      #expect(own.text.contains("ok    fingers: 1 enrolled"), "\(own.text)")
      let other = try await store.whorl("doctor", "--reader", "virtual-storage:\(store.folder)/other")
      #expect(
        other.text.contains("warn  fingers: 1 enrolled, and none on the reader that is attached"), "\(other.text)")
    }
  }

  @Test("whorl doctor gives no advice to run whorl doctor")
  func noCircle() async throws {
    try await TestStore.with { store in
      for reader in ["libfprint", "auto", "replay:\(store.folder)/none", "fprintd"] {
        let lines = try await store.whorl("doctor", "--reader", reader)
        #expect(!lines.text.contains("whorl doctor"), "\(lines.text)")
        #expect(!lines.failure.contains("whorl doctor"), "\(lines.failure)")
        #expect(lines.status == 0 || lines.text.contains("fail  "))
      }
    }
  }
}

@Suite("Fingers at a terminal")
struct TerminalFingerTests {
  @Test("Enter at a prompt for a finger takes the passcode instead, and the prompt's line is updated in place")
  func enter() async throws {
    try await TestStore.with { store in
      #expect(try await store.enroll().status == 0)
      try await store.set("a", "secret")
      let terminal = try PseudoTerminal(store.arguments(["get", "a"] + store.reader), output: "/dev/null")
      try await terminal.waits(for: "(Enter: passcode, Esc: cancel)")
      try await terminal.becomes(echoing: false)
      terminal.type("\n")
      try await terminal.waits(for: "Passcode: ")
      terminal.type("\(TestStore.passcode)\n")
      #expect(try await terminal.status() == 0)
      #expect(terminal.shown.contains("\r\u{1B}[K"))
      #expect(terminal.echoes)
      #expect(try await store.whorl("status", "--json").text.contains(#""failures":0"#))
    }
  }

  @Test("a finger still counts while the passcode is offered, and the terminal echoes again afterwards")
  func finger() async throws {
    try await TestStore.with { store in
      #expect(try await store.enroll().status == 0)
      try await store.set("a", "secret")
      let terminal = try PseudoTerminal(store.arguments(["get", "a"] + store.reader), output: "/dev/null")
      try await terminal.waits(for: "(Enter: passcode, Esc: cancel)")
      try await Task.sleep(for: .milliseconds(150))
      try VirtualImageReader(socket: store.socket).press(Fingers.right.impression(77))
      #expect(try await terminal.status() == 0)
      #expect(terminal.echoes)
    }
  }

  @Test("a prompt for an item that only a finger opens offers no passcode, and Ctrl-C ends the wait")
  func fingerOnly() async throws {
    try await TestStore.with { store in
      #expect(try await store.enroll().status == 0)
      try await store.set("f", "secret", "--access", "any-finger")
      let terminal = try PseudoTerminal(store.arguments(["get", "f"] + store.reader), output: "/dev/null")
      try await terminal.waits(for: "to use “f”")
      #expect(!terminal.shown.contains("Enter"))
      let start = ContinuousClock.now
      terminal.type("\u{3}")
      #expect(try await terminal.endingSignal() == SIGINT)
      #expect(ContinuousClock.now - start < .seconds(10))
    }
  }
}
