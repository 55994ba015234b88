import Glibc
import ProgramDriver
import SDBus
import Testing

@Suite(
  "A finger or the password at once, with the service",
  .enabled(if: geteuid() == 0, "only root's programs log people in"), .timeLimit(.minutes(5)))
struct LoginModuleTests {
  private static let prompt = "Password, or swipe the reader: "
  private static let plain = "Password: "
  private static let hasPolkit = access(PolkitHelper.program, X_OK) == 0

  /// What the terminal has shown after the prompt for both.
  private func afterwards(_ terminal: PseudoTerminal) -> Substring {
    let shown = terminal.shown
    return shown.firstRange(of: Self.prompt).map { shown[$0.upperBound...] } ?? shown[...]
  }

  @Test("at su a finger lets in, and so does the password where it is typed first")
  func whicheverComesFirst() async throws {
    try await LoginMachine.with { machine in
      let finger = try await machine.su()
      try await finger.waits(for: Self.prompt)
      try await machine.press(20)
      try await finger.waits(for: "let in")
      #expect(try await finger.status() == 0)
      #expect(!afterwards(finger).contains(Self.plain))
      #expect(finger.isAsFound)

      let typed = try await machine.su()
      try await typed.waits(for: Self.prompt)
      typed.type("\(LoginMachine.password)\n")
      try await typed.waits(for: "let in")
      #expect(try await typed.status() == 0)
      #expect(!afterwards(typed).contains(Self.plain) && !typed.shown.contains(LoginMachine.password))
      // Nobody has taken the reader from the next one.
      let again = try await machine.su()
      try await again.waits(for: Self.prompt)
      try await machine.press(21)
      try await again.waits(for: "let in")
    }
  }

  @Test("at su a wrong finger is told, and then the password lets in, or the right finger")
  func wrongFinger() async throws {
    try await LoginMachine.with { machine in
      for isTyped in [true, false] {
        let terminal = try await machine.su()
        try await terminal.waits(for: Self.prompt)
        try await machine.press(50, person: 2)
        try await terminal.waits(for: "No match, swipe again or type. ")
        if isTyped { terminal.type("\(LoginMachine.password)\n") } else { try await machine.press(22) }
        try await terminal.waits(for: "let in")
        #expect(try await terminal.status() == 0)
      }
      let wrong = try await machine.su()
      try await wrong.waits(for: Self.prompt)
      wrong.type("not it\n")
      #expect(try await wrong.status() == 1)
    }
  }

  @Test("after five wrong touches su asks for the password alone, which lets in")
  func lockout() async throws {
    try await LoginMachine.with { machine in
      for (touches, words) in [
        (3, "The fingerprint does not match."),
        (2, "Fingers are locked after too many wrong touches. Type your password."),
      ] {
        let terminal = try await machine.su()
        try await terminal.waits(for: Self.prompt)
        for number in 1...touches {
          try await machine.press(UInt64(50 + number), person: 2)
          if number < touches { try await terminal.waits(for: "No match, ", count: number) }
        }
        try await terminal.waits(for: words)
        try await terminal.becomes(echoing: false)
        terminal.type("\(LoginMachine.password)\n")
        try await terminal.waits(for: "let in")
        #expect(afterwards(terminal).contains(Self.plain))
      }
      let locked = try await machine.su()
      try await locked.waits(for: "Fingers are locked")
      try await locked.becomes(echoing: false)
      locked.type("\(LoginMachine.password)\n")
      try await locked.waits(for: "let in")
      #expect(!locked.shown.contains(Self.prompt))
    }
  }

  @Test(
    "polkit's helper that systemd has started asks for a finger where its agent's session is at the seat",
    .enabled(if: hasPolkit, "polkit is not installed"))
  func agentAtTheSeat() async throws {
    try await LoginMachine.with { machine in
      // A slow service is named below the prompt.
      let finger = try await machine.polkitHelper()
      _ = try await finger.waits(for: "swipe the reader")
      try await machine.press(23)
      #expect(await finger.letsIn())
      let typed = try await machine.polkitHelper()
      _ = try await typed.waits(for: "swipe the reader")
      typed.send("\(LoginMachine.password)\n")
      #expect(await typed.letsIn())
      let wrong = try await machine.polkitHelper()
      _ = try await wrong.waits(for: "swipe the reader")
      wrong.send("not it\n")
      #expect(await !wrong.letsIn())
    }
  }

  @Test(
    "polkit's helper asks for the finger and then the password where its agent reads a terminal",
    .enabled(if: hasPolkit, "polkit is not installed"))
  func agentAtTerminal() async throws {
    try await LoginMachine.with { machine in
      let finger = try await machine.polkitHelperAtTerminal()
      try await finger.waits(for: "PAM_TEXT_INFO Swipe the fingerprint reader.")
      try await machine.press(24)
      #expect(try await eventually { machine.hasLetIn() })
      #expect(!finger.shown.contains("PAM_PROMPT_ECHO_OFF"))
    }
  }

  @Test(
    "polkit's helper asks for the finger and then the password for the agents of XFCE and MATE",
    .enabled(if: hasPolkit, "polkit is not installed"))
  func agentThatBlocks() async throws {
    try await LoginMachine.with { machine in
      for (number, agent) in ["polkit-gnome-au", "polkit-mate-aut"].enumerated() {
        let helper = try await machine.polkitHelper(for: agent)
        let said = try await helper.waits(for: "PAM_TEXT_INFO Swipe the fingerprint reader.")
        #expect(!said.contains("PAM_PROMPT_ECHO_OFF"))
        try await machine.press(UInt64(90 + number))
        #expect(await helper.letsIn())
      }
    }
  }

  @Test(
    "polkit's helper names the reader in a message for KDE's agent, which shows no prompt",
    .enabled(if: hasPolkit, "polkit is not installed"))
  func agentWithoutPrompt() async throws {
    try await LoginMachine.with { machine in
      let finger = try await machine.polkitHelper(for: "polkit-kde-auth")
      let said = try await finger.waits(for: "PAM_TEXT_INFO Or swipe the reader.")
      #expect(said.contains("PAM_PROMPT_ECHO_OFF Password:"))
      try await machine.press(92)
      #expect(await finger.letsIn())
      let typed = try await machine.polkitHelper(for: "polkit-kde-auth")
      _ = try await typed.waits(for: "PAM_TEXT_INFO Or swipe the reader.")
      typed.send("\(LoginMachine.password)\n")
      #expect(await typed.letsIn())
    }
  }

  @Test(
    "polkit's helper asks for the password alone where its agent is elsewhere, or a person's program has started it",
    .enabled(if: hasPolkit, "polkit is not installed"))
  func agentElsewhere() async throws {
    try await LoginMachine.with { machine in
      func asksForPassword(_ helper: PolkitHelper) async throws -> Bool {
        _ = try await helper.waits(for: "PAM_PROMPT_ECHO_OFF")
        // A slow service would ask for the finger after the prompt.
        try await Task.sleep(for: .seconds(2))
        let isAlone = !helper.said().contains("reader")
        helper.send("\(LoginMachine.password)\n")
        return await helper.letsIn() && isAlone
      }
      let first = try await machine.polkitHelper()
      _ = try await first.waits(for: "swipe the reader")
      first.send("\(LoginMachine.password)\n")
      #expect(await first.letsIn())
      // What a person's program connects a helper to that it starts itself proves nothing.
      let own = try await machine.polkitHelper(startedBy: 1)
      #expect(try await asksForPassword(own))
      let changes: [[String: BusValue]] = [
        ["Remote": .boolean(true)], ["LockedHint": .boolean(true)], ["State": .string("online")],
        ["Seat": LogindStandIn.noSeat],
      ]
      for change in changes {
        let helper = try await machine.polkitHelper(in: change)
        #expect(try await asksForPassword(helper), "\(change)")
      }
    }
  }

  @Test("a lock screen that runs as its user takes a finger alone, or after Enter without a password")
  func lockScreen() async throws {
    try await LoginMachine.with { machine in
      // Locked or not: not every locker says so.
      for (number, (service, isLocked)) in [("kde-fingerprint", true), ("swaylock", false)].enumerated() {
        let locker = try await machine.locker(service, typed: "", ["LockedHint": .boolean(isLocked)])
        try await locker.waits(for: "Swipe the fingerprint reader.")
        try await machine.press(UInt64(60 + number))
        try await locker.waits(for: "let in")
        let wrong = try await machine.locker(service, typed: "", ["LockedHint": .boolean(isLocked)])
        try await wrong.waits(for: "Swipe the fingerprint reader.")
        try await machine.press(70, person: 2)
        try await wrong.waits(for: "No match.")
        try await machine.press(UInt64(62 + number))
        try await wrong.waits(for: "let in")
      }
    }
  }

  @Test("a lock screen that runs as its user takes a typed password without a word about the reader")
  func passwordAtLockScreen() async throws {
    try await LoginMachine.with { machine in
      for (password, status) in [(LoginMachine.password, Int32(0)), ("not it", 1)] {
        let locker = try await machine.locker("swaylock", typed: password)
        #expect(try await locker.status() == status, "\(locker.shown)")
        #expect(!locker.shown.contains("reader"))
      }
      machine.removeService()
      let locker = try await machine.locker("swaylock", typed: LoginMachine.password)
      #expect(try await locker.status() == 0)
      // Plasma asks for no finger again until the next lock.
      let alone = try await machine.locker("kde-fingerprint", typed: "")
      try await alone.waits(for: "refused 9")
    }
  }

  @Test("a lock screen asks for no finger over ssh, in the background, at no seat and in another user's session")
  func lockScreenElsewhere() async throws {
    try await LoginMachine.with { machine in
      let changes: [[String: BusValue]] = [
        ["Remote": .boolean(true)], ["State": .string("online")], ["Seat": LogindStandIn.noSeat],
      ]
      var lockers: [PseudoTerminal] = []
      for change in changes {
        for service in ["kde-fingerprint", "swaylock"] {
          lockers.append(try await machine.locker(service, typed: "", change))
        }
      }
      lockers.append(try await machine.locker("kde-fingerprint", typed: "", inSessionOf: 2))
      for locker in lockers {
        try await locker.waits(for: "refused 7")
        #expect(!locker.shown.contains("Swipe"))
      }
      let typed = try await machine.locker("swaylock", typed: LoginMachine.password, ["Remote": .boolean(true)])
      #expect(try await typed.status() == 0)
    }
  }

  @Test("a lock screen's finger is locked out after five wrong touches, and the password is not")
  func lockoutAtLockScreen() async throws {
    try await LoginMachine.with { machine in
      for touches in [3, 2] {
        let locker = try await machine.locker("kde-fingerprint", typed: "")
        for number in 1...touches {
          try await locker.waits(for: "wipe the fingerprint reader", count: number)
          try await machine.press(UInt64(80 + number), person: 2)
        }
        try await locker.waits(for: "refused 7")
      }
      let locked = try await machine.locker("swaylock", typed: "")
      try await locked.waits(for: "Fingers are locked")
      let typed = try await machine.locker("swaylock", typed: LoginMachine.password)
      #expect(try await typed.status() == 0)
    }
  }

  @Test("at su, polkit's helper and lock screens a finger at open-fprintd's reader lets in, and so does the password")
  func openFprintd() async throws {
    try await LoginMachine.withOpenFprintd(["right-index-finger"]) { machine, fprintd in
      let prompt = "Password, or touch the reader: "
      let finger = try await machine.su()
      try await finger.waits(for: prompt)
      try await fprintd.touchWhenArmed(.right)
      try await finger.waits(for: "let in")
      for touch in [OpenFprintd.Touch.wrong, .unreadable] {
        let terminal = try await machine.su()
        try await terminal.waits(for: prompt)
        try await fprintd.touchWhenArmed(touch)
        try await terminal.waits(for: "touch again or type. ")
        terminal.type("\(LoginMachine.password)\n")
        try await terminal.waits(for: "let in")
      }
      for service in ["kde-fingerprint", "swaylock"] {
        let locker = try await machine.locker(service, typed: "", ["LockedHint": .boolean(true)])
        try await locker.waits(for: "Touch the fingerprint reader.")
        try await fprintd.touchWhenArmed(.right)
        try await locker.waits(for: "let in")
      }
      let typed = try await machine.su()
      try await typed.waits(for: prompt)
      typed.type("\(LoginMachine.password)\n")
      try await typed.waits(for: "let in")
      guard Self.hasPolkit else { return }
      let helper = try await machine.polkitHelper()
      _ = try await helper.waits(for: "touch the reader")
      try await fprintd.touchWhenArmed(.right)
      #expect(await helper.letsIn())
    }
  }

  @Test("a login just after a typed password asks for a finger again, though the reader is still given back")
  func afterTypedPassword() async throws {
    try await LoginMachine.withOpenFprintd(["right-index-finger"]) { machine, fprintd in
      for _ in 1...3 {
        let typed = try await machine.su()
        try await typed.waits(for: "touch the reader: ")
        #expect(try await eventually { fprintd.isArmed })
        typed.type("\(LoginMachine.password)\n")
        try await typed.waits(for: "let in")
      }
    }
  }
}
