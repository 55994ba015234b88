// The parts of which errors are described: for a person, for the exit status, for the bus, and for Apple's API.

package import Primitives

/// All that the programs and libraries have to know of an error.
package struct ErrorDescription<Name: Sendable & Hashable>: Sendable, Hashable {
  /// The name on the bus and in the log.
  package let name: Name
  /// The associated values of the case, without those that are nil.
  package let details: [VaultErrorDetail]
  /// What it is in Apple's libraries.
  package let apple: AppleError
  /// Decides the exit status of a command.
  package let kind: FailureKind
  /// What it means to a person.
  package let explanation: Explanation

  init(
    _ name: Name, _ details: [VaultErrorDetail], _ apple: AppleError, _ kind: FailureKind,
    _ explanation: Explanation
  ) {
    (self.name, self.details, self.apple, self.kind) = (name, details, apple, kind)
    self.explanation = explanation
  }

  init(
    _ name: Name, _ details: [VaultErrorDetail], _ apple: AppleError, _ kind: FailureKind,
    _ what: String, advice: String, further: String? = nil, detail: String? = nil
  ) {
    self.init(name, details, apple, kind, Explanation(what, advice: advice, further: further, detail: detail))
  }
}

/// What an error means to a person, and what to do about it, without technical names. Those are in ``detail``.
package struct Explanation: Sendable, Hashable {
  /// What happened, as the words after "whorl: ".
  package var what: String
  /// What to do next, as the words after a colon.
  package var advice: String
  /// What to do if that does not help, as further words. `whorl doctor` leaves it out, since it is what they name.
  package var further: String?
  /// The technical details of the cause (`--verbose`, `--json`).
  package var detail: String?

  package init(_ what: String, advice: String, further: String? = nil, detail: String? = nil) {
    (self.what, self.advice, self.further, self.detail) = (what, advice, further, detail)
  }

  /// The advice with what to do if it does not help.
  package var fullAdvice: String { further.map { "\(advice); \($0)" } ?? advice }

  /// For errors that `whorl doctor` knows more about.
  static var doctor: String { Text.of("if that does not help, 'whorl doctor' looks further") }
}

extension Accessibility {
  /// The items of this class, as the words after "your", as in the manual page whorl-access(7).
  package var plainName: String {
    switch self {
    case .whenUnlocked: "everyday secrets"
    case .afterFirstUnlock: "background secrets"
    case .passcodeSet: "passcode-bound secrets"
    }
  }

  /// That they are closed.
  var closed: String {
    switch self {
    case .whenUnlocked: Text.of("your everyday secrets are closed")
    case .afterFirstUnlock: Text.of("your background secrets are closed")
    case .passcodeSet: Text.of("your passcode-bound secrets are closed")
    }
  }
}

extension Explanation {
  /// The person or a signal cancelled it.
  package static var cancelled: Explanation {
    Explanation(Text.of("cancelled"), advice: Text.of("run it again"))
  }

  /// A mistake of Whorl's own.
  package static func defect(_ problem: String) -> Explanation {
    Explanation(
      Text.of("Whorl itself has failed (internal error)"),
      advice: Text.of("run it again with --verbose, and report what that says"),
      detail: problem)
  }
}

/// The kinds of failures with different exit statuses.
package enum FailureKind: Sendable, Hashable, CaseIterable {
  /// The request itself was wrong.
  case usage
  /// Data are damaged or tampered with.
  case damaged
  /// There is no such item, finger, reader or store.
  case notFound
  /// The reader or the service is unavailable.
  case unavailable
  case internalError
  /// What should be created exists already.
  case exists
  case inputOutput
  /// A temporary obstacle.
  case tryAgain
  /// The person, the rules or the machine refused it.
  case refused
  case configuration
}

/// An associated value of an error, in the forms that cross the bus.
package enum VaultErrorDetail: Sendable, Hashable {
  /// Text of a program or a person.
  case text(String)
  case number(Int)
  /// The raw value of an enumeration.
  case word(String)
  /// The raw values of an enumeration.
  case words([String])
  case item(ItemName)
  case reader(ReaderError)
}

/// The details that came with the name of an error.
package struct VaultErrorDetails: Sendable {
  /// Nil for those that could not be read.
  private let values: [VaultErrorDetail?]

  package init(_ values: [VaultErrorDetail?]) { self.values = values }

  var isEmpty: Bool { values.isEmpty }

  private var first: VaultErrorDetail? { values.first ?? nil }

  var text: String? { if case .text(let text)? = first { text } else { nil } }
  var number: Int? { if case .number(let number)? = first { number } else { nil } }
  var item: ItemName? { if case .item(let name)? = first { name } else { nil } }
  var reader: ReaderError? { if case .reader(let error)? = first { error } else { nil } }

  func word<Word: RawRepresentable>() -> Word? where Word.RawValue == String {
    if case .word(let word)? = first { Word(rawValue: word) } else { nil }
  }

  func words<Word: RawRepresentable>() -> [Word]? where Word.RawValue == String {
    guard case .words(let words)? = first else { return nil }
    let known = words.compactMap { Word(rawValue: $0) }
    return known.count == words.count ? known : nil
  }

  /// A word and a text, and nothing more.
  func wordAndText<Word: RawRepresentable>() -> (Word, String)? where Word.RawValue == String {
    guard values.count == 2, let word: Word = word(), case .text(let text)? = values[1] else { return nil }
    return (word, text)
  }
}

/// Why a TPM does not open the store whose keys it holds.
@nonexhaustive(warn)
public enum TPMProblem: String, Sendable, Hashable, CaseIterable {
  /// The TPM cannot be reached, or the machine has none.
  case absent
  /// The TPM was cleared or replaced: it is not the one that the store was sealed in.
  case changed
  /// The TPM refuses passcodes for a while, after too many wrong ones of any program.
  case lockedOut = "locked out"
  /// The registers that the store was sealed to have other values: the firmware, its settings or the boot were changed.
  case registersChanged = "registers changed"
  /// The TPM's storage hierarchy has an owner password.
  case ownerPassword = "owner password"
  /// The TPM refused for another reason.
  case refused
}

/// Why a credential of systemd does not open the store whose keys are sealed under it.
@nonexhaustive(warn)
public enum CredentialProblem: String, Sendable, Hashable, CaseIterable {
  /// The service has none, or its settings exclude it.
  case absent
  /// The service has another one than the one that the store was sealed under.
  case changed
}

/// Why the machine did not give a permission that a program asked for.
@nonexhaustive(warn)
public enum AuthorizationProblem: String, Sendable, Hashable, CaseIterable {
  /// The machine's rules do not allow it, or not for this program's session.
  case denied
  /// The person closed the password prompt.
  case dismissed
  /// It needs a password, and nobody can be asked.
  case nobodyToAsk = "nobody to ask"
  /// It needs a password, which is not asked for here.
  case notAsked = "not asked"
  /// The password was wrong in every allowed try.
  case wrongPassword = "wrong password"
  /// The machine does not answer.
  case unavailable
}

/// An error in Apple's libraries: the status of a call of Keychain Services, the code of an evaluation in
/// LocalAuthentication, and the name of one of the two, which the command line prints. Each determines the others
/// (decision 0138).
package struct AppleError: Sendable, Hashable {
  /// The status of a call.
  package let status: AppleStatus
  /// The code of an evaluation, or of the use of a key.
  package let code: AuthenticationCode
  /// The more specific of the two names.
  package let name: String

  /// A failed authentication.
  static func authentication(_ code: AuthenticationCode) -> AppleError {
    AppleError(status: code.status, code: code, name: "LAError.\(code)")
  }

  /// Any other failure.
  ///
  /// - Parameter code: the code of an evaluation with this failure; nil: derived from the status.
  static func status(_ status: AppleStatus, evaluated code: AuthenticationCode? = nil) -> AppleError {
    AppleError(status: status, code: code ?? status.code, name: "\(status)")
  }
}

/// The statuses of Apple's Security framework for errors of the vault.
package enum AppleStatus: Int32, CaseIterable, Sendable {
  case errSecDiskFull = -34
  case errSecIO = -36
  case errSecParam = -50
  case errSecUserCanceled = -128
  case errSecNotAvailable = -25291
  case errSecAuthFailed = -25293
  case errSecNoSuchKeychain = -25294
  case errSecInvalidKeychain = -25295
  case errSecDuplicateKeychain = -25296
  case errSecDuplicateItem = -25299
  case errSecItemNotFound = -25300
  case errSecDataTooLarge = -25302
  case errSecInteractionNotAllowed = -25308
  case errSecWrongSecVersion = -25310
  case errSecDecode = -26275
  case errSecServiceNotAvailable = -67585
  case errSecInternalError = -67671

  /// The code of an evaluation with this failure, by whether the store is still usable.
  fileprivate var code: AuthenticationCode {
    switch self {
    case .errSecUserCanceled: .userCancel
    case .errSecInteractionNotAllowed: .notInteractive
    case .errSecAuthFailed, .errSecParam, .errSecDuplicateItem, .errSecItemNotFound, .errSecDataTooLarge:
      .authenticationFailed
    case .errSecDiskFull, .errSecIO, .errSecNotAvailable, .errSecNoSuchKeychain, .errSecInvalidKeychain,
      .errSecDuplicateKeychain, .errSecWrongSecVersion, .errSecDecode, .errSecServiceNotAvailable, .errSecInternalError:
      .biometryNotAvailable
    }
  }
}

/// The codes of Apple's `LAError`. LocalAuthentication names them; uses of keys report them, too.
package enum AuthenticationCode: Int, CaseIterable, Sendable {
  case authenticationFailed = -1
  case userCancel = -2
  case userFallback = -3
  case systemCancel = -4
  case passcodeNotSet = -5
  case biometryNotAvailable = -6
  case biometryNotEnrolled = -7
  case biometryLockout = -8
  case appCancel = -9
  case invalidContext = -10
  case companionNotAvailable = -11
  case biometryNotPaired = -12
  case biometryDisconnected = -13
  case invalidDimensions = -14
  case notInteractive = -1004

  /// The status of a call: −128 for a cancel by the person, −25308 for a forbidden prompt, and −25293 for every other
  /// failed authentication.
  fileprivate var status: AppleStatus {
    switch self {
    case .userCancel: .errSecUserCanceled
    case .notInteractive: .errSecInteractionNotAllowed
    default: .errSecAuthFailed
    }
  }
}

/// Values in words.
package enum Spoken {
  /// "45 seconds", "3 minutes".
  package static func duration(_ seconds: Int) -> String {
    switch seconds {
    case ..<120: Text.plural("{count} second", "{count} seconds", seconds)
    case ..<7_200: Text.plural("{count} minute", "{count} minutes", (seconds + 59) / 60)
    default: Text.plural("{count} hour", "{count} hours", (seconds + 3_599) / 3_600)
    }
  }

  /// "the left thumb", "the right index finger".
  package static func finger(_ finger: Finger) -> String {
    switch finger {
    case .leftThumb: Text.of("the left thumb")
    case .leftIndex: Text.of("the left index finger")
    case .leftMiddle: Text.of("the left middle finger")
    case .leftRing: Text.of("the left ring finger")
    case .leftLittle: Text.of("the left little finger")
    case .rightThumb: Text.of("the right thumb")
    case .rightIndex: Text.of("the right index finger")
    case .rightMiddle: Text.of("the right middle finger")
    case .rightRing: Text.of("the right ring finger")
    case .rightLittle: Text.of("the right little finger")
    }
  }

  /// "the left thumb, the right index finger".
  package static func fingers(_ fingers: [Finger]) -> String { fingers.map(finger).joined(separator: ", ") }
}
