import Glibc
import Primitives
import SecretModel
import Settings
import Testing
import VaultDriver
import VaultHost

@Suite("A login, in the system service")
struct LoginTests {
  private static let item = NewItem(
    .genericPassword, [.service: .text("wallet")], access: .none, accessibility: .afterFirstUnlock)

  private let service: RunningService

  init() async throws { service = try RunningService() }

  /// Makes a store with an item, and puts the service into its state after a start.
  private func makeStore(chosen: Bool = false, rule: FirstUnlock = .passcode) async throws {
    try await service.makeStore()
    try await with { vault in
      _ = try await vault.add(Self.item, secret: SecretBytes(text: "gold"), replacing: false, .nobody)
      if chosen {
        _ = try await vault.add(
          NewItem(LoginItem(.passcode)), secret: SecretBytes(text: ""), replacing: false, .nobody)
      }
      if rule != .passcode { try await set(rule, vault) }
      try await vault.lock()
    }
  }

  private func with<T: Sendable>(_ body: (any VaultService) async throws -> T) async throws -> T {
    let connection = try service.connect()
    let result = try await body(try await connection.open(.own))
    await connection.close()
    return result
  }

  private func set(_ rule: FirstUnlock, _ vault: any VaultService) async throws {
    try await Person(passcodes: [RunningService.passcode]).with(vault) {
      try await vault.setFirstUnlock(rule, Asking(in: $0))
    }
  }

  /// The outcome of a login. Waits for it if a passcode is tried.
  private func login(_ password: String? = nil, session: String = "c1", user: UInt32 = geteuid()) async throws
    -> LoginOutcome
  {
    let secret: SecretBytes? = if let password { SecretBytes(text: password) } else { nil }
    return try await outcome(
      try await service.logins.openSession(session, of: user, by: "gdm-password", password: secret))
  }

  private func change(_ old: String?, _ new: String) async throws -> LoginOutcome {
    let secret: SecretBytes? = if let old { SecretBytes(text: old) } else { nil }
    return try await outcome(
      try await service.logins.changePassword(of: geteuid(), from: secret, to: SecretBytes(text: new)))
  }

  private func outcome(_ answer: LoginAnswer) async throws -> LoginOutcome {
    switch answer {
    case .settled(let outcome): outcome
    case .trying(let task): await task.value
    case .verifying: throw RunningService.Failed(what: "a finger is asked for")
    }
  }

  private func isReadable() async throws -> Bool {
    try await with { vault in
      do {
        let found = try await vault.secrets(.search(ItemSearch(.genericPassword, [.service: .text("wallet")])), .nobody)
        return found.first?.text == "gold"
      } catch VaultError.notUnlocked {
        return false
      }
    }
  }

  @Test("a login opens nothing if the store requires the passcode after a start, with or without a password")
  func passcodeRule() async throws {
    try await makeStore()
    #expect(try await login() == .closed)
    #expect(try await login(RunningService.passcode) == .closed, "nobody has chosen that the two are one")
    #expect(try await !isReadable())
    try await service.end()
  }

  @Test("a login opens after-first-unlock items if the store's rule allows it, and not after the rule is removed")
  func loginRule() async throws {
    try await makeStore(rule: .login)
    #expect(try await with { try await $0.status().firstUnlock } == .login)
    #expect(try await !isReadable(), "nobody has logged in")
    #expect(try await login() == .open)
    #expect(try await isReadable())
    try await with { vault in
      try await set(.passcode, vault)
      try await vault.lock()
    }
    #expect(try await with { try await $0.status().firstUnlock } == .passcode)
    #expect(try await login() == .closed)
    #expect(try await !isReadable())
    try await service.end()
  }

  @Test("a login opens after-first-unlock items with the typed passcode, if the user has chosen that")
  func passwordIsPasscode() async throws {
    try await makeStore(chosen: true)
    #expect(try await login() == .closed)
    #expect(try await login("") == .closed)
    #expect(try await login(RunningService.passcode) == .open)
    #expect(try await isReadable())
    #expect(try await login() == .open, "a later login by finger finds it open")
    try await service.end()
  }

  @Test("logins try two wrong passwords as the passcode, and leave the other tries before a delay to the prompt")
  func wrongPassword() async throws {
    try await makeStore(chosen: true)
    for _ in 1...10 { #expect(try await login("not the passcode") == .notPasscode) }
    #expect(try await with { try await $0.status().passcodeDelay } == 0)
    #expect(try await login(RunningService.passcode) == .notPasscode, "two wrong ones stand")
    try await with { vault in
      // After the two tries of logins, two more are free, and the third starts a delay.
      for (tries, isDelayed) in [(2, false), (1, true)] {
        let person = Person(passcodes: Array(repeating: "wrong", count: tries))
        await #expect(throws: VaultError.wrongPasscode) {
          try await person.with(vault) { try await vault.unlock(Asking(in: $0)) }
        }
        let delay = try await vault.status().passcodeDelay
        #expect((delay > 0) == isDelayed)
      }
    }
    try await service.end()
  }

  @Test("logins at the same time try two wrong passwords as the passcode together, and no more")
  func wrongPasswordsAtOnce() async throws {
    try await makeStore(chosen: true)
    let outcomes = try await withThrowingTaskGroup { group in
      for _ in 1...7 { group.addTask { try await login("not the passcode") } }
      return try await group.reduce(into: [LoginOutcome]()) { $0.append($1) }
    }
    #expect(outcomes == Array(repeating: .notPasscode, count: 7))
    #expect(try await with { try await $0.status().passcodeDelay } == 0)
    try await with { vault in
      // Two tries are used up, so a third and a fourth are free.
      let person = Person(passcodes: ["wrong", "wrong"])
      await #expect(throws: VaultError.wrongPasscode) {
        try await person.with(vault) { try await vault.unlock(Asking(in: $0)) }
      }
      #expect(try await vault.status().passcodeDelay == 0)
      try await Person(passcodes: [RunningService.passcode]).with(vault) { try await vault.unlock(Asking(in: $0)) }
    }
    try await service.end()
  }

  @Test("a login tries its password as the passcode again after the right passcode was given elsewhere")
  func clearedTries() async throws {
    try await makeStore(chosen: true)
    for _ in 1...3 { #expect(try await login("not the passcode") == .notPasscode) }
    try await with { vault in
      try await Person(passcodes: [RunningService.passcode]).with(vault) { try await vault.unlock(Asking(in: $0)) }
      try await vault.lock()
    }
    #expect(try await login(RunningService.passcode) == .open)
    try await service.end()
  }

  @Test("a login requires the password while only the password opens the store, and accepts any factor otherwise")
  func firstFactor() async throws {
    #expect(try await service.logins.firstFactor(of: geteuid()) == .any, "there is no store")
    try await makeStore()
    #expect(try await service.logins.firstFactor(of: geteuid()) == .any, "nothing was chosen")
    try await with { vault in
      try await Person(passcodes: [RunningService.passcode]).with(vault) { try await vault.unlock(Asking(in: $0)) }
      _ = try await vault.add(NewItem(LoginItem(.passcode)), secret: SecretBytes(text: ""), replacing: false, .nobody)
      try await vault.lock()
    }
    #expect(try await service.logins.firstFactor(of: geteuid()) == .password)
    #expect(try await login(RunningService.passcode) == .open)
    #expect(try await service.logins.firstFactor(of: geteuid()) == .any, "it is open")
    try await with { vault in
      try await set(.login, vault)
      try await vault.lock()
    }
    #expect(try await service.logins.firstFactor(of: geteuid()) == .any, "any login opens it")
    try await with { vault in
      try await set(.passcode, vault)
      try await vault.lock()
    }
    for _ in 1...2 { #expect(try await login("not the passcode") == .notPasscode) }
    #expect(try await service.logins.firstFactor(of: geteuid()) == .any, "no password is tried now")
    try await service.end()
  }

  @Test("a login is refused if logind has no such session of the user", arguments: ["c2", ""])
  func otherSession(_ name: String) async throws {
    try await makeStore(rule: .login)
    await #expect(throws: LoginRefusal.noSuchLogin) { try await login(session: name) }
    await #expect(throws: LoginRefusal.noSuchLogin) { try await login(user: geteuid() + 1) }
    #expect(try await !isReadable())
    try await service.end()
  }

  @Test("a login or password change of a user without a store opens and changes nothing")
  func noStore() async throws {
    #expect(try await login() == .noStore)
    #expect(try await change("old password", "new password") == .noStore)
    try await service.end()
  }

  @Test("a change of the account's password changes the passcode too, if both were the same")
  func newPassword() async throws {
    try await makeStore(chosen: true)
    #expect(try await change(RunningService.passcode, "a new passcode") == .changed)
    try await with { try await $0.lock() }
    #expect(try await login("a new passcode") == .open)
    #expect(try await change("not the passcode", "another") == .kept)
    #expect(try await change(nil, "another") == .kept, "root has set it")
    #expect(try await change("a new passcode", "abc") == .unfit)
    try await with { try await $0.lock() }
    #expect(try await login("a new passcode") == .open)
    try await service.end()
  }

  @Test("a change of the account's password does not change the passcode if the user has not chosen that")
  func notChosen() async throws {
    try await makeStore()
    #expect(try await change(RunningService.passcode, "a new passcode") == .notChosen)
    try await with { vault in
      try await Person(passcodes: [RunningService.passcode]).with(vault) { try await vault.unlock(Asking(in: $0)) }
    }
    try await service.end()
  }

  private func standing() async throws -> LoginPasscode? {
    try await with { try await LoginEntries(in: $0).loginPasscode() }
  }

  private func isDifferent() async throws -> Bool {
    if case .different? = try await standing() { true } else { false }
  }

  /// Proves the choice, as `whorl login enable passcode` does after its checks.
  private func prove(_ passcode: String = RunningService.passcode) async throws {
    try await with { vault in
      try await Person(passcodes: [passcode]).with(vault) { try await vault.unlock(Asking(in: $0)) }
      try await LoginEntries(in: vault).putLoginPasscode(isProven: true)
    }
  }

  @Test("a login records whether its password is still the passcode, also if the store is open already")
  func standingAfterLogins() async throws {
    try await makeStore()
    #expect(try await standing() == nil, "nobody has chosen it")
    try await with { vault in
      try await Person(passcodes: [RunningService.passcode]).with(vault) { try await vault.unlock(Asking(in: $0)) }
      try await LoginEntries(in: vault).putLoginPasscode(isProven: false)
      try await vault.lock()
    }
    #expect(try await standing() == .unproven)
    #expect(try await login() == .closed, "a finger shows nothing")
    #expect(try await standing() == .unproven)
    #expect(try await login(RunningService.passcode) == .open)
    #expect(try await standing() == .same)
    try await with { try await $0.lock() }
    #expect(try await login("set by root") == .notPasscode)
    #expect(try await isDifferent())
    try await prove()
    #expect(try await standing() == .same)
    // An open store reports it as well.
    #expect(try await login("set by root") == .open)
    #expect(try await eventually { try await isDifferent() })
    try await service.end()
  }

  @Test("a change of the login password or the passcode alone is recorded as a difference, a change of both is not")
  func standingAfterChanges() async throws {
    try await makeStore(chosen: true)
    try await prove()
    #expect(try await change(nil, "set by root") == .kept)
    #expect(try await isDifferent())
    try await prove()
    #expect(try await change("not the passcode", "another one") == .kept)
    #expect(try await isDifferent())
    try await prove()
    #expect(try await change(RunningService.passcode, "abc") == .unfit)
    #expect(try await isDifferent())
    #expect(try await change(RunningService.passcode, "a new passcode") == .changed)
    #expect(try await standing() == .same)
    try await with { vault in
      try await Person(passcodes: ["a new passcode"], newPasscode: "by whorl passcode").with(vault) {
        try await vault.changePasscode(Asking(in: $0))
      }
    }
    #expect(try await isDifferent())
    try await prove("by whorl passcode")
    #expect(try await standing() == .same)
    try await service.end()
  }
}
