import Glibc
import ProgramDriver
import Testing
import VirtualFinger

private func isInstalled(_ program: String) -> Bool {
  let there = access(program, X_OK) == 0
  if !there { print("\(program) is not installed: its tests are skipped") }
  return there
}

/// The program age, which runs Whorl as its plugin.
private struct AgeRun {
  let desk: AgeDesk
  var folder: String { desk.store.folder }
  var environment: [String: String]

  init(_ desk: AgeDesk) throws {
    self.desk = desk
    let folder = desk.store.folder
    let words = (desk.store.reader + ["--store", desk.store.directory]).joined(separator: " ")
    guard mkdirPrivate("\(folder)/bin") else { throw SystemFailure(folder) }
    let plugin = "\(folder)/bin/age-plugin-whorl"
    let script = "#!/bin/sh\nexec \(try Programs.path("whorl")) age-plugin \(words) \"$@\"\n"
    try writeFile(plugin, Array(script.utf8))
    chmod(plugin, 0o700)
    try writeFile("\(folder)/identity", Array("# mine\n\(desk.identity)\n".utf8))
    // age passes on what a plugin writes to standard error only for this.
    environment = ["PATH": "\(folder)/bin:/usr/bin:/bin", "AGEDEBUG": "plugin", "DISPLAY": ":7"]
  }

  func age(_ words: [String], _ touches: Touches.Touch..., input: [UInt8]? = nil) async throws -> Invocation.Result {
    try await Invocation(
      program: "/usr/bin/age", arguments: words, input: input, environment: environment
    ).run(heard: Touches(socket: desk.store.socket, touches).heard)
  }

  /// Encrypts a text to a file.
  func encrypt(_ text: String, _ recipient: String...) async throws {
    try await age(recipient + ["-o", "\(folder)/file"], input: Array(text.utf8)).mustSucceed()
  }

  func decrypt(_ touches: Touches.Touch...) async throws -> Invocation.Result {
    try await Invocation(
      program: "/usr/bin/age", arguments: ["-d", "-i", "\(folder)/identity", "\(folder)/file"], environment: environment
    ).run(heard: Touches(socket: desk.store.socket, touches).heard)
  }
}

@Suite("The program age with its plugin", .enabled(if: isInstalled("/usr/bin/age")))
struct AgeProgramTests {
  @Test("age decrypts a file after a touch, each time anew, that anybody has encrypted to the public key")
  func decrypt() async throws {
    try await AgeDesk.with { desk in
      let run = try AgeRun(desk)
      var plain = run
      plain.environment["PATH"] = "/nonexistent"
      try await plain.encrypt("to a public key", "-r", desk.publicKey)
      for _ in 1...2 {
        let opened = try await run.decrypt(.right)
        #expect(opened.status == 0 && opened.text == "to a public key", "\(opened.diagnostics)")
        #expect(opened.diagnostics.contains("age wants to use “work”, for: decrypt a file with the age key work."))
      }
    }
  }

  @Test("age encrypts to an identity without a touch, and decrypts a file for several keys with the one that is there")
  func severalKeys() async throws {
    try await AgeDesk.with { desk in
      let run = try AgeRun(desk)
      try await run.encrypt("to an identity", "-e", "-i", "\(run.folder)/identity")
      #expect(try await run.decrypt(.right).text == "to an identity")
      let other = try await AgeDesk.key("other", in: desk.store)
      try await run.encrypt("to three", "-r", other.publicKey, "-r", desk.publicKey, "-r", other.publicKey)
      #expect(try await run.decrypt(.right).text == "to three")
      try await run.encrypt("to another", "-r", other.publicKey)
      let closed = try await run.decrypt(.right)
      #expect(closed.status == 1 && closed.text.isEmpty && closed.diagnostics.contains("no identity matched"))
    }
  }

  @Test("age fails with the reason after wrong fingers, in a lockout, and without anybody to ask")
  func refusals() async throws {
    try await AgeDesk.with("--access", "any-finger") { desk in
      var run = try AgeRun(desk)
      try await run.encrypt("closed", "-r", desk.publicKey)
      let wrong = try await run.decrypt(.wrong, .wrong, .wrong)
      #expect(wrong.status == 1 && wrong.text.isEmpty)
      let reason = "age: error: whorl plugin: three touches did not match"
      #expect(wrong.diagnostics.contains(reason), "\(wrong.diagnostics)")
      _ = try await run.decrypt(.wrong, .wrong)
      let locked = try await run.decrypt()
      #expect(locked.status == 1 && locked.text.isEmpty)
      #expect(locked.diagnostics.contains("locked"), "\(locked.diagnostics)")
      run.environment["DISPLAY"] = nil
      let nobody = try await run.decrypt()
      #expect(nobody.status == 1 && nobody.text.isEmpty)
    }
  }

  @Test("at a terminal the prompt names age and the key, although age hides what its plugins write; Esc is a refusal")
  func terminal() async throws {
    try await AgeDesk.with { desk in
      var run = try AgeRun(desk)
      try await run.encrypt("seen", "-r", desk.publicKey)
      run.environment["AGEDEBUG"] = nil
      run.environment["DISPLAY"] = nil
      func start() async throws -> PseudoTerminal {
        let terminal = try PseudoTerminal(
          ["-d", "-i", "\(run.folder)/identity", "-o", "\(run.folder)/out", "\(run.folder)/file"],
          program: "/usr/bin/age", environment: run.environment)
        try await terminal.waits(for: "Esc: cancel)")
        #expect(terminal.shown.contains("age wants to use “work”, for: decrypt a file with the age key work."))
        #expect(terminal.shown.contains("Program: /usr/bin/age"), "\(terminal.shown)")
        return terminal
      }
      let cancelled = try await start()
      cancelled.type("\u{1B}")
      #expect(try await cancelled.status() == 1)
      #expect(cancelled.shown.contains("whorl plugin: cancelled"), "\(cancelled.shown)")
      #expect(cancelled.isAsFound && access("\(run.folder)/out", F_OK) != 0)

      let opened = try await start()
      try await Task.sleep(for: .milliseconds(100))
      try VirtualImageReader(socket: desk.store.socket, patience: .seconds(10)).press(
        Fingers.right.impression(.init(1)))
      #expect(try await opened.status() == 0, "\(opened.shown)")
      #expect(try readFile("\(run.folder)/out") == Array("seen".utf8))
    }
  }
}
