package import Fingerprint
package import SecureMemory

/// The calls of root's PAM module when a person logs in, authenticates with a finger, or changes the account's
/// password. Secrets stay in the service: an answer is one word.
package protocol LoginService: Sendable {
  /// Reports that a person has logged in. Opens `after-first-unlock` of the user's store if its rule lets a login open
  /// it, or if the user has chosen the login password as the passcode (``LoginItem/Kind/passcode``) and the password is
  /// right.
  ///
  /// - Parameters:
  ///   - session: logind's name of the session.
  ///   - pamService: the PAM service of the login program, for the journal.
  ///   - password: the password typed for this login; nil if none was typed.
  /// - Throws: ``LoginRefusal``.
  func openSession(
    _ session: String, of user: UInt32, by pamService: String, password: consuming SecretBytes?
  ) async throws(LoginRefusal) -> LoginAnswer

  /// What the person must provide at a login that opens the store: ``LoginOutcome/password`` while a finger would not
  /// be enough, else ``LoginOutcome/any``.
  func firstFactor(of user: UInt32) async throws(LoginRefusal) -> LoginOutcome

  /// Asks for a finger, to authenticate a user to a login program.
  ///
  /// - Parameter caller: the user whose finger is wanted, and the program that asks, with its ``Caller/login``.
  /// - Throws: ``LoginRefusal``.
  func verify(_ caller: Caller) async throws(LoginRefusal) -> LoginAnswer

  /// Reports that the password of an account was changed. Changes the passcode as well if the user has chosen that they
  /// are the same.
  ///
  /// - Parameter old: the old password; nil if it was not typed, as when root sets a new one.
  /// - Throws: ``LoginRefusal``.
  func changePassword(of user: UInt32, from old: consuming SecretBytes?, to new: consuming SecretBytes)
    async throws(LoginRefusal) -> LoginAnswer
}

/// The answer to a request of the PAM module.
package enum LoginAnswer: Sendable {
  case settled(LoginOutcome)
  /// A passcode is being tried with scrypt, which is slow. The task ends even if nobody waits for it.
  case trying(Task<LoginOutcome, Never>)
  /// A finger will be asked for.
  case verifying(any LoginVerification)
}

/// A running request for a finger for the PAM module.
package protocol LoginVerification: Sendable {
  /// The next step. Show a prompt before calling this again: the call arms the reader. One call at a time.
  func next() async -> LoginStep
  /// Ends the request: nobody waits for it any more.
  func end() async
}

/// A step of a request for a finger.
package enum LoginStep: Sendable, Hashable {
  case prompt(LoginPrompt)
  case settled(LoginOutcome)
}

/// A prompt before a touch, with its word on the bus.
package enum LoginPrompt: String, Sendable, CaseIterable {
  case touch
  /// Touch again: the last touch could not be read.
  case retry
  /// Touch again: the last touch did not match.
  case otherFinger = "other-finger"
  /// The same for a swipe reader.
  case swipe
  case retrySwipe = "retry-swipe"
  case otherFingerSwipe = "other-finger-swipe"

  /// The same prompt for this kind of reader.
  package func on(_ scanType: ReaderDescription.ScanType) -> Self {
    switch (self, scanType) {
    case (.touch, .swipe): .swipe
    case (.retry, .swipe): .retrySwipe
    case (.otherFinger, .swipe): .otherFingerSwipe
    default: self
    }
  }
}

/// The result of a request of the PAM module, with its word on the bus.
package enum LoginOutcome: String, Sendable, CaseIterable {
  /// `after-first-unlock` is open.
  case open
  /// `after-first-unlock` is closed: the passcode is needed, or the one that was tried is wrong.
  case closed
  /// The same, because the password of the login is not the passcode, although the user has chosen that it is.
  case notPasscode = "not-passcode"
  /// The user has no store.
  case noStore = "no-store"
  /// Only a login with the password opens the store: it is closed, and the user has chosen the login password as the
  /// passcode.
  case password
  /// A login with the password opens no more than one with a finger.
  case any
  /// The passcode was changed to the new password.
  case changed
  /// The user has not chosen that the login password is the passcode.
  case notChosen = "not-chosen"
  /// The passcode was not changed: the old password was not given or is not the passcode.
  case kept
  /// The passcode was not changed: the new password is too short or too long for a passcode.
  case unfit
  /// An enrolled finger of the user matched in this request.
  case verified
  /// No touch matched.
  case noMatch = "no-match"
  /// Fingers are locked out.
  case lockedOut = "locked-out"
  /// No finger can be asked for, or nobody touched the reader.
  case noFinger = "no-finger"
}

/// Why a request of the PAM module is not served.
package enum LoginRefusal: Error, Sendable, Hashable {
  /// logind does not know the session, or it is another user's, remote, or not a person's.
  case noSuchLogin
  /// The store or the machine failed.
  case failed(VaultError)
}
