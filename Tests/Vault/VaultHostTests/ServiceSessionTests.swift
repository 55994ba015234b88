import Glibc
import Primitives
import Processes
import ProgramDriver
import ReaderClient
import SDBus
import SecretModel
import Synchronization
import Testing
import Vault
import VaultDriver
import VaultHost
import VaultStore
import VirtualFinger

@Suite("The service and its users' sessions", .timeLimit(.minutes(3)))
struct ServiceSessionTests {
  /// A service on a machine whose user sits at the seat.
  private func withService(
    clock: BootClock = .system, _ body: (RunningService, LogindStandIn, LoginSessions) async throws -> Void
  ) async throws {
    try await PrivateBus.withSession { bus, logind, polkit in
      let sessions = LoginSessions(polkit: Polkit(bus: bus.address), bus: bus.address)
      let service = try RunningService(sessions: sessions, clock: clock)
      try await service.makeStore()
      try await body(service, logind, sessions)
      try await service.end()
    }
  }

  private func add(_ name: String, _ constraint: AccessControl.Constraint, to vault: any VaultService) async throws
    -> ItemID
  {
    try await vault.add(
      NewItem(.genericPassword, [.service: .text(name)], access: AccessControl(constraint)),
      secret: SecretBytes(text: "gold"), replacing: false, .nobody
    ).id
  }

  @Test("items of the session's class that were requested before the screen was locked are not released")
  func locked() async throws {
    try await withService { service, logind, sessions in
      let connection = try service.connect()
      let vault = try await connection.open(.own)
      let person = Person(passcodes: [RunningService.passcode])
      let id = try await person.with(vault) { context in
        try await vault.add(
          NewItem(.genericPassword, [.service: .text("bank")], access: AccessControl(.passcode)),
          secret: SecretBytes(text: "gold"), replacing: false, Asking(in: context)
        ).id
      }
      for isLocked in [false, true] {
        let (context, events) = try await vault.openContext(ContextOptions(timeout: .seconds(20)))
        let reading = Task { try await vault.secrets(.ids([id]), Asking(in: context)) }
        for await event in events {
          guard case .secretWanted = event.event else { continue }
          if isLocked {
            logind.change("c1", ["LockedHint": .boolean(true)])
            try #require(try await eventually { await sessions.state(of: geteuid()) == .locked })
            // The stores receive the change a moment later.
            try await Task.sleep(for: .milliseconds(200))
          }
          await vault.respond(context, .secret(question: event.number, SecretBytes(text: RunningService.passcode)))
          break
        }
        if isLocked {
          await #expect(throws: VaultError.notUnlocked(.whenUnlocked)) { _ = try await reading.value }
        } else {
          #expect(try await reading.value.first?.text == "gold")
        }
        await vault.closeContext(context, reason: .program)
      }
      await connection.close()
    }
  }

  @Test("a client hears of a lock of its session and of the lid by logind's signals, and counts a lock that is over")
  func surroundings() async throws {
    try await withService { service, logind, _ in
      let connection = try service.connect()
      let vault = try await connection.open(.own)
      let first = try await vault.surroundings(otherThan: nil)
      #expect(first.refusal == nil)
      var now = first
      logind.closeLid(true)
      while now.refusal != .lidClosed { now = try await vault.surroundings(otherThan: now) }
      logind.closeLid(false)
      while now.refusal != nil { now = try await vault.surroundings(otherThan: now) }
      #expect(now.locks == first.locks)
      logind.change("c1", ["LockedHint": .boolean(true)])
      while now.locks == first.locks { now = try await vault.surroundings(otherThan: now) }
      logind.change("c1", ["LockedHint": .boolean(false)])
      while now.refusal != nil { now = try await vault.surroundings(otherThan: now) }
      #expect(try await vault.surroundings(otherThan: nil).locks > first.locks)
      await connection.close()
    }
  }

  @Test("polkit is asked about a change of fingers without a prompt, and only yes counts")
  func polkit() async throws {
    try await PrivateBus.with { bus in
      let standIn = try await PolkitStandIn(on: bus)
      defer { standIn.close() }
      let polkit = Polkit(bus: bus.address)
      let caller = Caller(
        user: getuid(), process: .init(id: getpid(), started: try #require(ProcessHandle.start(of: getpid()))))
      try await polkit.authorizeFingers(caller)
      #expect(standIn.questions.last?.action == "org.whorl.enroll")
      #expect(standIn.questions.last?.flags == 0)
      for (challenge, problem) in [(false, AuthorizationProblem.denied), (true, .notAsked)] {
        standIn.manner = .answers(authorized: false, challenge: challenge)
        await #expect(throws: VaultError.notAuthorized(problem, action: "org.whorl.enroll")) {
          try await polkit.authorizeFingers(caller)
        }
      }
      standIn.manner = .error
      await #expect {
        try await polkit.authorizeFingers(caller)
      } throws: {
        if case .notAuthorized(.unavailable, _) = $0 as? VaultError { true } else { false }
      }
    }
  }

  @Test("polkit asks again after a wrong password, three times at most, and says that it was wrong")
  func wrongPassword() async throws {
    try await PrivateBus.with { bus in
      let standIn = try await PolkitStandIn(on: bus)
      defer { standIn.close() }
      let polkit = Polkit(bus: bus.address)
      let caller = Caller(
        user: getuid(), process: .init(id: getpid(), started: try #require(ProcessHandle.start(of: getpid()))))
      standIn.manner = .password(wrong: 2)
      try await polkit.authorizeOwner(caller, .newStore)
      #expect(standIn.questions.map(\.flags) == [0, 1, 0, 1, 0, 1])
      standIn.manner = .password(wrong: 3)
      await #expect(throws: VaultError.notAuthorized(.wrongPassword, action: "org.whorl.own")) {
        try await polkit.authorizeOwner(caller, .newStore)
      }
      #expect(standIn.questions.count == 12)
      standIn.manner = .answers(authorized: false, challenge: false, details: ["polkit.dismissed": "true"])
      await #expect(throws: VaultError.notAuthorized(.dismissed, action: "org.whorl.own")) {
        try await polkit.authorizeOwner(caller, .newStore)
      }
    }
  }

  @Test("polkit's dialogue names the one change that the password is for", arguments: OwnersChange.allCases)
  func question(_ change: OwnersChange) async throws {
    try await PrivateBus.with { bus in
      let standIn = try await PolkitStandIn(on: bus)
      defer { standIn.close() }
      let caller = Caller(
        user: getuid(), process: .init(id: getpid(), started: try #require(ProcessHandle.start(of: getpid()))))
      standIn.manner = .password(wrong: 1)
      try await Polkit(bus: bus.address).authorizeOwner(caller, change)
      // polkit is asked whether a password is needed first, without a message.
      let messages = standIn.questions.map { $0.details["polkit.message"] }
      #expect(messages == [nil, messages[1], nil, messages[1]], "\(messages)")
      let message = try #require(messages[1])
      #expect(message.hasPrefix("Type your login password to let Whorl "))
      // A dialogue that names the recovery key for another change might get that key typed.
      #expect(message.contains("recovery key") == (change == .newRecoveryKey), "\(message)")
      #expect(message.contains("finger") == (change == .firstFinger), "\(message)")
    }
  }

  @Test("polkit asks for an administrator before a reader test, and before enrolling if only administrators may enrol")
  func administrators() async throws {
    try await PrivateBus.with { bus in
      let standIn = try await PolkitStandIn(on: bus)
      defer { standIn.close() }
      let polkit = Polkit(bus: bus.address)
      let caller = Caller(
        user: getuid(), process: .init(id: getpid(), started: try #require(ProcessHandle.start(of: getpid()))))
      try await polkit.authorizeEnrolment(caller, by: .users)
      #expect(standIn.questions.isEmpty)
      try await polkit.authorizeEnrolment(caller, by: .administrators)
      try await polkit.authorizeTest(caller)
      #expect(standIn.questions.map(\.action) == ["org.whorl.enroll-as-administrator", "org.whorl.manage"])
      standIn.manner = .answers(authorized: false, challenge: true)
      await #expect(throws: VaultError.notAuthorized(.nobodyToAsk, action: "org.whorl.enroll-as-administrator")) {
        try await polkit.authorizeEnrolment(caller, by: .administrators)
      }
      await #expect(throws: VaultError.notAuthorized(.nobodyToAsk, action: "org.whorl.manage")) {
        try await polkit.authorizeTest(caller)
      }
      #expect(standIn.questions.suffix(4).map(\.flags) == [0, 1, 0, 1])
    }
  }

  @Test("the service closes the reader and locks session items before sleep, and both work again after it")
  func sleep() async throws {
    try await withService { service, logind, _ in
      let connection = try service.connect()
      let vault = try await connection.open(.own)
      let sensor = service.folder + "/sensor"
      let finger = SyntheticFinger(person: 1, finger: .rightIndex)
      @Sendable func press(_ number: UInt64) async throws {
        // The prompt is reported as shown before the reader is armed, by tasks of this process.
        try await onThread {
          try VirtualImageReader(socket: sensor, patience: .seconds(15)).press(finger.impression(number))
        }
      }
      let enrolling = Person(
        passcodes: [RunningService.passcode], touches: (1...6).map { number in { try await press(number) } })
      _ = try await enrolling.with(vault) { try await vault.enroll(.rightIndex, Asking(in: $0)) }
      let id = try await add("bank", .anyFinger, to: vault)
      let note = try await add("note", .none, to: vault)
      try #require(try await eventually { logind.holdsSleep })
      let waiting = Person(touches: [{ logind.prepareForSleep(true) }])
      do {
        _ = try await waiting.with(vault) { try await vault.secrets(.ids([id]), Asking(in: $0)) }
        Issue.record("released without a touch")
      } catch VaultError.sessionRefused(.sleeping) {} catch VaultError.reader(.suspended) {}
      try #require(try await eventually { !logind.holdsSleep })
      #expect(processes(with: sensor).allSatisfy { $0 == getpid() }, "the reader's process has ended")
      await #expect(throws: VaultError.notUnlocked(.whenUnlocked)) {
        _ = try await vault.secrets(.ids([note]), .nobody)
      }
      #expect(try await vault.status().failures == 0)
      logind.prepareForSleep(false)
      try #require(try await eventually { logind.holdsSleep })
      let person = Person(touches: (100...102).map { number in { try await press(number) } })
      let released = try await person.with(vault) { try await vault.secrets(.ids([id]), Asking(in: $0)) }
      #expect(released.first?.text == "gold")
      await connection.close()
    }
  }

  @Test("a store whose unlock expired while the machine slept is closed when the machine wakes")
  func expired() async throws {
    let slept = Mutex<UInt64>(0)
    let clock = BootClock(bootID: BootClock.system.bootID) { BootClock.system.now() + slept.withLock { $0 } }
    try await withService(clock: clock) { service, logind, _ in
      let connection = try service.connect()
      let vault = try await connection.open(.own)
      try await Person(passcodes: [RunningService.passcode]).with(vault) { try await vault.unlock(Asking(in: $0)) }
      let change = Task { try await vault.unlockChange(from: true) }
      try #require(try await eventually { logind.holdsSleep })
      logind.prepareForSleep(true)
      try #require(try await eventually { !logind.holdsSleep })
      slept.withLock { $0 = 49 * 3_600 * 1_000_000_000 }
      logind.prepareForSleep(false)
      #expect(try await change.value == false)
      await connection.close()
    }
  }

  @Test("the service closes the reader before sleep and lends it afterwards, also while a user's store is blocked")
  func sleepBesideBlockedStore() async throws {
    try await PrivateBus.withSession { bus, logind, polkit in
      let isBlocking = Mutex(false)
      let isBlocked = Mutex(false)
      defer { isBlocking.withLock { $0 = false } }
      let service = try RunningService(
        accountName: { user in
          while isBlocking.withLock({ $0 }) {
            isBlocked.withLock { $0 = true }
            usleep(1_000)
          }
          return "user\(user)"
        }, sessions: LoginSessions(polkit: Polkit(bus: bus.address), bus: bus.address))
      try await service.makeStore()
      try #require(try await eventually { logind.holdsSleep })
      let connection = try service.connect()
      isBlocking.withLock { $0 = true }
      let opening = Task { try await connection.open(.own) }
      try #require(try await eventually { isBlocked.withLock { $0 } })
      logind.prepareForSleep(true)
      try #require(try await eventually { !logind.holdsSleep })
      logind.prepareForSleep(false)
      try #require(try await eventually { logind.holdsSleep })
      let tester = try service.connect()
      let reader = ReaderProcess(lent: try await tester.lendReader().release(), selection: .automatic)
      _ = try await reader.open(try #require(try await reader.readers().first).id)
      await tester.close()
      isBlocking.withLock { $0 = false }
      _ = try await opening.value
      await connection.close()
      try await service.end()
    }
  }
}
