import CLinux
import Glibc
import Primitives
import SDBus
import SecretModel
import Synchronization
import Testing
import VaultBus
import VaultDriver

@Suite("Calls of root's PAM module over the bus")
struct LoginObjectTests {
  /// A service that records its calls.
  private final class Stub: LoginService {
    let seen = Mutex<[String]>([])
    let answer: @Sendable () throws(LoginRefusal) -> LoginAnswer
    /// Where a request for a finger waits; nil: nowhere.
    let gate: Mutex<Gate?> = Mutex(nil)

    init(_ answer: @escaping @Sendable () throws(LoginRefusal) -> LoginAnswer) { self.answer = answer }

    func openSession(
      _ session: String, of user: UInt32, by pamService: String, password: consuming SecretBytes?
    ) async throws(LoginRefusal) -> LoginAnswer {
      let text: String? = if let password { password.text } else { nil }
      seen.withLock { $0.append("\(session) \(user) \(pamService) \(text ?? "-")") }
      return try answer()
    }

    func firstFactor(of user: UInt32) async throws(LoginRefusal) -> LoginOutcome {
      seen.withLock { $0.append("\(user)") }
      guard case .settled(let outcome) = try answer() else { throw .noSuchLogin }
      return outcome
    }

    func verify(_ caller: Caller) async throws(LoginRefusal) -> LoginAnswer {
      let login = caller.login
      seen.withLock {
        $0.append(
          "\(caller.user) \(caller.process?.id ?? 0) \(caller.label ?? "-") \(login?.isGreeter ?? false) "
            + "\(login?.seat ?? "-") \(login?.terminal ?? "-")" + (login?.agent.map { " \($0.id)" } ?? "")
            + (login?.isLocker == true ? " locker" : ""))
      }
      try? await gate.withLock { $0 }?.wait()
      return try answer()
    }

    func changePassword(of user: UInt32, from old: consuming SecretBytes?, to new: consuming SecretBytes)
      async throws(LoginRefusal) -> LoginAnswer
    {
      let before: String? = if let old { old.text } else { nil }
      let after = new.text
      seen.withLock { $0.append("\(user) \(before ?? "-") \(after)") }
      return try answer()
    }
  }

  /// A request for a finger: returns its steps in turn, and after the last one waits until it is ended.
  private final class Verification: LoginVerification {
    private let steps: Mutex<[LoginStep]>
    let ended = Gate()

    init(_ steps: [LoginStep]) { self.steps = Mutex(steps) }

    func next() async -> LoginStep {
      if let step = steps.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return step }
      try? await ended.wait()
      return .settled(.noFinger)
    }

    func end() async { ended.open() }
  }

  /// A connection to the service, as this user.
  private final class Module: Sendable {
    let stub: Stub
    let log: Log
    private let (client, server): (BusConnection, BusConnection)

    final class Log: Sendable {
      let lines = Mutex<[String]>([])
    }

    init(
      as user: UInt32 = 0,
      _ answer: @escaping @Sendable () throws(LoginRefusal) -> LoginAnswer = { .settled(.open) }
    ) throws {
      let (mine, theirs) = try socketPair()
      let (stub, log) = (Stub(answer), Log())
      (self.stub, self.log) = (stub, log)
      let caller = Caller(user: user, process: .init(id: 77, started: 1), label: "comm")
      let object = LoginObject(serving: stub, to: caller, refusals: RefusalLines()) { line in
        log.lines.withLock { $0.append(line) }
      }
      server = try BusConnection(
        socket: theirs, role: .server,
        handlers: .init(call: { object.handle($0) }, closed: { object.connectionEnded() }))
      client = try BusConnection(socket: mine, role: .client, handlers: .init())
    }

    deinit {
      client.close()
      server.close()
    }

    func hangUp() { client.close() }

    func call(
      _ member: String, _ arguments: [BusValue] = [], path: String = LoginInterface.target.path
    ) async throws(BusError) -> String? {
      let target = BusTarget(path: path, interface: LoginInterface.target.interface)
      return try await client.call(target, member, arguments).first?.asString
    }

    /// The error that the call ends with; nil if it succeeds.
    func failure(_ member: String, _ arguments: [BusValue] = []) async -> BusError? {
      do throws(BusError) {
        _ = try await call(member, arguments)
        return nil
      } catch {
        return error
      }
    }

    /// The name of the error that the call ends with; nil if it succeeds.
    func error(_ member: String, _ arguments: [BusValue] = []) async -> String? {
      guard let error = await failure(member, arguments) else { return nil }
      guard case .remote(let name, _, _) = error else { return "\(error)" }
      return name
    }
  }

  private static let sudo: [BusValue] = [
    .uint32(7), .boolean(true), .string("sudo"), .string("seat0"), .string("tty1"), nothing,
  ]
  private static let nothing = BusValue.array(of: "h", [])

  private func password(_ text: String) throws -> BusValue {
    let file = try SealedFile.make(of: SecretBytes(text: text))
    return .array(of: "h", [.descriptor(BusDescriptor(taking: fcntl(file.descriptor, F_DUPFD_CLOEXEC, 3)))])
  }

  private func login(_ password: BusValue = nothing) -> [BusValue] {
    [.uint32(1_000), .string("c1"), .string("login"), password]
  }

  @Test("calls of root's PAM module arrive unchanged, and return the outcome as its word")
  func calls() async throws {
    for outcome in LoginOutcome.allCases {
      let module = try Module { .settled(outcome) }
      #expect(try await module.call("OpenSession", login()) == outcome.rawValue)
      #expect(try await module.call("OpenSession", login(try password("secret"))) == outcome.rawValue)
      #expect(
        try await module.call("ChangePassword", [.uint32(7), try password("old"), try password("new")])
          == outcome.rawValue)
      #expect(try await module.call("FirstFactor", [.uint32(7)]) == outcome.rawValue)
      #expect(try await module.call("Verify", Self.sudo) == outcome.rawValue)
      #expect(try await module.call("ChangePassword", [.uint32(7), Self.nothing, try password("new")]) != nil)
      #expect(
        module.stub.seen.withLock { $0 } == [
          "c1 1000 login -", "c1 1000 login secret", "7 old new", "7", "7 77 sudo true seat0 tty1", "7 - new",
        ])
    }
  }

  @Test("the PAM module names the process that polkit's helper works for, by a pidfd")
  func agent() async throws {
    let module = try Module()
    func verify(_ descriptors: [BusDescriptor]) -> [BusValue] {
      Self.sudo.dropLast() + [.array(of: "h", descriptors.map { .descriptor($0) })]
    }
    let own = BusDescriptor(taking: whorl_open_process(getpid()))
    #expect(try await module.call("Verify", verify([own])) == "open")
    // No process: the request counts as one without an agent.
    let file = BusDescriptor(taking: open("/dev/null", O_RDONLY | O_CLOEXEC))
    #expect(try await module.call("Verify", verify([file])) == "open")
    #expect(await module.error("Verify", verify([own, own])) != nil)
    #expect(
      module.stub.seen.withLock { $0 } == [
        "7 77 sudo true seat0 tty1 \(getpid())", "7 77 sudo true seat0 tty1",
      ])
  }

  @Test("the PAM module's calls about logins are refused to everybody but root, and the journal says who called")
  func otherUsers() async throws {
    let module = try Module(as: 1_000)
    for member in ["OpenSession", "FirstFactor", "ChangePassword", "Anything"] {
      #expect(await module.error(member, login()) == "org.freedesktop.DBus.Error.AccessDenied")
    }
    #expect(module.stub.seen.withLock { $0 }.isEmpty)
    #expect(module.log.lines.withLock { $0 }.allSatisfy { $0.contains("user 1000") })
    #expect(module.log.lines.withLock { $0 }.count == 4)
  }

  @Test("a program that is not root's may ask for a finger of its own user, as a lock screen, and for nothing else")
  func lockers() async throws {
    let module = try Module(as: 1_000) { .verifying(Verification([.prompt(.touch), .settled(.verified)])) }
    func verify(_ user: UInt32, isGreeter: Bool = false, agents: BusValue = Self.nothing) -> [BusValue] {
      [.uint32(user), .boolean(isGreeter), .string("gdm-password"), .string("seat1"), .string("tty1"), agents]
    }
    let own = BusDescriptor(taking: whorl_open_process(getpid()))
    for refused in [
      verify(0), verify(1_001), verify(1_000, isGreeter: true),
      verify(1_000, agents: .array(of: "h", [.descriptor(own)])),
    ] {
      #expect(await module.error("Verify", refused) == "org.freedesktop.DBus.Error.AccessDenied")
    }
    #expect(module.stub.seen.withLock { $0 }.isEmpty)
    #expect(module.log.lines.withLock { $0 }.count == 4)
    #expect(await module.error("Await") == LoginInterface.errorPrefix + "InvalidRequest")
    #expect(try await module.call("Verify", verify(1_000)) == LoginInterface.trying)
    // It has the name that the service has found out, and no seat or terminal of its own choice.
    #expect(module.stub.seen.withLock { $0 } == ["1000 77 comm false   locker"])
    for word in ["touch", "verified"] { #expect(try await module.call("Await") == word) }
    #expect(await module.error("OpenSession", login()) == "org.freedesktop.DBus.Error.AccessDenied")
  }

  @Test("a user who calls the PAM module's interface again and again does not fill the journal")
  func manyRefusals() async throws {
    let module = try Module(as: 1_000)
    for _ in 0..<25 {
      for arguments in [("OpenSession", login()), ("Verify", Self.sudo)] {
        let error = await module.error(arguments.0, arguments.1)
        #expect(error == "org.freedesktop.DBus.Error.AccessDenied")
      }
    }
    let lines = module.log.lines.withLock { $0 }
    #expect(lines.count == RefusalLines.limit)
    #expect(lines.last?.contains("further calls of this user in this minute are not listed") == true)
    let (refusals, now) = (RefusalLines(), ContinuousClock.now)
    let answers = (0...RefusalLines.limit).map { _ in refusals.answer(to: 1, at: now) }
    #expect(answers.suffix(3) == [.line, .lastLine, .nothing])
    #expect(refusals.answer(to: 2, at: now) == .line, "another user has lines of their own")
    #expect(refusals.answer(to: 1, at: now + .seconds(61)) == .line)
  }

  @Test("the PAM module's D-Bus interface refuses unknown members and wrong arguments")
  func members() async throws {
    let module = try Module()
    #expect(await module.error("CloseSession", login()) == "org.freedesktop.DBus.Error.UnknownMethod")
    for arguments: [BusValue] in [
      [], [.uint32(1)], [.int32(1), .string("c1"), .string("login"), Self.nothing],
      [.uint32(1), .string("c1"), .string("login"), .array(of: "s", [])],
    ] {
      #expect(await module.error("OpenSession", arguments) == "org.freedesktop.DBus.Error.InvalidArgs")
    }
    await #expect(throws: BusError.self) { _ = try await module.call("FirstFactor", [.uint32(7)], path: "/") }
    #expect(module.stub.seen.withLock { $0 }.isEmpty)
  }

  @Test("the PAM module cannot pass an unsealed or too long password, or two")
  func passwords() async throws {
    let module = try Module()
    let unsealed = BusValue.descriptor(BusDescriptor(taking: whorl_memory_file("test")))
    let invalid = LoginInterface.errorPrefix + "InvalidRequest"
    #expect(await module.error("OpenSession", login(.array(of: "h", [unsealed]))) == invalid)
    let two = [try password("a"), try password("b")].flatMap { $0.asArray ?? [] }
    #expect(await module.error("OpenSession", login(.array(of: "h", two))) == invalid)
    let long = try password(String(repeating: "x", count: LoginInterface.passwordLimit + 1))
    #expect(await module.error("OpenSession", login(long)) == LoginInterface.errorPrefix + "Failed")
    #expect(
      await module.error("ChangePassword", [.uint32(7), try password("old"), Self.nothing]) == invalid)
    #expect(module.stub.seen.withLock { $0 }.isEmpty)
  }

  @Test("the PAM module gets the outcome of a passcode check through Await, once")
  func trying() async throws {
    let gate = Gate()
    let module = try Module {
      .trying(
        Task {
          try? await gate.wait()
          return .changed
        })
    }
    #expect(await module.error("Await") == LoginInterface.errorPrefix + "InvalidRequest")
    #expect(try await module.call("OpenSession", login(try password("secret"))) == LoginInterface.trying)
    #expect(await module.error("OpenSession", login()) == LoginInterface.errorPrefix + "Busy")
    let waiting = Task { try await module.call("Await") }
    #expect(try await eventually { gate.count == 1 })
    gate.open()
    #expect(try await waiting.value == "changed")
    #expect(await module.error("Await") == LoginInterface.errorPrefix + "InvalidRequest")
  }

  @Test("the PAM module gets the prompts for a finger through Await in order, and then the outcome")
  func verifying() async throws {
    let steps: [LoginStep] = LoginPrompt.allCases.map { .prompt($0) } + [.settled(.verified)]
    let module = try Module { .verifying(Verification(steps)) }
    #expect(try await module.call("Verify", Self.sudo) == LoginInterface.trying)
    #expect(await module.error("OpenSession", login()) == LoginInterface.errorPrefix + "Busy")
    let words = ["touch", "retry", "other-finger", "swipe", "retry-swipe", "other-finger-swipe", "verified"]
    for word in words { #expect(try await module.call("Await") == word) }
    #expect(await module.error("Await") == LoginInterface.errorPrefix + "InvalidRequest")
    #expect(try await module.call("Verify", Self.sudo) == LoginInterface.trying, "a request that is over is over")
  }

  @Test("the PAM module ends its request for a finger by disconnecting, before, at and after a prompt")
  func hangingUp() async throws {
    for steps in [[], [LoginStep.prompt(.touch)]] {
      for waits in [false, true] {
        let verification = Verification(steps)
        let module = try Module { .verifying(verification) }
        #expect(try await module.call("Verify", Self.sudo) == LoginInterface.trying)
        for _ in steps { #expect(try await module.call("Await") == "touch") }
        let waiting = waits ? Task { try await module.call("Await") } : nil
        if waits { #expect(try await eventually { verification.ended.count == 1 }) }
        #expect(!verification.ended.isOpen)
        module.hangUp()
        #expect(try await eventually { verification.ended.isOpen })
        _ = try? await waiting?.value
      }
    }
  }

  @Test("a request for a finger ends at once if the PAM module disconnected while it was made")
  func hangingUpEarly() async throws {
    let (gate, verification) = (Gate(), Verification([]))
    let module = try Module { .verifying(verification) }
    module.stub.gate.withLock { $0 = gate }
    let waiting = Task { try await module.call("Verify", Self.sudo) }
    #expect(try await eventually { gate.count == 1 })
    module.hangUp()
    await #expect(throws: BusError.self) { _ = try await waiting.value }
    #expect(!verification.ended.isOpen)
    gate.open()
    #expect(try await eventually { verification.ended.isOpen })
  }

  @Test("the PAM module gets NoSuchLogin for a refused login, and only the name of a store's problem")
  func refusals() async throws {
    let refused = try Module { () throws(LoginRefusal) in throw .noSuchLogin }
    #expect(await refused.error("OpenSession", login()) == LoginInterface.errorPrefix + "NoSuchLogin")
    let problems: [(VaultError, String)] = [
      (.restoreDetected, "RestoreDetected"), (.storeNotFound("/home/alice/store"), "StoreNotFound"),
      (.itemDamaged(try ItemName(service: "bank")), "ItemDamaged"),
    ]
    for (problem, name) in problems {
      let failed = try Module { () throws(LoginRefusal) in throw .failed(problem) }
      let failure = await failed.failure("OpenSession", login())
      #expect(failure == .remote(name: LoginInterface.errorPrefix + "Failed", message: name, details: []))
    }
  }
}
