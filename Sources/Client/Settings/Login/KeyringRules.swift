internal import SecretModel

/// When the login keyring may get a secret of its own, and what may not be taken back while it has one. Each rule throws
/// what is in the way, with the remedy.
package struct KeyringRules: Sendable {
  private let context: any SettingsContext

  package init(_ context: any SettingsContext) { self.context = context }

  /// Whether a login's password opens the store after a start, and so the keyring.
  ///
  /// - Throws: for a store that would still need the passcode after a login.
  package func isOpenedByPassword() async throws(Failure) -> Bool {
    let (first, isPasscode) = try await context.request {
      (try await $0.status().firstUnlock, try await LoginEntries(in: $0).has(LoginItem(.passcode)))
    }
    guard first == .passcode else { return false }
    guard isPasscode else {
      throw Failure(
        .refused,
        "this store asks for its passcode after each start, and your login password is not the passcode: the first login would "
          + "leave the keyring locked",
        advice: "'whorl login enable passcode' makes one of the two; or the administrator sets "
          + "require-passcode-after-boot to off")
    }
    return true
  }

  /// Refuses a change without an effect: no login program takes a finger, so the password opens the keyring anyway, or
  /// none reports logins to Whorl.
  package func requireGain() throws(Failure) {
    let stacks = LoginStacks()
    let byHand = "with --anyway 'whorl login open' opens the keyring by hand"
    if let obstacle = stacks.obstacle {
      throw Failure(.refused, obstacle.words, advice: "\(obstacle.advice); \(byHand)")
    }
    guard stacks.takesFinger else {
      throw Failure(
        .refused, "no login of this computer accepts a finger, and a login by password already opens the keyring",
        advice: "'whorl login status' says what to change; \(byHand)")
    }
  }

  /// Refuses to forget that the login password is the passcode, while only a login with it opens the keyring.
  package func requireOtherWayThanPasscode() async throws(Failure) {
    let (first, isKeyring) = try await context.request {
      (try await $0.status().firstUnlock, try await LoginEntries(in: $0).has(KeyringRekeying.entry))
    }
    guard isKeyring, first == .passcode else { return }
    throw Failure(
      .refused, "the login keyring has a secret of its own, and no login would open it then",
      advice: "'whorl login disable gnome-keyring' first gives it a password that you know")
  }
}
