import Presence
internal import Primitives
import SecretModel
import Vault
import VaultItems
import VaultStore

/// A user's store as a login uses it. Each request opens a session of its own.
struct LoginStore: Sendable {
  private let store: UserStore
  private let caller: Caller

  /// - Parameter program: the login program, for the log; nil if it is not known.
  init(_ store: UserStore, of user: UInt32, program: String? = nil) {
    self.store = store
    caller = Caller(user: user, label: program)
  }

  /// Opens `after-first-unlock` where the store's rule lets a login open it. Returns whether it is open.
  func openForLogin() async throws(VaultError) -> Bool {
    try await with { session throws(VaultError) in try await session.openForLogin() }
  }

  /// Whether the user has chosen that the login password is the passcode.
  func hasLoginPasscode() async throws(VaultError) -> Bool {
    try await with { session throws(VaultError) in try await session.hasLoginPasscode() }
  }

  /// Whether the login password is tried as the passcode.
  func takesPasswordOfLogin() async throws(VaultError) -> Bool {
    try await with { session throws(VaultError) in
      guard try await session.hasLoginPasscode() else { return false }
      return try await session.takesPasscodeOfLogin()
    }
  }

  /// Whether a login with the password opens the store, and a login with a finger would not.
  func wantsPassword() async throws(VaultError) -> Bool {
    guard try await takesPasswordOfLogin() else { return false }
    return try await with { session throws(VaultError) in
      let status = try await session.status()
      return status.firstUnlock == .passcode && !status.openClasses.contains(.afterFirstUnlock)
    }
  }

  /// Has a finger of the user asked for.
  ///
  /// - Parameters:
  ///   - caller: the user, and the login program.
  ///   - log: called with the result.
  func touch(
    for caller: Caller, log: @escaping @Sendable (LoginOutcome, VaultError?) -> Void
  ) async throws(VaultError) -> LoginTouch {
    try await store.requireStore()
    return LoginTouch(for: caller, on: store, log: log)
  }

  /// Tries the passcode once. A wrong one counts as a failed try, as elsewhere.
  func unlock(with passcode: SharedSecret) async throws(VaultError) {
    try await with { session throws(VaultError) in
      try await session.answering(passcode: passcode) { asking throws(VaultError) in
        try await session.unlockForLogin(asking)
      }
    }
  }

  /// Records that the account has a new password but the passcode is unchanged.
  func keptPasscode() async throws(VaultError) {
    try await with { session throws(VaultError) in session.keptPasscodeOfLogin() }
  }

  func changePasscode(from old: SharedSecret, to new: SharedSecret) async throws(VaultError) {
    try await with { session throws(VaultError) in
      try await session.answering(passcode: old, newPasscode: new) { asking throws(VaultError) in
        try await session.changePasscodeForLogin(asking)
      }
    }
  }

  private func with<T: Sendable>(_ body: (VaultSession) async throws(VaultError) -> T) async throws(VaultError) -> T {
    let session = try await store.open(for: caller)
    let result: Result<T, VaultError>
    do throws(VaultError) {
      result = .success(try await body(session))
    } catch {
      result = .failure(error)
    }
    await store.end(session)
    return try result.get()
  }
}

extension VaultSession {
  fileprivate func hasLoginPasscode() async throws(VaultError) -> Bool {
    try await !items(ItemSearch(loginItemsOf: .passcode), .nobody).items.isEmpty
  }

  /// Makes a call and answers its prompts with these values, each once. A second prompt for the passcode means that it
  /// was wrong, and is declined.
  fileprivate func answering(
    passcode: SharedSecret, newPasscode: SharedSecret? = nil, _ call: (Asking) async throws(VaultError) -> Void
  ) async throws(VaultError) {
    let (context, events) = try await openContext(ContextOptions(passcodeSupplied: true))
    let answers = Task(executorPreference: BackgroundThread.shared) {
      for await event in events {
        switch event.event {
        case .secretWanted(.passcode(attempt: 1)):
          await self.respond(context, .secret(question: event.number, passcode.copy()))
        case .secretWanted(.newPasscode):
          if let newPasscode {
            await self.respond(context, .secret(question: event.number, newPasscode.copy()))
          } else {
            await self.respond(context, .decline(question: event.number))
          }
        case .secretWanted: await self.respond(context, .decline(question: event.number))
        default: break
        }
      }
    }
    let result: Result<Void, VaultError>
    do throws(VaultError) {
      result = .success(try await call(Asking(in: context)))
    } catch {
      result = .failure(error)
    }
    await closeContext(context, reason: .program)
    await answers.value
    return try result.get()
  }
}
