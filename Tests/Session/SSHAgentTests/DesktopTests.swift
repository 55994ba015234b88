import Glibc
import ProgramDriver
import SDBus
import Testing

@Suite("whorl-agent on a desktop", .serialized)
struct DesktopTests {
  /// Runs the agent on a desktop, with `pinentry` as a script.
  private func with(
    _ touches: [Touches.Touch] = [], hasty: String? = nil, refusals: Int = 0,
    pinentry: (_ folder: String) -> String = { _ in "exit 1" },
    _ body: (RunningAgent, DesktopStandIn, String) async throws -> Void
  ) async throws {
    try await with(touches, hasty: hasty, refusals: refusals, pinentry: pinentry) { agent, desktop, key, _ in
      try await body(agent, desktop, key)
    }
  }

  private func with(
    _ touches: [Touches.Touch] = [], hasty: String? = nil, refusals: Int = 0, services: [String] = [],
    pinentry: (_ folder: String) -> String = { _ in "exit 1" },
    _ body: (RunningAgent, DesktopStandIn, String, PrivateBus) async throws -> Void
  ) async throws {
    try await PrivateBus.with(services: services) { bus in
      let desktop = try await DesktopStandIn(on: bus, hasty: hasty, refusals: refusals)
      defer { desktop.close() }
      try await TestStore.enrolled { store in
        let key = try await store.addKey("work")
        let program = "\(store.folder)/pinentry"
        try writeFile(program, Array("#!/bin/sh\n\(pinentry(store.folder))\n".utf8))
        chmod(program, 0o700)
        let environment = [
          "DBUS_SESSION_BUS_ADDRESS": bus.address, "PATH": "\(store.folder):/usr/bin:/bin",
        ]
        try await RunningAgent.with(store, touches, environment: environment) { agent in
          try await body(agent, desktop, key, bus)
        }
      }
    }
  }

  @Test("whorl-agent shows a notification with actions, and removes the notification after the touch")
  func shows() async throws {
    try await with([.right]) { agent, desktop, key in
      try await agent.sign(key, namespace: "<b>x&y</b>").mustSucceed()
      let shown = try await desktop.first()
      #expect(
        shown.text == "ssh-keygen wants to sign a file for bx&amp;y/b with the SSH key work. "
          + "Swipe the reader (virtual reader).\nProgram: /usr/bin/ssh-keygen")
      #expect(shown.actions == ["cancel", "Cancel", "passcode", "Passcode"])
      #expect(desktop.closed.contains(shown.number))
    }
  }

  @Test("Cancel and closing the notification both refuse the SSH signature", arguments: [true, false])
  func cancel(_ isAction: Bool) async throws {
    try await with { agent, desktop, key in
      async let signed = agent.sign(key)
      let shown = try await desktop.first()
      if isAction { desktop.choose("cancel", of: shown.number) } else { desktop.dismiss(shown.number) }
      let result = try await signed
      #expect(result.status != 0)
      #expect(result.output.isEmpty)
      try await agent.waits { $0.contains { $0.contains("refused to sign a file") && $0.contains("cancelled") } }
      // Not every desktop closes a notification after one of its actions was chosen.
      try await desktop.waitUntilClosed(shown.number)
    }
  }

  /// Runs the agent on a desktop where the window is installed.
  private func withWindow(
    pinentry: (_ folder: String) -> String = { _ in "exit 1" },
    _ body: (RunningAgent, DesktopStandIn, String, WindowStandIn) async throws -> Void
  ) async throws {
    try await withFolder { services in
      try writeFile(
        "\(services)/org.whorl.Whorl.service", Array("[D-BUS Service]\nName=org.whorl.Whorl\nExec=/bin/false\n".utf8))
      try await with(services: [services], pinentry: pinentry) { agent, desktop, key, bus in
        let window = try await WindowStandIn(on: bus)
        defer { window.close() }
        try await body(agent, desktop, key, window)
      }
    }
  }

  @Test("a click on the notification opens the window with the SSH keys, and the request goes on")
  func click() async throws {
    try await withWindow { agent, desktop, key, window in
      async let signed = agent.sign(key)
      let shown = try await desktop.first()
      #expect(shown.actions == ["cancel", "Cancel", "passcode", "Passcode", "default", "Whorl"])
      desktop.give(activationToken: "token-7", for: shown.number)
      desktop.choose("default", of: shown.number)
      // As desktops close what was clicked.
      desktop.dismiss(shown.number)
      while desktop.shown.count < 2 { try await Task.sleep(for: .milliseconds(5)) }
      let again = desktop.shown[1]
      #expect(again.number != shown.number && again.text == shown.text)
      #expect(window.actions == [WindowStandIn.Action(name: "keys", token: "token-7")])
      desktop.choose("cancel", of: again.number)
      #expect(try await signed.status != 0)
      try await desktop.waitUntilClosed(again.number)
    }
  }

  @Test("a click on the note of a request that nobody answered opens the window with the SSH keys, once")
  func clickLater() async throws {
    // The code of gpg-error: nobody has typed anything in pinentry's time.
    let late = """
      echo OK
      while read -r word rest; do
        case $word in GETPIN) echo "ERR 83886142 Timeout <Pinentry>" ;; *) echo OK ;; esac
      done
      """
    try await withWindow(pinentry: { _ in late }) { agent, desktop, key, window in
      for request in 0..<4 {
        async let signed = agent.sign(key)
        while desktop.shown.count <= 2 * request { try await Task.sleep(for: .milliseconds(5)) }
        desktop.choose("passcode", of: desktop.shown[2 * request].number)
        #expect(try await signed.status != 0)
      }
      let notes = desktop.shown.filter { $0.title == "Not answered" }
      try #require(notes.count == 4)
      #expect(notes.allSatisfy { $0.actions == ["default", "Whorl"] && $0.urgency == 1 })
      // Three are kept, and an earlier one does nothing.
      desktop.choose("default", of: notes[0].number)
      desktop.give(activationToken: "token-7", for: notes[1].number)
      desktop.choose("default", of: notes[1].number)
      // As desktops close what was clicked.
      desktop.dismiss(notes[1].number)
      try await desktop.waitUntilClosed(notes[1].number)
      desktop.choose("default", of: notes[1].number)
      desktop.dismiss(notes[2].number)
      desktop.choose("default", of: notes[3].number)
      try await desktop.waitUntilClosed(notes[3].number)
      #expect(
        window.actions == [
          WindowStandIn.Action(name: "keys", token: "token-7"), WindowStandIn.Action(name: "keys", token: nil),
        ])
      #expect(desktop.shown.count == 8, "nothing is shown again")
    }
  }

  @Test("whorl-agent waits for earlier requests of other Whorl programs in the session, in their order")
  func others() async throws {
    try await with([.right]) { agent, desktop, key, bus in
      let first = try await OtherPrompt(on: bus)
      async let signed = agent.sign(key)
      while try await first.queue() < 2 { try await Task.sleep(for: .milliseconds(5)) }
      let last = try await OtherPrompt(on: bus)
      #expect(try await last.queue() == 3)
      // A prompt would be shown in this time.
      try await Task.sleep(for: .milliseconds(500))
      #expect(agent.prompts.isEmpty && desktop.shown.isEmpty)
      first.end()
      try await signed.mustSucceed()
      #expect(desktop.shown.count == 1)
      #expect(try await last.queue() == 1, "the turn went on")
      last.end()
    }
  }

  @Test("whorl-agent shows each failed touch with the request until the next touch")
  func result() async throws {
    try await with([.wrong, .wrong, .right]) { agent, desktop, key in
      try await agent.sign(key).mustSucceed()
      let request = try await desktop.first().text
      #expect(
        desktop.shown.map(\.text) == [
          request, "No match, 2 touches left. \(request)", "No match, 1 touch left. \(request)",
        ])
      #expect(agent.prompts.count == 3)
    }
  }

  @Test("whorl-agent shows a notification again that the desktop has refused")
  func refused() async throws {
    try await with(refusals: 2) { agent, desktop, key in
      async let signed = agent.sign(key)
      let shown = try await desktop.first()
      desktop.choose("cancel", of: shown.number)
      #expect(try await signed.status != 0)
      try await desktop.waitUntilClosed(shown.number)
    }
  }

  @Test("whorl-agent does not show a refused notification again after a later one")
  func refusedBeforeLaterText() async throws {
    try await with([.wrong], refusals: 1) { agent, desktop, key in
      async let signed = agent.sign(key)
      let shown = try await desktop.first()
      #expect(shown.text.hasPrefix("No match, 2 touches left. "))
      try await Task.sleep(for: .milliseconds(1_500))
      #expect(desktop.shown == [shown], "\(desktop.shown)")
      desktop.choose("cancel", of: shown.number)
      #expect(try await signed.status != 0)
    }
  }

  @Test("whorl-agent does not show a refused notification again after the touch")
  func refusedBeforeTouch() async throws {
    try await with([.right], refusals: 1) { agent, desktop, key in
      try await agent.sign(key).mustSucceed()
      try await Task.sleep(for: .milliseconds(1_500))
      #expect(desktop.shown.isEmpty)
    }
  }

  @Test("whorl-agent shows nothing for a request that ended before the desktop could be reached")
  func late() async throws {
    try await with { agent, desktop, key, bus in
      bus.signal(SIGSTOP)
      try await agent.signForClientThatIsKilled(key)
      bus.signal(SIGCONT)
      async let later = agent.sign(key, namespace: "later")
      let shown = try await desktop.first()
      #expect(shown.text.contains("for later"), "\(shown)")
      desktop.choose("cancel", of: shown.number)
      #expect(try await later.status != 0)
      #expect(desktop.shown.count == 1)
    }
  }

  @Test("an action that arrives before the notification's number is known counts")
  func hasty() async throws {
    try await with(hasty: "cancel") { agent, desktop, key in
      #expect(try await agent.sign(key).status != 0)
      try await agent.waits { $0.contains { $0.contains("refused to sign a file") && $0.contains("cancelled") } }
    }
  }

  /// A pinentry that gives the passcode, and writes its input to `asked`.
  private static func pinentry(_ folder: String) -> String {
    """
    echo "OK"
    while read -r word rest; do
      case $word in
        GETPIN) echo "D \(TestStore.passcode.replacing("o", with: "%6F"))"; echo OK ;;
        *) echo "$word $rest" >>\(folder)/asked; echo OK ;;
      esac
    done
    """
  }

  /// What the pinentry was told.
  private func asked(_ key: String) throws -> String {
    let folder = key.split(separator: "/").dropLast().joined(separator: "/")
    return String(decoding: try readFile("/\(folder)/asked"), as: UTF8.self)
  }

  @Test("after three touches without a match, pinentry says so and asks for the passcode")
  func passcodeAfterTouches() async throws {
    try await with([.wrong, .wrong, .wrong], pinentry: Self.pinentry) { agent, _, key in
      try await agent.sign(key).mustSucceed()
      let asked = try asked(key)
      #expect(asked.contains("Three touches did not match an enrolled finger. Enter your Whorl passcode."), "\(asked)")
      try await agent.waits { $0.contains { $0.hasSuffix("three touches did not match an enrolled finger") } }
    }
  }

  @Test("a notification's action Passcode makes pinentry ask for the passcode instead of the finger")
  func passcode() async throws {
    try await with(pinentry: Self.pinentry) { agent, desktop, key in
      async let signed = agent.sign(key)
      let shown = try await desktop.first()
      desktop.choose("passcode", of: shown.number)
      try await signed.mustSucceed()
      let asked = try asked(key)
      #expect(
        asked.contains(
          "SETDESC ssh-keygen wants to sign a file with the SSH key work. Enter your Whorl passcode.%0A%0AProgram: /usr/bin/ssh-keygen"
        ))
      #expect(asked.contains("SETPROMPT Passcode:"))
    }
  }

  @Test("GNOME's pinentry gets the request as its heading, which it shows as the prompt")
  func heading() async throws {
    let script = { (folder: String) in
      """
      echo "OK"
      while read -r word rest; do
        case $word in
          GETINFO) echo "D gnome3"; echo OK ;;
          GETPIN) echo "D \(TestStore.passcode)"; echo OK ;;
          *) echo "$word $rest" >>\(folder)/asked; echo OK ;;
        esac
      done
      """
    }
    try await with(pinentry: script) { agent, desktop, key in
      async let signed = agent.sign(key)
      desktop.choose("passcode", of: try await desktop.first().number)
      try await signed.mustSucceed()
      let folder = key.split(separator: "/").dropLast().joined(separator: "/")
      let asked = String(decoding: try readFile("/\(folder)/asked"), as: UTF8.self).split(separator: "\n")
      #expect(asked.contains("SETPROMPT ssh-keygen wants to sign a file with the SSH key work."), "\(asked)")
      #expect(asked.contains("SETDESC Enter your Whorl passcode.%0A%0AProgram: /usr/bin/ssh-keygen"), "\(asked)")
    }
  }

  @Test("pinentry gets the service manager's display if whorl-agent was started before the desktop")
  func laterDisplay() async throws {
    let script = { (folder: String) in "env >\(folder)/environment; exit 1" }
    try await with(pinentry: script) { agent, desktop, key, bus in
      let manager = try await ServiceManagerStandIn(on: bus, ["DISPLAY=:7", "XAUTHORITY=/x", "SECRET=1"])
      defer { manager.close() }
      async let signed = agent.sign(key)
      desktop.choose("passcode", of: try await desktop.first().number)
      #expect(try await signed.status != 0)
      let folder = key.split(separator: "/").dropLast().joined(separator: "/")
      let environment = String(decoding: try readFile("/\(folder)/environment"), as: UTF8.self).split(separator: "\n")
      #expect(environment.contains("DISPLAY=:7"), "\(environment)")
      #expect(environment.contains("XAUTHORITY=/x"), "\(environment)")
      #expect(!environment.contains("SECRET=1"))
    }
  }

  @Test(
    "a pinentry that is cancelled, or ends because nobody answers, refuses the SSH signature",
    arguments: [
      ("83886179 cancelled", "cancelled"), ("83886142 Timeout", "no finger or passcode came in time"),
    ])
  func cancelledPasscode(_ error: String, _ said: String) async throws {
    let script = """
      echo "OK"
      while read -r word rest; do
        case $word in GETPIN) echo "ERR \(error)" ;; *) echo OK ;; esac
      done
      """
    try await with(pinentry: { _ in script }) { agent, desktop, key in
      async let signed = agent.sign(key)
      let shown = try await desktop.first()
      desktop.choose("passcode", of: shown.number)
      let result = try await signed
      #expect(result.status != 0)
      #expect(result.output.isEmpty)
      try await agent.waits { $0.contains { $0.contains("refused to sign a file") && $0.hasSuffix(": \(said)") } }
      #expect(!agent.lines.contains { $0.contains("pinentry cannot ask") })
    }
  }
}

/// The prompt of another program of Whorl, as the bus sees it.
private struct OtherPrompt {
  private static let name = BusValue.string("org.whorl.Prompt")

  private let connection: BusConnection

  init(on bus: PrivateBus) async throws {
    connection = try BusConnection(busAddress: bus.address, handlers: .init())
    _ = try await connection.call(MessageBus.target, "RequestName", [Self.name, .uint32(0)])
  }

  /// How many ask or wait.
  func queue() async throws -> Int {
    let answer = try await connection.call(MessageBus.target, "ListQueuedOwners", [Self.name])
    return answer.first?.asArray?.count ?? 0
  }

  func end() { connection.close() }
}

extension String {
  fileprivate func replacing(_ character: Character, with text: String) -> String {
    map { $0 == character ? text : String($0) }.joined()
  }
}
