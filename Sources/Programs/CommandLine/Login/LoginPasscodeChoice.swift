import SecretModel
import SecureMemory
import Settings
import Wallets
import Whorl

/// Checks that the login password is the passcode, and changes the passcode to it if the person wants that.
///
/// The password is checked against the account, as PAM does, and against the store. If it opens only one of them, the
/// error says which.
struct LoginPasscodeChoice {
  let store: any VaultService
  let session: Session
  /// A script's descriptor with a line for each password; nil for the person at the terminal.
  let passwords: WalletPasswords
  /// Whether to print no messages.
  let isQuiet: Bool

  /// How often a person may type the login password.
  private static let attempts = 3

  /// How the login password was checked.
  private enum Proof {
    /// Against the account, as PAM does.
    case account
    /// Not at all: this machine's files do not contain it.
    case none
  }

  /// Asks for the login password, checks it, and stores the choice. A different passcode is changed if the person
  /// agrees.
  ///
  /// - Parameters:
  ///   - isAgreed: whether the person has agreed in advance.
  ///   - context: for the new passcode.
  func enable(isAgreed: Bool, _ context: ContextOptions) async throws(Failure) {
    let (password, passcode, proof) = try await provenPassword()
    let isRemembered = try await isRememberedAsAnother(proof)
    var isPasscode = false
    if passcode == nil, !isRemembered { isPasscode = try await opens(password) }
    if !isPasscode {
      guard proof == .account else {
        throw Failure(
          .refused, "that does not open your secrets, so that it is not the passcode", name: "errSecAuthFailed",
          advice: "type your login password; if the passcode is another one, 'whorl passcode' changes it first")
      }
      try agree(isAgreed, isRemembered: isRemembered)
      try await change(from: passcode, to: password, context)
      say("The passcode is your login password now. 'passwd' changes both.")
    }
    let isProven = proof == .account
    try await keep(isProven: isProven)
    if isProven { return say("The password typed at a login opens the store as its passcode does.") }
    say("It opens the store. That it is your login password could not be checked: log in with it once, and look at")
    say("'whorl login status' then.")
  }

  /// Checks that a login with the password opens the store, before something is changed that nothing else will open.
  ///
  /// - Parameter first: a candidate for the login password.
  func prove(first: SharedSecret) async throws(Failure) {
    var password = first
    if await LoginPassword.check(first.bytes) == .wrong {
      say("That is the keyring's password, and not your login password, which has to open your secrets at each login.")
      password = try await provenPassword().password
    }
    guard try await opens(password) else {
      throw Failure(
        .refused, "your login password is not the passcode, so that a login would leave the keyring locked",
        name: "errSecAuthFailed", advice: "'whorl login enable passcode' makes them the same; then try again")
    }
    if await LoginPassword.check(password.bytes) == .right {
      return try await keep(isProven: true)
    }
    let state = try await session.explained { () async throws(VaultError) in
      try await LoginEntries(in: store).loginPasscode()
    }
    guard state == .same else {
      throw Failure(
        .refused, "your login password has not opened your secrets at a login yet", name: "errSecAuthFailed",
        advice: "log out, log in with your password, and try again; 'whorl login status' shows whether it does")
    }
  }

  /// Asks for the login password until it is right. If the passcode was typed instead, says so and returns it as well.
  private func provenPassword() async throws(Failure) -> (password: SharedSecret, passcode: SharedSecret?, Proof) {
    var passcode: SharedSecret?
    for attempt in 1... {
      let word = SharedSecret(try passwords.current("login password"))
      switch await LoginPassword.check(word.bytes) {
      case .right: return (word, passcode, .account)
      case .unknown(let why):
        say("Your login password cannot be checked here: \(why).")
        return (word, passcode, .none)
      case .wrong:
        let isPasscode = try await opens(word)
        if isPasscode { passcode = word }
        let what =
          isPasscode
          ? "that is the passcode of your secrets, and not your login password"
          : "that is neither your login password nor the passcode of your secrets"
        guard passwords.descriptor == nil, attempt < Self.attempts else {
          throw Failure(
            .refused, what, name: "errSecAuthFailed",
            advice: "give the password that you type when you log in to this computer")
        }
        StandardError.line(
          "\(what.prefix(1).uppercased())\(what.dropFirst()). Type the one that you log in to this computer with.")
      }
    }
    throw .cancelled
  }

  /// Whether the word is the passcode. A wrong one counts as a failure, as everywhere.
  func opens(_ word: SharedSecret) async throws(Failure) -> Bool {
    do throws(Failure) {
      let access = AccessControl(.passcode)
      try await session.asking(store, .only(word)) { _ = try await store.evaluate(.access(access), $0) }
      return true
    } catch  where [.wrongPasscode, .invalidPasscode].contains(error.cause?.name) {
      return false
    }
  }

  /// Whether the two were different when last compared, and a person is here, who says which is which. Trying the login
  /// password as the passcode would count as a failure then, and after a few of them lock out who types the right words.
  private func isRememberedAsAnother(_ proof: Proof) async throws(Failure) -> Bool {
    guard proof == .account, passwords.descriptor == nil else { return false }
    let state = try await session.explained { () async throws(VaultError) in
      try await LoginEntries(in: store).loginPasscode()
    }
    return if case .different? = state { true } else { false }
  }

  private func agree(_ isAgreed: Bool, isRemembered: Bool) throws(Failure) {
    guard !isAgreed else { return }
    guard passwords.descriptor == nil else {
      throw Failure(
        .refused, "that is your login password, and the passcode of your secrets is another one",
        name: "errSecAuthFailed", advice: "--change-passcode makes your login password the passcode")
    }
    StandardError.line(
      "That is your login password. The passcode of your secrets "
        + (isRemembered ? "was another one when the two were last compared." : "is another one."))
    do throws(Failure) {
      try session.answers().confirm("Make your login password the passcode?", assent: "--change-passcode")
    } catch  where error.what == Failure.cancelled.what {
      throw Failure(
        .refused, "nothing was changed: your login password and the passcode are still different",
        name: "LAError.userCancel", advice: "a login then opens nothing by its password")
    }
  }

  /// Changes the passcode to the login password.
  ///
  /// - Parameter passcode: the current one; nil: asks for it.
  func change(
    from passcode: SharedSecret?, to password: SharedSecret, _ context: ContextOptions
  ) async throws(Failure) {
    var answers = session.answers()
    if let passcode { answers.given = passcode }
    answers.newPasscode = password
    try await session.asking(store, answers, options: context, reason: "make your login password the passcode") {
      try await store.changePasscode($0)
    }
  }

  /// Stores the choice.
  func keep(isProven: Bool) async throws(Failure) {
    try await session.explained { () async throws(VaultError) in
      try await LoginEntries(in: store).putLoginPasscode(isProven: isProven)
    }
  }

  private func say(_ words: String) {
    if !isQuiet { StandardError.line(words) }
  }
}
