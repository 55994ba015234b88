import Glibc
import ProgramDriver
import Testing

@Suite("A command without a terminal on a desktop")
struct DesktopPromptTests {
  private struct Desk {
    let store: TestStore
    let desktop: DesktopStandIn
    /// The environment that a desktop gives to its programs.
    let environment: [String: String]

    /// Runs a command. With touches, a finger is pressed when it asks.
    func run(_ words: String..., touches: [Touches.Touch] = [], descriptors: [String] = []) async throws
      -> Invocation.Result
    {
      try await Invocation(
        arguments: store.arguments(words + store.reader), descriptors: descriptors, environment: environment
      ).run(heard: Touches(socket: store.socket, touches).heard)
    }
  }

  /// - Parameter pinentry: the lines of a script that stands in for pinentry.
  private func with(
    display: String = ":7", pinentry: String = "exit 1", _ body: (Desk) async throws -> Void
  ) async throws {
    try await PrivateBus.with { bus in
      let desktop = try await DesktopStandIn(on: bus)
      defer { desktop.close() }
      try await TestStore.enrolled { store in
        let program = "\(store.folder)/pinentry"
        try writeFile(program, Array("#!/bin/sh\n\(pinentry)\n".utf8))
        chmod(program, 0o700)
        try await body(
          Desk(
            store: store, desktop: desktop,
            environment: [
              "DBUS_SESSION_BUS_ADDRESS": bus.address, "DISPLAY": display, "PATH": "\(store.folder):/usr/bin:/bin",
            ]))
      }
    }
  }

  @Test("a command without a terminal asks by a notification with item and reason, and removes it after the touch")
  func shows() async throws {
    try await with { desk in
      let got = try await desk.run("get", "presence", "--reason", "send <mail> & “more”", touches: [.right])
      #expect(got.text == "presence", "\(got.diagnostics)")
      let shown = try await desk.desktop.first()
      #expect(
        shown.text.contains(
          " wants to use “presence”, for: send mail &amp; more. Swipe the reader (virtual reader).\nProgram: /"),
        "the program that has started the command")
      #expect(shown.actions == ["cancel", "Cancel", "passcode", "Passcode"])
      #expect(desk.desktop.closed.contains(shown.number))
      // Standard error has the same text.
      #expect(got.diagnostics.contains("the reader (virtual reader) to use “presence”, for: send mail & more"))
    }
  }

  @Test("Cancel in a notification ends the command without the secret")
  func cancel() async throws {
    try await with { desk in
      async let got = desk.run("get", "presence")
      let shown = try await desk.desktop.first()
      desk.desktop.choose("cancel", of: shown.number)
      let result = try await got
      #expect(result.status != 0)
      #expect(result.output.isEmpty)
    }
  }

  @Test("a command without a terminal leaves a note in the notification list if nobody answers")
  func unanswered() async throws {
    try await with { desk in
      let got = try await desk.run("get", "presence", "--timeout", "1")
      #expect(got.status == 75 && got.output.isEmpty, "\(got.diagnostics)")
      let left = try await desk.desktop.first(with: " wanted to use “presence”; nobody answered.")
      #expect(left.title == "Not answered" && left.actions.isEmpty && left.urgency == 1 && !left.isTransient)
      #expect(left.number == desk.desktop.shown[0].number && desk.desktop.closed.isEmpty)
    }
  }

  @Test("Passcode in a notification has pinentry ask for the passcode")
  func passcode() async throws {
    let script = """
      echo "OK"
      while read -r word rest; do
        case $word in GETPIN) echo "D \(TestStore.passcode)"; echo OK ;; *) echo OK ;; esac
      done
      """
    try await with(pinentry: script) { desk in
      async let got = desk.run("get", "presence")
      let shown = try await desk.desktop.first()
      desk.desktop.choose("passcode", of: shown.number)
      let result = try await got
      #expect(result.text == "presence", "\(result.diagnostics)")
    }
  }

  @Test(
    "a signal to a command at each step of pinentry ends pinentry, which would stay on the screen",
    arguments: ["started", "greeted", "asked"])
  func signalled(_ step: String) async throws {
    // Reads nothing while it asks, like the dialogs of desktops.
    let script = """
      folder="${PATH%%:*}"
      echo $$ >"$folder/started"
      echo "OK"
      while read -r word rest; do
        : >"$folder/greeted"
        case $word in GETPIN) : >"$folder/asked"; trap '' TERM HUP INT; exec sleep 1000 ;; *) echo OK ;; esac
      done
      """
    try await with(pinentry: script) { desk in
      try await desk.store.set("locked", "locked", "--access", "passcode")
      let program = try Invocation(
        arguments: desk.store.arguments(["get", "locked"]), environment: desk.environment
      ).start()
      for _ in 0..<100_000 where access("\(desk.store.folder)/\(step)", F_OK) != 0 { usleep(100) }
      program.signal(SIGTERM)
      let result = program.finish { _, _ in }
      #expect(result.status == 128 + SIGTERM, "\(result.diagnostics)")
      let line = String(decoding: try readFile("\(desk.store.folder)/started"), as: UTF8.self)
      let pinentry = try #require(pid_t(line.filter(\.isNumber)), "it has not started")
      // Its number stays until its new parent asks for its end; `Z` is then its state.
      let state = (try? readFile("/proc/\(pinentry)/stat")).map { String(decoding: $0, as: UTF8.self) }
      #expect(state.map { $0.contains(") Z ") } ?? true, "pinentry runs on")
    }
  }

  @Test("pinentry gets nothing of the environment that it does not need")
  func pinentryEnvironment() async throws {
    try await with(pinentry: #"env >"${PATH%%:*}/environment"; exit 1"#) { desk in
      async let got = Invocation(
        arguments: desk.store.arguments(["get", "presence"] + desk.store.reader),
        environment: desk.environment.merging(["SECRET_TOKEN": "1"]) { $1 }
      ).run()
      desk.desktop.choose("passcode", of: try await desk.desktop.first().number)
      #expect(try await got.status != 0)
      let environment = String(decoding: try readFile("\(desk.store.folder)/environment"), as: UTF8.self)
      #expect(environment.contains("DISPLAY=:7"))
      #expect(!environment.contains("SECRET_TOKEN"))
    }
  }

  @Test("a command without a terminal takes a given passcode without pinentry")
  func givenPasscode() async throws {
    try await with { desk in
      try await desk.store.set("locked", "locked", "--access", "passcode")
      let got = try await desk.run("get", "locked", "--passcode-fd", "3", descriptors: [TestStore.passcode + "\n"])
      #expect(got.text == "locked", "\(got.diagnostics)")
    }
  }

  @Test("a command shows no notification without a display, or if prompts are not allowed")
  func silent() async throws {
    try await with { desk in
      let refused = try await desk.run("get", "presence", "--no-prompt")
      #expect(refused.status == 77)
      #expect(desk.desktop.shown.isEmpty)
    }
    try await with(display: "") { desk in
      let got = try await desk.run("get", "presence", touches: [.right])
      #expect(got.text == "presence", "\(got.diagnostics)")
      #expect(desk.desktop.shown.isEmpty)
    }
  }
}
