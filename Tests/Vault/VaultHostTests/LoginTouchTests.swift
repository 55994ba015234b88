import Glibc
import Primitives
import Processes
import ProgramDriver
import SDBus
import SecretModel
import Synchronization
import Testing
import VaultDriver
import VaultHost
import VirtualFinger

/// The virtual reader is a swipe sensor.
@Suite("A finger for a login", .timeLimit(.minutes(5)))
struct LoginTouchTests {
  private static let inSession = LoginProgram(isGreeter: false, seat: "", terminal: "/dev/pts/1")
  private static let locker = LoginProgram(isGreeter: false, isLocker: true, seat: "", terminal: "")
  private static let greeter = LoginProgram(isGreeter: true, seat: "seat0", terminal: ":0")

  /// A service on a machine whose user sits at the seat, and this process in that session.
  private struct Site: Sendable {
    let service: RunningService
    let logind: LogindStandIn
    let polkit: PolkitStandIn
    let entries: Entries

    private var sensor: String { service.folder + "/sensor" }

    final class Entries: Sendable {
      let list = Mutex<[AuditEntry]>([])
    }

    func press(_ number: UInt64, person: Int = 1, patience: Duration = .seconds(15)) async throws {
      let image = SyntheticFinger(person: person, finger: .rightIndex).impression(number)
      try await onThread { try VirtualImageReader(socket: sensor, patience: patience).press(image) }
    }

    func spoil() async throws {
      try await onThread { try VirtualImageReader(socket: sensor, patience: .seconds(15)).retry(.tooShort) }
    }

    func with<T: Sendable>(_ body: (any VaultService) async throws -> T) async throws -> T {
      let connection = try service.connect()
      let result = try await body(try await connection.open(.own))
      await connection.close()
      return result
    }

    func enroll() async throws {
      let person = Person(
        passcodes: [RunningService.passcode], touches: (1...6).map { number in { try await press(number) } })
      try await with { vault in
        _ = try await person.with(vault) { try await vault.enroll(.rightIndex, Asking(in: $0)) }
      }
    }

    func unlock() async throws {
      try await with { vault in
        try await Person(passcodes: [RunningService.passcode]).with(vault) { try await vault.unlock(Asking(in: $0)) }
      }
    }

    /// Starts a verification as the PAM module does, from this process.
    func begin(_ program: LoginProgram) async throws -> LoginAnswer {
      let started = try #require(ProcessHandle.start(of: getpid()))
      return try await service.logins.verify(
        Caller(
          user: geteuid(), process: .init(id: getpid(), started: started), label: "sudo\n", login: program))
    }

    /// Answers each prompt with the next touch. Returns the prompts and the outcome.
    func verify(
      _ program: LoginProgram = inSession, _ touches: [@Sendable () async throws -> Void] = []
    ) async throws -> ([LoginPrompt], LoginOutcome) {
      let verification: any LoginVerification
      switch try await begin(program) {
      case .settled(let outcome): return ([], outcome)
      case .trying: throw RunningService.Failed(what: "a passcode is tried")
      case .verifying(let begun): verification = begun
      }
      var prompts: [LoginPrompt] = []
      var touches = touches[...]
      var step = await verification.next()
      while case .prompt(let prompt) = step {
        prompts.append(prompt)
        async let next = verification.next()
        if let touch = touches.popFirst() { try await touch() } else { await verification.end() }
        step = await next
      }
      guard case .settled(let outcome) = step else { throw RunningService.Failed(what: "no outcome") }
      return (prompts, outcome)
    }

    func strangers(_ count: Int) -> [@Sendable () async throws -> Void] {
      (0..<count).map { number in { try await press(UInt64(50 + number), person: 2) } }
    }
  }

  private func withSite(enrolling: Bool = true, _ body: (Site) async throws -> Void) async throws {
    try await PrivateBus.withSession { bus, logind, polkit in
      let entries = Site.Entries()
      let service = try RunningService(
        sessions: LoginSessions(polkit: Polkit(bus: bus.address), bus: bus.address),
        journal: { entry, _ in entries.list.withLock { $0.append(entry) } })
      let site = Site(service: service, logind: logind, polkit: polkit, entries: entries)
      try await service.makeStore()
      if enrolling { try await site.enroll() }
      // polkit's rules for users' programs do not apply to root's.
      polkit.manner = .answers(authorized: false, challenge: false)
      try await body(site)
      try await service.end()
    }
  }

  @Test("a finger for a login is asked for once, counts for that request only, opens nothing, and is logged")
  func verified() async throws {
    try await withSite { site in
      try await site.with { try await $0.lock() }
      let (prompts, outcome) = try await site.verify(Self.inSession, [{ try await site.press(20) }])
      #expect(prompts == [.swipe])
      #expect(outcome == .verified)
      #expect(try await site.with { try await $0.status().openClasses } == [])
      // Nobody touches for the next one.
      let (_, second) = try await site.verify()
      #expect(second == .noFinger)
      #expect(try await eventually { site.entries.list.withLock { $0.count { $0.request == .verifyLogin } } == 2 })
      let entry = try #require(site.entries.list.withLock { $0.first { $0.request == .verifyLogin } })
      #expect(entry.outcome == .done && entry.program == "sudo" && entry.process == Int(getpid()))
      #expect(entry.prompts == [.touch] && entry.items.isEmpty)
    }
  }

  @Test("other people's fingers at a login count in the user's lockout, which a login with the passcode clears")
  func lockout() async throws {
    try await withSite { site in
      let (prompts, outcome) = try await site.verify(Self.inSession, site.strangers(3))
      #expect(prompts == [.swipe, .otherFingerSwipe, .otherFingerSwipe])
      #expect(outcome == .noMatch)
      #expect(try await site.with { try await $0.status().failures } == 3)
      let (more, locked) = try await site.verify(Self.inSession, site.strangers(3))
      #expect(more == [.swipe, .otherFingerSwipe], "the fifth locks, and nobody is told to touch again")
      #expect(locked == .lockedOut)
      let (none, still) = try await site.verify(Self.inSession, [{ try await site.press(21) }])
      #expect(none == [] && still == .lockedOut)
      #expect(try await site.with { try await $0.status().lockedOut })
      // The login password is the passcode, so a login with it clears the lockout.
      try await site.with { vault in
        _ = try await vault.add(
          NewItem(LoginItem(.passcode)), secret: SecretBytes(text: ""), replacing: false, .nobody)
        try await vault.lock()
      }
      let answer = try await site.service.logins.openSession(
        "c1", of: geteuid(), by: "login", password: SecretBytes(text: RunningService.passcode))
      guard case .trying(let task) = answer else { throw RunningService.Failed(what: "\(answer)") }
      #expect(await task.value == .open)
      let (again, verified) = try await site.verify(Self.inSession, [{ try await site.press(22) }])
      #expect(again == [.swipe] && verified == .verified)
    }
  }

  @Test("a lock screen of the user's own gets a match in a locked session, and the log says that it was to unlock")
  func lockScreen() async throws {
    try await withSite { site in
      site.logind.change("c1", ["LockedHint": .boolean(true)])
      let (refused, denied) = try await site.verify(Self.locker, [{ try await site.press(30) }])
      #expect(refused == [] && denied == .noFinger, "polkit's rules for users' programs apply")
      site.polkit.manner = .answers(authorized: true, challenge: false)
      let (prompts, outcome) = try await site.verify(Self.locker, [{ try await site.press(31) }])
      #expect(prompts == [.swipe] && outcome == .verified)
      let entries = { site.entries.list.withLock { $0.filter { $0.request == .unlockScreen } } }
      #expect(try await eventually { entries().contains { $0.outcome == .done && $0.prompts == [.touch] } })
      #expect(entries().allSatisfy { $0.items.isEmpty })
      let (wrong, locked) = try await site.verify(Self.locker, site.strangers(3))
      #expect(wrong.count == 3 && locked == .noMatch)
      _ = try await site.verify(Self.locker, site.strangers(3))
      let (none, out) = try await site.verify(Self.locker, [{ try await site.press(32) }])
      #expect(none == [] && out == .lockedOut, "one lockout over all")
    }
  }

  @Test("a lock screen gets no finger over ssh, in the background, at another seat and in another user's session")
  func lockScreenRefused() async throws {
    try await withSite { site in
      site.polkit.manner = .answers(authorized: true, challenge: false)
      let changes: [[String: BusValue]] = [
        ["Remote": .boolean(true), "LockedHint": .boolean(true)], ["State": .string("online")],
        ["Seat": LogindStandIn.seat("seat1")],
      ]
      for change in changes {
        site.logind.add("c1", process: getpid(), change)
        let (prompts, outcome) = try await site.verify(Self.locker, [{ try await site.press(33) }])
        #expect(prompts == [] && outcome == .noFinger, "\(change)")
      }
      site.logind.add("c1", user: geteuid() + 1, process: getpid())
      let (prompts, outcome) = try await site.verify(Self.locker, [{ try await site.press(34) }])
      #expect(prompts == [] && outcome == .noFinger)
      #expect(try await site.with { try await $0.status().failures } == 0)
    }
  }

  @Test("one touch answers one of many requests at once for a lock screen")
  func manyAtLockScreen() async throws {
    try await withSite { site in
      site.polkit.manner = .answers(authorized: true, challenge: false)
      guard case .verifying(let first) = try await site.begin(Self.locker), case .prompt = await first.next() else {
        throw RunningService.Failed(what: "no prompt")
      }
      let last = Task { await first.next() }
      try await withThrowingTaskGroup(of: LoginStep.self) { group in
        for _ in 0..<20 {
          group.addTask {
            guard case .verifying(let one) = try await site.begin(Self.locker) else { return .settled(.noStore) }
            return await one.next()
          }
        }
        try await site.press(35)
        #expect(await last.value == .settled(.verified))
        for try await step in group { #expect(step != .settled(.verified)) }
      }
    }
  }

  @Test("a login asks for the finger again after an unreadable touch")
  func retry() async throws {
    try await withSite { site in
      let (prompts, outcome) = try await site.verify(
        Self.inSession, [{ try await site.spoil() }, { try await site.press(23) }])
      #expect(prompts == [.swipe, .retrySwipe] && outcome == .verified)
    }
  }

  @Test("a greeter outside of any session asks for a finger, unless the store would stay closed")
  func greeter() async throws {
    try await withSite { site in
      site.logind.remove("c1")
      site.logind.setDisplay(nil)
      site.logind.add("c2", user: 990, ["Class": .string("greeter")])
      site.logind.show("c2")
      let (prompts, outcome) = try await site.verify(Self.greeter, [{ try await site.press(24) }])
      #expect(prompts == [.swipe] && outcome == .verified)
      let (_, other) = try await site.verify(Self.inSession, [{ try await site.press(25) }])
      #expect(other == .noFinger, "a program that is no greeter has to be in a session")
      try await site.with { vault in
        _ = try await vault.add(
          NewItem(LoginItem(.passcode)), secret: SecretBytes(text: ""), replacing: false, .nobody)
        try await vault.lock()
      }
      let (none, password) = try await site.verify(Self.greeter)
      #expect(none == [] && password == .password)
      try await site.unlock()
      let (opened, verified) = try await site.verify(Self.greeter, [{ try await site.press(26) }])
      #expect(opened == [.swipe] && verified == .verified)
    }
  }

  @Test("a login does not ask for a finger in a session that is remote, locked or in the background")
  func sessions() async throws {
    try await withSite { site in
      let changes: [[String: BusValue]] = [
        ["Remote": .boolean(true)], ["LockedHint": .boolean(true)], ["State": .string("online")],
      ]
      for change in changes {
        site.logind.add("c1", process: getpid(), change)
        for program in [Self.inSession, Self.greeter] {
          let (prompts, outcome) = try await site.verify(program, [{ try await site.press(27) }])
          #expect(prompts == [] && outcome == .noFinger, "\(change)")
        }
      }
    }
  }

  @Test("a login stops waiting for a finger when its session is locked")
  func lockedMeanwhile() async throws {
    try await withSite { site in
      let (prompts, outcome) = try await site.verify(
        Self.inSession, [{ site.logind.change("c1", ["LockedHint": .boolean(true)]) }])
      #expect(prompts == [.swipe] && outcome == .noFinger)
      #expect(try await site.with { try await $0.status().failures } == 0)
    }
  }

  @Test("a login does not wait for a finger while another program has the reader")
  func readerInUse() async throws {
    try await withSite { site in
      site.polkit.manner = .answers(authorized: true, challenge: false)
      try await site.with { vault in
        let id = try await vault.add(
          NewItem(.genericPassword, [.service: .text("bank")], access: AccessControl(.anyFinger)),
          secret: SecretBytes(text: "gold"), replacing: false, .nobody
        ).id
        let person = Person(touches: [
          {
            let (prompts, outcome) = try await site.verify(Self.inSession, [{ try await site.press(28) }])
            #expect(prompts == [] && outcome == .noFinger)
            let entry = { site.entries.list.withLock { $0.first { $0.request == .verifyLogin } } }
            #expect(try await eventually { entry() != nil })
            // The service ended it: a request that still waited for its turn would have timed out.
            #expect(entry()?.outcome == .failed(.appCancelled))
            try await site.press(29)
          }
        ])
        let released = try await person.with(vault) { try await vault.secrets(.ids([id]), Asking(in: $0)) }
        #expect(released.first?.text == "gold")
      }
    }
  }

  @Test("a login arms the reader only while its prompt is shown, with ten seconds each for prompt and touch")
  func limits() async throws {
    try await withSite { site in
      for showsPrompt in [false, true] {
        guard case .verifying(let verification) = try await site.begin(Self.inSession) else {
          throw RunningService.Failed(what: "no finger is asked for")
        }
        #expect(await verification.next() == .prompt(.swipe))
        let start = ContinuousClock.now
        if !showsPrompt {
          // The reader is not armed, so nobody takes the press.
          await #expect(throws: VirtualReaderError.self) {
            try await site.press(31, patience: .seconds(2))
          }
          try await Task.sleep(for: .seconds(10))
        }
        #expect(await verification.next() == .settled(.noFinger))
        #expect((.seconds(9)...(.seconds(20))).contains(ContinuousClock.now - start))
      }
      #expect(try await site.with { try await $0.status().failures } == 0)
    }
  }

  @Test("a login is told at once that a finger will be asked for, also while logind has not answered yet")
  func slowServices() async throws {
    try await withSite { site in
      site.logind.manner = .silent
      let start = ContinuousClock.now
      guard case .verifying(let verification) = try await site.begin(Self.inSession) else {
        throw RunningService.Failed(what: "no finger is promised")
      }
      #expect(ContinuousClock.now - start < .seconds(2))
      site.logind.answerAll()
      site.logind.manner = .proper
      #expect(await verification.next() == .prompt(.swipe))
      await verification.end()
      #expect(await verification.next() == .settled(.noFinger))
    }
  }

  @Test("a login does not ask for a finger without a store or without enrolled fingers")
  func nothing() async throws {
    try await withSite(enrolling: false) { site in
      let (prompts, outcome) = try await site.verify(Self.inSession, [{ try await site.press(30) }])
      #expect(prompts == [] && outcome == .noFinger)
    }
    let empty = try RunningService()
    guard case .settled(.noStore) = try await empty.logins.verify(Caller(user: geteuid(), login: Self.inSession))
    else {
      throw RunningService.Failed(what: "there is no store")
    }
    try await empty.end()
  }

  @Test("a login's prompts use the reader's own words, touch or swipe")
  func swipe() {
    let prompts: [LoginPrompt] = [.touch, .retry, .otherFinger]
    #expect(prompts.map { $0.on(.press) } == prompts)
    #expect(prompts.map { $0.on(.swipe) } == [.swipe, .retrySwipe, .otherFingerSwipe])
  }
}
