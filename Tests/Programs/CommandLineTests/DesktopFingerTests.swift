import Glibc
import Primitives
import ProgramDriver
import Synchronization
import Testing
import VirtualFinger

/// The fingers of the machine's own fprintd, as on most desktops.
@Suite(
  "With the fingers of the desktop's settings", .serialized,
  .enabled("a mount namespace needs root") { try await MachineFprintd.isPossible() })
struct DesktopFingerTests {
  private static let right = SyntheticFinger(person: 1, finger: .rightIndex)

  /// A store on a machine whose fprintd has a virtual reader.
  private struct Machine {
    let store: TestStore
    let fprintd: PrivateFprintd

    func whorl(_ words: String..., passcode: Bool = false, touches: Int = 0, input: String? = nil) async throws
      -> Invocation.Result
    {
      let arguments = store.arguments(words + (passcode ? ["--passcode-fd", "3"] : []))
      var call = Invocation(
        arguments: MachineFprintd(fprintd).words([try Programs.path("whorl")] + arguments),
        input: input.map { Array($0.utf8) }, descriptors: passcode ? ["\(TestStore.passcode)\n"] : [])
      call.program = MachineFprintd.program
      return try await call.run(
        heard: Touches(socket: fprintd.socket, Array(repeating: .press(DesktopFingerTests.right), count: touches)).heard
      )
    }
  }

  private func machine(_ body: (Machine) async throws -> Void) async throws {
    try await PrivateFprintd.with(.image) { fprintd in
      try await TestStore.with { store in try await body(Machine(store: store, fprintd: fprintd)) }
    }
  }

  @Test("a new store uses the fingers of the desktop's settings at once, in every command that lists fingers")
  func counted() async throws {
    for command in ["setup", "fingers", "doctor", "status"] {
      try await machine { machine in
        try await machine.fprintd.enroll("right-index-finger", pressing: Self.right)
        let told = try await machine.whorl(command).text
        let words = [
          "setup": "ok    fingers   1 enrolled", "fingers": "right-index", "doctor": "fingers: 1 enrolled",
          "status": "right-index on fprintd",
        ]
        #expect(told.contains(words[command] ?? "?"), "\(command): \(told)")
        // A touch opens the item without further preparation.
        try await machine.whorl("set", "mail", input: "secret").mustSucceed()
        #expect(try await machine.whorl("get", "mail", touches: 1).text == "secret")
      }
    }
  }

  @Test("setup and doctor list the fingers of the desktop's settings before there is a store")
  func withoutStore() async throws {
    try await PrivateFprintd.with(.image) { fprintd in
      try await fprintd.enroll("right-index-finger", pressing: Self.right)
      try await withFolder { folder in
        let machine = Machine(store: TestStore(folder: folder, recoveryKey: ""), fprintd: fprintd)
        let setup = try await machine.whorl("setup").text
        #expect(setup.contains("ok    fingers   1 in the desktop's settings"), "\(setup)")
        let doctor = try await machine.whorl("doctor").text
        #expect(doctor.contains("fingers: the right index finger in fprintd"), "\(doctor)")
      }
    }
  }

  @Test(
    "fingers deleted outside Whorl no longer count in any command, and nothing is lost by that",
    arguments: ["any-finger", "current-set"])
  func deletedElsewhere(access: String) async throws {
    try await machine { machine in
      try await machine.fprintd.enroll("right-index-finger", pressing: Self.right)
      try await machine.fprintd.enroll("left-thumb", pressing: SyntheticFinger(person: 1, finger: .leftThumb))
      try await machine.whorl("set", "mail", "--access", access, input: "secret").mustSucceed()
      #expect(try await machine.whorl("fingers").text.contains("left-thumb"))

      try await machine.fprintd.delete("left-thumb")
      let fingers = try await machine.whorl("fingers").text
      #expect(fingers.contains("right-index") && !fingers.contains("left-thumb"), "\(fingers)")
      let setup = try await machine.whorl("setup").text
      #expect(setup.contains("ok    fingers   1 enrolled"), "\(setup)")
      #expect(try await machine.whorl("doctor").text.contains("fingers: 1 enrolled"))

      try await machine.fprintd.delete("right-index-finger")
      let none = try await machine.whorl("fingers")
      #expect(!none.text.contains("right-index"), "\(none.text)")
      #expect(
        none.diagnostics.contains("deleted in the desktop's settings or with fprintd-delete"), "\(none.diagnostics)")
      #expect(try await machine.whorl("doctor").text.contains("fingers: none: "))
      #expect(try await machine.whorl("status").text.contains("enrolled  none on fprintd"))
      #expect(try await !machine.whorl("setup").text.contains("ok    fingers"))
      #expect(try await !machine.whorl("ls").text.contains("dead"))
    }
  }

  @Test("listing the fingers of the desktop's settings destroys no item that is bound to earlier ones")
  func lookedAt() async throws {
    try await machine { machine in
      try await machine.fprintd.enroll("right-index-finger", pressing: Self.right)
      try await machine.whorl("set", "bound", "--access", "current-set", input: "secret").mustSucceed()
      try await machine.fprintd.enroll("left-thumb", pressing: SyntheticFinger(person: 1, finger: .leftThumb))
      for command in ["setup", "fingers", "doctor", "status"] { _ = try await machine.whorl(command) }
      #expect(!(try await machine.whorl("ls").text.contains("dead")))
      // The touch does, and says so.
      let touched = try await machine.whorl("get", "bound", touches: 1)
      #expect(touched.diagnostics.contains("Destroyed with the old set of fingers: bound"))
    }
  }

  @Test(
    "whorl enrols and deletes a finger in fprintd if the session may, the first one without the passcode"
  )
  func enrolled() async throws {
    try await machine { machine in
      let enrolled = try await machine.whorl("enroll", touches: 6)
      #expect(enrolled.status == 0, "\(enrolled.diagnostics)")
      #expect(enrolled.diagnostics.contains("The right index finger is enrolled."))
      try await machine.whorl("set", "bound", "--access", "current-set", input: "secret").mustSucceed()
      #expect(try await machine.whorl("get", "bound", touches: 1).text == "secret")
      let again = try await machine.whorl("enroll", "--yes")
      #expect(again.status == 73, "\(again.diagnostics)")
      let forgotten = try await machine.whorl("unenroll", "--all", "--yes", passcode: true)
      #expect(forgotten.status == 0 && forgotten.diagnostics.contains("Lost: bound"), "\(forgotten.diagnostics)")
      let name = machine.fprintd.userName()
      #expect(try await !machine.fprintd.tool("fprintd-list", name).diagnostics.contains("right-index-finger"))
      #expect(try await machine.whorl("fingers").diagnostics.contains("none enrolled"))
    }
  }

  @Test("a session that may not enrol fingers is refused before any prompt, and told where enrolling works")
  func refused() async throws {
    try await machine { machine in
      try await machine.fprintd.enroll("right-index-finger", pressing: Self.right)
      try await machine.whorl("set", "bound", "--access", "current-set", input: "secret").mustSucceed()
      try machine.fprintd.allow("verify")
      for words in [["enroll", "left-thumb"], ["unenroll", "--all"]] {
        let refused = try await machine.whorl(words[0], words[1])
        #expect(refused.status == 77, "\(refused.diagnostics)")
        #expect(refused.diagnostics.hasPrefix("whorl: \(words[0]): this session may not "), "\(refused.diagnostics)")
        #expect(refused.failure.contains("'sudo fprintd-enroll \(machine.fprintd.userName())'"))
      }
    }
  }

  @Test("whorl init takes the fingers of the desktop's settings into a new store, and says so to a person")
  func initialised() async throws {
    try await PrivateFprintd.with(.image) { fprintd in
      try await fprintd.enroll("right-index-finger", pressing: Self.right)
      try await withFolder { folder in
        let machine = Machine(store: TestStore(folder: folder, recoveryKey: ""), fprintd: fprintd)
        let terminal = try atTerminal(machine, "init")
        for prompt in ["New passcode: ", "New passcode, again: "] {
          try await terminal.waits(for: prompt)
          try await terminal.becomes(echoing: false)
          terminal.type("one passcode\n")
        }
        #expect(try await terminal.status() == 0)
        #expect(terminal.shown.contains("fprintd has 1 finger of yours, and the store takes it."), "\(terminal.shown)")
        #expect(try await machine.whorl("fingers").text.contains("right-index"))
      }
    }
  }

  private func setUp(_ machine: Machine) throws -> PseudoTerminal { try atTerminal(machine, "setup") }

  /// A command at a terminal of this machine.
  private func atTerminal(_ machine: Machine, _ command: String) throws -> PseudoTerminal {
    let words = [try Programs.path("whorl")] + machine.store.arguments([command])
    return try PseudoTerminal(
      MachineFprintd(machine.fprintd).words(words), program: MachineFprintd.program,
      environment: ["HOME": machine.store.folder, "XDG_RUNTIME_DIR": machine.store.folder])
  }

  private func decline(_ terminal: PseudoTerminal) async throws {
    try await terminal.waits(for: "ssh, which signs only after a touch? [y/N]")
    terminal.type("\n")
    try await terminal.waits(for: "each after a touch? [y/N]")
    terminal.type("\n")
    #expect(try await terminal.status() == 0)
  }

  @Test("whorl setup enrols the first finger in fprintd if the session may enrol")
  func setUpHere() async throws {
    try await machine { machine in
      let terminal = try setUp(machine)
      try await terminal.waits(for: "Enrol the right index finger now?")
      terminal.type("\n")
      try await terminal.waits(for: "the reader (")
      for number in UInt64(1)...60 where !terminal.shown.contains("is enrolled.") {
        try? machine.fprintd.image.press(Self.right.impression(number))
        try await Task.sleep(for: .milliseconds(400))
      }
      try await decline(terminal)
      #expect(terminal.shown.contains("  fingers   1 enrolled"), "\(terminal.shown)")
    }
  }

  @Test(
    "whorl setup waits for a finger that is enrolled elsewhere if the session may not enrol",
    arguments: [(true, true), (false, true), (false, false)])
  func setUpElsewhere(_ comes: Bool, _ isTold: Bool) async throws {
    try await machine { machine in
      // fprintd lists the fingers only for users who may verify.
      try isTold ? machine.fprintd.allow("verify") : machine.fprintd.allow()
      let terminal = try setUp(machine)
      try await terminal.waits(for: "Waiting for it. Press Enter to continue without it.")
      let claims = try Claims(of: machine.fprintd)
      defer { claims.end() }
      #expect(terminal.shown.contains("'sudo fprintd-enroll \(machine.fprintd.userName())'"), "\(terminal.shown)")
      #expect(!terminal.shown.contains("asscode:"))
      if comes {
        try machine.fprintd.allow("verify", "enroll", "setusername")
        try await machine.fprintd.enroll("right-index-finger", pressing: Self.right)
        try await terminal.waits(for: "Found: 1 enrolled.")
      } else {
        // It looks every two seconds.
        try await Task.sleep(for: .seconds(5))
        #expect(!terminal.shown.contains("Found:"), "\(terminal.shown)")
        // A program that enrols a finger needs the reader for itself.
        if isTold { #expect(claims.count == 0) }
        terminal.type("\n")
      }
      try await decline(terminal)
    }
  }

  @Test(
    "whorl setup goes on without a finger at end of input, and ends at a signal", arguments: ["\u{4}", "\u{3}", nil])
  func waitEnds(_ key: String?) async throws {
    try await machine { machine in
      try machine.fprintd.allow("verify")
      let terminal = try setUp(machine)
      try await terminal.waits(for: "Waiting for it. Press Enter to continue without it.")
      // The terminal was closed.
      if let key { terminal.type(key) } else { terminal.signal(SIGHUP) }
      if key == "\u{4}" { return try await decline(terminal) }
      #expect(try await terminal.endingSignal() == (key == nil ? SIGHUP : SIGINT))
      // The first time is at the start.
      try await terminal.waits(for: "'whorl setup' goes on from here", count: 2)
      #expect(!terminal.shown.contains("[y/N]"), "\(terminal.shown)")
      #expect(terminal.isAsFound)
    }
  }

  @Test("deleting one finger leaves the others, in fprintd and in the store")
  func oneOfTwo() async throws {
    try await machine { machine in
      try await machine.fprintd.enroll("right-index-finger", pressing: Self.right)
      try await machine.fprintd.enroll("left-thumb", pressing: SyntheticFinger(person: 1, finger: .leftThumb))
      let forgotten = try await machine.whorl("unenroll", "left-thumb", passcode: true)
      #expect(forgotten.status == 0, "\(forgotten.diagnostics)")
      let listed = try await machine.fprintd.tool("fprintd-list", machine.fprintd.userName()).diagnostics
      #expect(listed.contains("right-index-finger") && !listed.contains("left-thumb"), "\(listed)")
      let fingers = try await machine.whorl("fingers").text
      #expect(fingers.contains("right-index") && !fingers.contains("left-thumb"), "\(fingers)")
    }
  }

  @Test("fprintd enrols and deletes no finger before the person agrees to the loss of bound items")
  func notAgreed() async throws {
    try await machine { machine in
      try await machine.fprintd.enroll("right-index-finger", pressing: Self.right)
      try await machine.whorl("set", "bound", "--access", "current-set", input: "secret").mustSucceed()
      for words in [["enroll", "left-thumb"], ["unenroll", "--all"]] {
        let refused = try await machine.whorl(words[0], words[1], passcode: words[0] == "unenroll")
        #expect(refused.status == 77 && refused.failure.contains("--yes"), "\(refused.diagnostics)")
        #expect(refused.diagnostics.contains("destroys 1 item bound to the current ones"), "\(refused.diagnostics)")
      }
      let listed = try await machine.fprintd.tool("fprintd-list", machine.fprintd.userName()).diagnostics
      #expect(listed.contains("right-index-finger") && !listed.contains("left-thumb"), "\(listed)")
      #expect(try await machine.whorl("get", "bound", touches: 1).text == "secret")
    }
  }
}

/// Counts the claims of fprintd's readers, as they pass on its bus.
private final class Claims: Sendable {
  private let monitor: RunningProgram
  private let seen = Mutex(0)

  init(of fprintd: PrivateFprintd) throws {
    let call = "interface='net.reactivated.Fprint.Device',member='Claim'"
    monitor = try Invocation(
      program: "/bin/sh", arguments: ["-c", "exec dbus-monitor --address \"$0\" \"$1\" >&2", fprintd.bus, call]
    ).start()
    startThread { [self] in
      _ = monitor.finish { line, _ in if line.contains("member=Claim") { seen.withLock { $0 += 1 } } }
    }
  }

  var count: Int { seen.withLock { $0 } }

  func end() { monitor.signal(SIGKILL) }
}
