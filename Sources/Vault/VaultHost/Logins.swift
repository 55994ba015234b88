import Presence
package import Primitives
package import SecretModel
import Vault
import VaultItems
import VaultStore

/// Serves the PAM module: opens stores at a login, and asks for fingers that let people in.
package final class Logins: LoginService {
  private let vaults: SystemVaults
  private let isLocalLogin: @Sendable (_ session: String, _ user: UInt32) async -> Bool
  private let log: @Sendable (String) -> Void
  /// One after another for each user: each try has to know whether the one before it was wrong.
  private let tries = UserTurns(width: 4, waitingLimit: 8, what: "logins of this user wait")

  /// - Parameters:
  ///   - isLocalLogin: whether logind knows this session as a local login of this user.
  ///   - log: called with a line for the journal about each request. The line contains no secret.
  package init(
    _ vaults: SystemVaults, isLocalLogin: @escaping @Sendable (_ session: String, _ user: UInt32) async -> Bool,
    log: @escaping @Sendable (String) -> Void
  ) {
    self.vaults = vaults
    self.isLocalLogin = isLocalLogin
    self.log = log
  }

  package func openSession(
    _ session: String, of user: UInt32, by pamService: String, password: consuming SecretBytes?
  ) async throws(LoginRefusal) -> LoginAnswer {
    let password: SharedSecret? = if let password { SharedSecret(password) } else { nil }
    let program = Self.spoken(pamService)
    let what = "login of user \(user) by \(program)"
    guard await isLocalLogin(session, user) else {
      log("\(what): logind has no such local session")
      throw .noSuchLogin
    }
    return try await settling(what, of: user, program: program) { store throws(VaultError) in
      let isOpen = try await store.openForLogin()
      guard let password, password.bytes.count > 0, try await store.hasLoginPasscode() else {
        return .settled(isOpen ? .open : .closed)
      }
      // After several wrong ones logins do not try: the last of them has shown that the two differ.
      guard try await store.takesPasswordOfLogin() else { return .settled(isOpen ? .open : .notPasscode) }
      let trying = Task(executorPreference: BackgroundThread.shared) {
        await self.unlock(store, user, with: password, what)
      }
      // The store is open already: the try only restarts the hours until the passcode is needed again. Do not wait for
      // it.
      return isOpen ? .settled(.open) : .trying(trying)
    }
  }

  package func firstFactor(of user: UInt32) async throws(LoginRefusal) -> LoginOutcome {
    do throws(VaultError) {
      return try await LoginStore(vaults.store(of: user), of: user).wantsPassword() ? .password : .any
    } catch .storeNotFound {
      return .any
    } catch {
      throw .failed(error)
    }
  }

  package func verify(_ caller: Caller) async throws(LoginRefusal) -> LoginAnswer {
    let (program, log) = (Self.spoken(caller.label ?? ""), log)
    let isLocker = caller.login?.isLocker == true
    var caller = caller
    // A program of the user keeps the name that the service has found out itself.
    if !isLocker { caller.label = program }
    let what = "finger of user \(caller.user) \(isLocker ? "to unlock the screen, by" : "for") \(program)"
    return try await settling(what, of: caller.user, isLogged: !isLocker) { [caller] store throws(VaultError) in
      // A finger would let the person in and leave the store closed.
      if caller.login?.isGreeter == true, try await store.wantsPassword() { return .settled(.password) }
      let touch = try await store.touch(for: caller) { outcome, error in
        // A program of the user may ask at any rate: the journal has a line only where somebody has touched the reader.
        if isLocker, ![.verified, .noMatch].contains(outcome) { return }
        log("\(what): \(outcome.rawValue)\(error.map { ": \($0)" } ?? "")")
      }
      return .verifying(touch)
    }
  }

  package func changePassword(
    of user: UInt32, from old: consuming SecretBytes?, to new: consuming SecretBytes
  ) async throws(LoginRefusal) -> LoginAnswer {
    let old: SharedSecret? = if let old { SharedSecret(old) } else { nil }
    let new = SharedSecret(new)
    let what = "new password of user \(user)"
    return try await settling(what, of: user) { store throws(VaultError) in
      guard try await store.hasLoginPasscode() else { return .settled(.notChosen) }
      guard let old, old.bytes.count > 0 else {
        try await store.keptPasscode()
        return .settled(.kept)
      }
      return .trying(
        Task(executorPreference: BackgroundThread.shared) { await self.change(store, user, from: old, to: new, what) })
    }
  }

  private func settling(
    _ what: String, of user: UInt32, program: String? = nil, isLogged: Bool = true,
    _ body: (LoginStore) async throws(VaultError) -> LoginAnswer
  ) async throws(LoginRefusal) -> LoginAnswer {
    do throws(VaultError) {
      let answer = try await body(LoginStore(vaults.store(of: user), of: user, program: program))
      switch answer {
      case .settled(let outcome): if isLogged { log("\(what): \(outcome.rawValue)") }
      case .trying, .verifying: break
      }
      return answer
    } catch .storeNotFound {
      return .settled(.noStore)
    } catch {
      if isLogged { log("\(what): \(error)") }
      throw .failed(error)
    }
  }

  private func unlock(_ store: LoginStore, _ user: UInt32, with password: SharedSecret, _ what: String) async
    -> LoginOutcome
  {
    do throws(VaultError) {
      try await unlock(store, user, with: password)
      log("\(what): opened with the passcode")
      return .open
    } catch {
      log("\(what): the password does not open the store: \(error)")
      return error == .wrongPasscode ? .notPasscode : .closed
    }
  }

  /// Tries the password, unless logins at the same time have used up their tries: the others are the owner's.
  private func unlock(_ store: LoginStore, _ user: UInt32, with password: SharedSecret) async throws(VaultError) {
    let turn = try await tries.turn(for: user)
    let isTaken = try await store.takesPasswordOfLogin()
    if isTaken { try await store.unlock(with: password) }
    _ = consume turn
    guard isTaken else { throw .wrongPasscode }
  }

  private func change(
    _ store: LoginStore, _ user: UInt32, from old: SharedSecret, to new: SharedSecret, _ what: String
  ) async -> LoginOutcome {
    do throws(VaultError) {
      try await store.changePasscode(from: old, to: new)
      log("\(what): it is the passcode")
      return .changed
    } catch let error where [.invalidPasscode, .guessablePasscode].contains(error.name) {
      log("\(what): it cannot be a passcode; the earlier one stays")
      return .unfit
    } catch {
      log("\(what): the passcode of before stays: \(error)")
      // The log has this already where the old password was tried.
      if error != .wrongPasscode { try? await store.keptPasscode() }
      return .kept
    }
  }

  /// The name of a PAM service, cut to 32 characters, with letters, digits and `-_.` alone.
  private static func spoken(_ name: String) -> String {
    String(name.prefix(32).filter { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) })
  }
}
