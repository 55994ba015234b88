package import Primitives
internal import SecretModel
internal import Whorl

/// Makes the password of the login and the passcode one, and takes back that they are.
///
/// The password is checked against the account, as PAM does, and against the store. If it opens only one of them, the
/// error says which.
package struct LoginPasscodeChange: Sendable {
  private let dialogue: any ChangeDialogue
  private var context: any SettingsContext { dialogue.context }

  package init(_ dialogue: any ChangeDialogue) { self.dialogue = dialogue }

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
  ///   - allowsGuessable: whether the new passcode may be one that can be guessed in a day.
  package func enable(isAgreed: Bool, allowsGuessable: Bool) async throws(Failure) {
    guard try await context.request({ try await $0.status() }).passcodeSet else { throw Failure(.passcodeNotSet) }
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
      try await agree(isAgreed, isRemembered: isRemembered)
      try await change(from: passcode, to: password, allowsGuessable: allowsGuessable)
      dialogue.tell(.done("The passcode is your login password now. 'passwd' changes both."))
    }
    let isProven = proof == .account
    try await keep(isProven: isProven)
    if isProven {
      return dialogue.tell(.done("The password typed at a login opens the store as its passcode does."))
    }
    dialogue.tell(
      .hint("It opens the store. That it is your login password could not be checked: log in with it once, and look at")
    )
    dialogue.tell(.hint("'whorl login status' then."))
  }

  /// Forgets that the two are to be one.
  package func disable() async throws(Failure) {
    _ = try await context.openStore()
    try await KeyringRules(context).requireOtherWayThanPasscode()
    try await context.request { try await LoginEntries(in: $0).remove(LoginItem(.passcode)) }
  }

  /// Checks that a login with the password opens the store, before something is changed that nothing else will open.
  ///
  /// - Parameter first: a candidate for the login password.
  func prove(first: SharedSecret) async throws(Failure) {
    var password = first
    if await LoginPassword.check(first.bytes) == .wrong {
      dialogue.tell(
        .hint(
          "That is the keyring's password, and not your login password, which has to open your secrets at each login."))
      password = try await provenPassword().password
    }
    guard try await opens(password) else {
      throw Failure(
        .refused, "your login password is not the passcode, so that a login would leave the keyring locked",
        name: "errSecAuthFailed", advice: "'whorl login enable passcode' makes them the same; then try again")
    }
    if await LoginPassword.check(password.bytes) == .right { return try await keep(isProven: true) }
    guard try await context.request({ try await LoginEntries(in: $0).loginPasscode() }) == .same else {
      throw Failure(
        .refused, "your login password has not opened your secrets at a login yet", name: "errSecAuthFailed",
        advice: "log out, log in with your password, and try again; 'whorl login status' shows whether it does")
    }
  }

  /// Asks for the login password until it is right. If the passcode was typed instead, says so and returns it as well.
  private func provenPassword() async throws(Failure) -> (password: SharedSecret, passcode: SharedSecret?, Proof) {
    var passcode: SharedSecret?
    for attempt in 1... {
      let word = try await dialogue.password("login password", isOptional: false)
      switch await LoginPassword.check(word.bytes) {
      case .right: return (word, passcode, .account)
      case .unknown(let why):
        dialogue.tell(.hint("Your login password cannot be checked here: \(why)."))
        return (word, passcode, .none)
      case .wrong:
        let isPasscode = try await opens(word)
        if isPasscode { passcode = word }
        let what =
          isPasscode
          ? "that is the passcode of your secrets, and not your login password"
          : "that is neither your login password nor the passcode of your secrets"
        guard !dialogue.isScripted, attempt < dialogue.attemptLimit else {
          throw Failure(
            .refused, what, name: "errSecAuthFailed",
            advice: "give the password that you type when you log in to this computer")
        }
        dialogue.tell(.problem("\(what.asSentence). Type the one that you log in to this computer with."))
      }
    }
    throw .cancelled
  }

  /// Whether the word is the passcode. A wrong one counts as a failure, as everywhere.
  package func opens(_ word: SharedSecret) async throws(Failure) -> Bool {
    do throws(Failure) {
      var manner = ChangeAsking()
      (manner.passcode, manner.isSilent) = (word, true)
      let access = AccessControl(.passcode)
      try await dialogue.asking(manner) { vault, asking in _ = try await vault.evaluate(.access(access), asking) }
      return true
    } catch  where [.wrongPasscode, .invalidPasscode].contains(error.cause?.name) {
      return false
    }
  }

  /// Whether the two were different when last compared, and a person is here, who says which is which. Trying the login
  /// password as the passcode would count as a failure then, and after a few of them lock out who types the right words.
  private func isRememberedAsAnother(_ proof: Proof) async throws(Failure) -> Bool {
    guard proof == .account, !dialogue.isScripted else { return false }
    let state = try await context.request { try await LoginEntries(in: $0).loginPasscode() }
    return if case .different? = state { true } else { false }
  }

  private func agree(_ isAgreed: Bool, isRemembered: Bool) async throws(Failure) {
    guard !isAgreed else { return }
    guard !dialogue.isScripted else {
      throw Failure(
        .refused, "that is your login password, and the passcode of your secrets is another one",
        name: "errSecAuthFailed", advice: "--change-passcode makes your login password the passcode")
    }
    dialogue.tell(
      .problem(
        "That is your login password. The passcode of your secrets "
          + (isRemembered ? "was another one when the two were last compared." : "is another one.")))
    do throws(Failure) {
      try await dialogue.confirm("Make your login password the passcode?", assent: "--change-passcode")
    } catch  where error.what == Failure.cancelled.what {
      throw Failure(
        .refused, "nothing was changed: your login password and the passcode are still different",
        name: "LAError.userCancel", advice: "a login then opens nothing by its password")
    }
  }

  /// Changes the passcode to the login password.
  ///
  /// - Parameter passcode: the current one; nil: asks for it.
  package func change(
    from passcode: SharedSecret?, to password: SharedSecret, allowsGuessable: Bool = false
  ) async throws(Failure) {
    var manner = ChangeAsking("make your login password the passcode")
    (manner.passcode, manner.newPasscode) = (passcode, password)
    manner.allowsGuessablePasscode = allowsGuessable
    try await dialogue.asking(manner) { vault, asking in try await vault.changePasscode(asking) }
  }

  /// Stores the choice.
  package func keep(isProven: Bool) async throws(Failure) {
    try await context.request { try await LoginEntries(in: $0).putLoginPasscode(isProven: isProven) }
  }

  /// Whether the person has chosen that the two are one.
  package static func isChosen(_ context: some SettingsContext) async throws(Failure) -> Bool {
    try await context.request { try await LoginEntries(in: $0).has(LoginItem(.passcode)) }
  }

  /// Says what a change of the passcode means for logins, if the two were one.
  package func passcodeHasChanged() async throws(Failure) {
    let store = try await context.openStore()
    let wasOne = try await context.explained { () async throws(VaultError) in try await store.noteNewPasscode() }
    guard wasOne else { return }
    dialogue.tell(
      .hint("A login opens your secrets only if your login password is the passcode, too: whorl login enable passcode"))
  }
}
