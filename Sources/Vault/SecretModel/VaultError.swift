public import Fingerprint
internal import Glibc

/// The errors of calls to the vault. Different outcomes have different cases; none carries a secret.
@nonexhaustive(warn)
public enum VaultError: Error, Sendable, Hashable {
  // What was asked
  /// The name of an item is invalid; the value says why.
  case invalidName(String)
  /// The secret has more bytes than this.
  case secretTooLong(limit: Int)
  /// This finger is not enrolled on the reader.
  case fingerNotEnrolled(Finger)
  /// The touched finger is enrolled already; the value names it, where known.
  case fingerDuplicate(Finger?)
  /// No fingers are enrolled on this reader.
  case notEnrolled
  /// The fingers of this reader, which is not a physical one, count only once the passcode has accepted them.
  case fingersNotAccepted(ReaderDescription.Nature)
  /// The new passcode is invalid; the value says why.
  case invalidPasscode(String)
  /// The new passcode can be guessed in a day by anyone with a copy of the store. The person may insist.
  case guessablePasscode
  /// Flags that have no meaning together; the value says which.
  case invalidAccessControl(String)
  /// An item with these primary attributes exists.
  case duplicateItem
  /// An item named by its reference does not exist any more.
  case itemGone
  /// The request itself makes no sense; the value says why.
  case invalidRequest(String)

  // Refused
  /// Three touches of one request did not match.
  case authenticationFailed
  /// The person, or the waiting program, cancelled the request.
  case cancelled
  /// The person chose the fallback, which the caller must provide under this policy.
  case userFallback
  /// The program that asked ended the request.
  case appCancelled
  /// The store or the session ended.
  case systemCancelled
  /// The context has been invalidated.
  case contextInvalidated
  /// Five touches in a row did not match. The passcode or the recovery key clears this.
  case biometryLockout
  /// The passcode was wrong in every try that a request allows.
  case wrongPasscode
  /// A recovery key, but not this store's.
  case wrongRecoveryKey
  /// Not a recovery key at all: a typing error.
  case malformedRecoveryKey
  /// The item is stored under another application password.
  case wrongApplicationPassword
  /// Too many wrong passcodes: wait this many seconds.
  case passcodeDelayed(seconds: Int)
  /// Too many wrong application passwords for an item: wait this many seconds.
  case applicationPasswordDelayed(seconds: Int)
  /// The request needs a passcode, and none is set.
  case passcodeNotSet
  /// A prompt is needed, which the caller does not allow.
  case interactionNotAllowed
  /// The state of the caller's login session forbids it.
  case sessionRefused(SessionRefusal)
  /// Items of this accessibility are closed until their user unlocks them.
  case notUnlocked(Accessibility)
  /// The machine (polkit) did not authorize it; the second value has the action and further details.
  case notAuthorized(AuthorizationProblem, action: String)
  /// The enrolment set (or the passcode) the item was bound to is gone.
  case itemInvalidated(ItemName)
  /// The item belongs to the set of another reader.
  case differentReader(ItemName)
  /// The set changed between the touch and the unwrapping.
  case setChanged
  /// The reader's answer does not belong to the request that it was armed for.
  case touchRefused

  // Readers
  /// The reader failed; the value says why.
  case reader(ReaderError)
  /// The reader no longer holds the prints of these enrolled fingers. Items bound to the set are closed but not lost,
  /// until the reader lists the prints again or the fingers are removed with the passcode.
  case printsGone([Finger])

  // The store
  /// The configuration or an option cannot be used; the value says why.
  case configuration(String)
  /// There is no store at this path.
  case storeNotFound(String)
  /// There is a store at this path already.
  case storeExists(String)
  /// The directory cannot be trusted; the value says what is wrong and what to do.
  case unsafeDirectory(String)
  /// The file of the root key is missing or not this store's.
  case deviceKeyMissing
  /// The TPM that holds the store's keys does not open it; the second value adds what is known, or is empty.
  case tpm(TPMProblem, detail: String)
  /// The credential that the store's keys are sealed under does not open it; the second value adds what is known, or is
  /// empty.
  case credential(CredentialProblem, detail: String)
  /// The item's row does not verify; the value is its name, if readable.
  case itemDamaged(ItemName?)
  /// The database is damaged, belongs to another store, or has parts that Whorl did not write; the value says which.
  case storeDamaged(String)
  /// Database and manifest disagree: an earlier copy of one of them was restored and not accepted yet.
  case restoreDetected
  /// An earlier copy was restored, and no record shows that its passcode is the last one: only the recovery key accepts
  /// it.
  case recoveryKeyRequired
  /// The store has reached its user's quota; the value is that limit in bytes.
  case storeFull(limit: Int)
  /// There are as many passkeys as there can be: this many in the store, or for one relying party.
  case passkeysFull(limit: Int)
  /// The store was made by a later version, in this format.
  case newerFormat(Int)
  /// The store was made by an earlier version, in this format, which is not read any more.
  case olderFormat(Int)

  // Encrypted files
  /// The passphrase does not open the encrypted file.
  case wrongPassphrase
  /// The encrypted file cannot be opened; the value says why.
  case fileUnreadable(String)

  // Passing
  /// Another program holds the store or the reader.
  case busy(String)
  /// Nobody touched the reader in time.
  case timedOut
  /// The system refused to read or write; the value says what.
  case inputOutput(String)
  /// There is no room left on a disk; the value says what could not be written.
  case diskFull(String)
  /// A defect of this library; the value says where.
  case internalError(String)

  // The vault's process
  /// The vault's process cannot be started or reached; the value says why. Nothing has been changed.
  case serviceUnavailable(String)
  /// The system service is installed, and nobody listens for it; the value says how that was seen.
  case serviceStopped(String)
  /// The vault's process is of a version that does not understand this program; the value says which.
  case versionMismatch(String)
  /// The connection to the vault was lost after a change was sent. The change may have been made or not.
  case outcomeUnknown
}

/// The names of the cases of ``VaultError``.
package enum VaultErrorName: String, CaseIterable, Sendable {
  case invalidName, secretTooLong, fingerNotEnrolled, fingerDuplicate, notEnrolled, fingersNotAccepted, invalidPasscode,
    guessablePasscode, invalidAccessControl, duplicateItem, itemGone, invalidRequest, authenticationFailed,
    cancelled, userFallback, appCancelled, systemCancelled, contextInvalidated, biometryLockout, wrongPasscode,
    wrongRecoveryKey, malformedRecoveryKey, wrongApplicationPassword, passcodeDelayed, applicationPasswordDelayed,
    passcodeNotSet, interactionNotAllowed, sessionRefused, notUnlocked, notAuthorized, itemInvalidated,
    differentReader, setChanged, touchRefused, reader, printsGone, configuration, storeNotFound, storeExists,
    unsafeDirectory, deviceKeyMissing, tpm, credential, itemDamaged, storeDamaged, restoreDetected,
    recoveryKeyRequired, storeFull, passkeysFull, newerFormat, olderFormat, wrongPassphrase, fileUnreadable, busy,
    timedOut, inputOutput, diskFull, internalError, serviceUnavailable, serviceStopped, versionMismatch, outcomeUnknown
}

package typealias VaultErrorDescription = ErrorDescription<VaultErrorName>

extension ErrorDescription where Name == VaultErrorName {
  /// All that is known of an error, whatever its case. A new error needs an entry here, and one below.
  package static func of(_ error: VaultError) -> Self {
    switch error {
    // What was asked
    case .invalidName(let problem):
      Self(
        .invalidName, [.text(problem)], .status(.errSecParam), .usage,
        "that cannot be the name of a secret: \(problem)",
        advice: "write SERVICE or SERVICE/ACCOUNT, such as mail/alice")
    case .secretTooLong(let limit):
      Self(
        .secretTooLong, [.number(limit)], .status(.errSecDataTooLarge), .usage,
        "the secret is longer than \(limit) bytes", advice: "keep the file encrypted elsewhere and its key here")
    case .fingerNotEnrolled(let finger):
      Self(
        .fingerNotEnrolled, [.word(finger.rawValue)], .status(.errSecItemNotFound), .notFound,
        "\(Spoken.finger(finger)) is not enrolled", advice: "'whorl fingers' lists the enrolled ones")
    case .fingerDuplicate(let known):
      Self(
        .fingerDuplicate, known.map { [.word($0.rawValue)] } ?? [], .status(.errSecDuplicateItem), .exists,
        "that finger is enrolled already\(known.map { " as the \($0.spokenName)" } ?? "")",
        advice: "touch another finger, or unenroll it first")
    case .notEnrolled:
      Self(
        .notEnrolled, [], .authentication(.biometryNotEnrolled), .notFound, "no finger is enrolled on this reader",
        advice: "enrol one in the desktop's settings (Users, Fingerprint), or with 'whorl enroll'")
    case .fingersNotAccepted(let nature):
      Self(
        .fingersNotAccepted, [.word(nature.rawValue)], .authentication(.biometryNotEnrolled), .refused,
        "the fingers of this \(nature.rawValue) reader have not been accepted with the passcode",
        advice: "if the configuration names it on purpose, 'whorl reader use fprintd' accepts them")
    case .invalidPasscode(let problem):
      Self(
        .invalidPasscode, [.text(problem)], .status(.errSecParam), .usage, "that cannot be taken: \(problem)",
        advice: "choose another")
    case .guessablePasscode:
      Self(
        .guessablePasscode, [], .status(.errSecParam), .usage,
        "a day of guesses finds that passcode, for whoever has a copy of this store: 20 million a day, uncounted",
        advice: "choose a longer one, such as four words or 12 digits, or insist with --allow-guessable")
    case .invalidAccessControl(let problem):
      Self(
        .invalidAccessControl, [.text(problem)], .status(.errSecParam), .usage, problem,
        advice: "'whorl --help' explains")
    case .duplicateItem:
      Self(
        .duplicateItem, [], .status(.errSecDuplicateItem), .exists, "such an item exists already",
        advice: "remove it first")
    case .itemGone:
      Self(
        .itemGone, [], .status(.errSecItemNotFound), .notFound, "the item does not exist any more",
        advice: "'whorl ls' lists what there is")
    case .invalidRequest(let problem):
      Self(
        .invalidRequest, [.text(problem)], .status(.errSecParam), .usage, problem, advice: "'whorl --help' explains")

    // Refused
    case .authenticationFailed:
      Self(
        .authenticationFailed, [], .authentication(.authenticationFailed), .refused,
        "three touches did not match an enrolled finger",
        advice:
          "try again with one that 'whorl fingers' lists, clean and dry; where the passcode is taken in its place, "
          + "press Enter at the prompt")
    case .cancelled:
      Self(.cancelled, [], .authentication(.userCancel), .refused, .cancelled)
    case .userFallback:
      Self(.userFallback, [], .authentication(.userFallback), .refused, .cancelled)
    case .appCancelled:
      Self(.appCancelled, [], .authentication(.appCancel), .refused, .cancelled)
    case .systemCancelled:
      Self(
        .systemCancelled, [], .authentication(.systemCancel), .tryAgain,
        "the vault ended before it answered, and nothing was changed", advice: "try again")
    case .contextInvalidated:
      Self(
        .contextInvalidated, [], .authentication(.invalidContext), .tryAgain,
        "the vault ended before it answered, and nothing was changed", advice: "try again")
    case .biometryLockout:
      Self(
        .biometryLockout, [], .authentication(.biometryLockout), .refused,
        "fingers are locked out after five touches that matched nobody",
        advice: "'whorl unlock' clears it with the passcode, 'whorl recover' with the recovery key")
    case .wrongPasscode:
      Self(
        .wrongPasscode, [], .status(.errSecAuthFailed), .refused, "wrong passcode",
        advice: "try again; 'whorl recover' sets a new one with the recovery key")
    case .wrongRecoveryKey:
      Self(
        .wrongRecoveryKey, [], .status(.errSecAuthFailed), .refused, "this is not the recovery key of this store",
        advice: "look for the one that was shown last, by 'whorl setup', 'whorl init' or 'whorl recover --new-key'")
    case .malformedRecoveryKey:
      Self(
        .malformedRecoveryKey, [], .status(.errSecAuthFailed), .refused, "this is not a recovery key",
        advice: "check it for typing errors")
    case .wrongApplicationPassword:
      Self(
        .wrongApplicationPassword, [], .status(.errSecAuthFailed), .refused, "wrong application password",
        advice: "try again")
    case .passcodeDelayed(let seconds):
      Self(
        .passcodeDelayed, [.number(seconds)], .status(.errSecAuthFailed), .refused, "too many wrong passcodes",
        advice: "wait \(Spoken.duration(seconds))")
    case .applicationPasswordDelayed(let seconds):
      Self(
        .applicationPasswordDelayed, [.number(seconds)], .status(.errSecAuthFailed), .refused,
        "too many wrong application passwords", advice: "wait \(Spoken.duration(seconds))")
    case .passcodeNotSet:
      Self(
        .passcodeNotSet, [], .authentication(.passcodeNotSet), .refused, "no passcode is set",
        advice: "'whorl passcode' sets one with the recovery key")
    case .interactionNotAllowed:
      Self(
        .interactionNotAllowed, [], .status(.errSecInteractionNotAllowed), .refused,
        "this needs a prompt, and none is allowed",
        advice: "leave --no-prompt away, or run it where somebody can answer")
    case .sessionRefused(let refusal):
      Self(
        .sessionRefused, [.word(refusal.rawValue)], .status(.errSecInteractionNotAllowed), .refused,
        refusal.explanation)
    case .notUnlocked(let accessibility):
      Self(
        .notUnlocked, [.word(accessibility.rawValue)], .status(.errSecInteractionNotAllowed), .refused,
        "your \(accessibility.plainName) are closed",
        advice: (accessibility == .afterFirstUnlock ? "" : "unlock your session if its screen is locked; otherwise ")
          + "'whorl unlock' opens them with the passcode", detail: accessibility.rawValue)
    case .notAuthorized(let problem, let action):
      Self(
        .notAuthorized, [.word(problem.rawValue), .text(action)], .status(.errSecAuthFailed),
        problem == .unavailable ? .unavailable : .refused, problem.explanation(of: action))
    case .itemInvalidated(let name):
      Self(
        .itemInvalidated, [.item(name)], .status(.errSecItemNotFound), .refused,
        "\(name) is dead: the fingers or the passcode it was bound to have changed",
        advice: "nothing brings it back; store it again with 'whorl set --replace'")
    case .differentReader(let name):
      Self(
        .differentReader, [.item(name)], .status(.errSecAuthFailed), .refused,
        "\(name) is bound to a different reader", advice: "attach that reader, or name it with --reader")
    case .setChanged:
      Self(
        .setChanged, [], .authentication(.authenticationFailed), .refused, "the enrolled fingers changed meanwhile",
        advice: "try again")
    case .touchRefused:
      Self(
        .touchRefused, [], .authentication(.authenticationFailed), .refused,
        "the reader's answer was not to this request", advice: "try again", further: Explanation.doctor)

    // Readers
    case .reader(let error):
      Self(.reader, [.reader(error)], error.described.apple, error.described.kind, error.described.explanation)
    case .printsGone(let fingers):
      Self(
        .printsGone, [.words(fingers.map(\.rawValue))], .authentication(.biometryNotAvailable), .unavailable,
        "the reader does not hold the print of \(Spoken.fingers(fingers)) any more; what is bound to the enrolled fingers "
          + "stays closed, and nothing is lost",
        advice: fingers.count == 1
          ? "'whorl unenroll \(fingers[0].rawValue)' accepts that, with the passcode"
          : "'whorl unenroll FINGER' accepts that for each of them, with the passcode")

    // The store
    case .configuration(let problem):
      Self(
        .configuration, [.text(problem)], .status(.errSecNotAvailable), .configuration, problem, advice: "correct it")
    case .storeNotFound(let directory):
      Self(
        .storeNotFound, [.text(directory)], .status(.errSecNoSuchKeychain, evaluated: .passcodeNotSet), .notFound,
        "no store in \(directory)", advice: "'whorl setup' begins one, and 'whorl init' makes it alone")
    case .storeExists(let directory):
      Self(
        .storeExists, [.text(directory)], .status(.errSecDuplicateKeychain), .exists,
        "there is a store in \(directory) already, or something else",
        advice: "name another directory with --store")
    case .unsafeDirectory(let problem):
      Self(
        .unsafeDirectory, [.text(problem)], .status(.errSecNotAvailable), .configuration,
        "the store's directory cannot be trusted: \(problem)", advice: "correct that, then try again")
    case .deviceKeyMissing:
      Self(
        .deviceKeyMissing, [], .status(.errSecInvalidKeychain), .damaged,
        "the store's key file is missing or another store's",
        advice: "'whorl recover' makes a new one from the recovery key")
    case .tpm(let problem, let detail):
      Self(.tpm, [.word(problem.rawValue), .text(detail)], problem.apple, problem.kind, problem.explanation(detail))
    case .credential(let problem, let detail):
      Self(
        .credential, [.word(problem.rawValue), .text(detail)], problem.apple, problem.kind,
        problem.explanation(detail))
    case .itemDamaged(let name):
      Self(
        .itemDamaged, name.map { [.item($0)] } ?? [], .status(.errSecDecode), .damaged,
        "\(name.map { "\($0)" } ?? "an item") was damaged or tampered with; its secret is not released",
        advice: "put it back from a backup, or remove it with 'whorl rm'; the others are untouched")
    case .storeDamaged(let problem):
      Self(
        .storeDamaged, [.text(problem)], .status(.errSecInvalidKeychain), .damaged,
        "the store is damaged: \(problem)", advice: "put it back from a backup")
    case .restoreDetected:
      Self(
        .restoreDetected, [], .status(.errSecInvalidKeychain), .damaged,
        "an earlier copy of the store, or of a part of it, was put back",
        advice: "'whorl unlock' lists what came back and, if that was you, accepts it")
    case .recoveryKeyRequired:
      Self(
        .recoveryKeyRequired, [], .status(.errSecInvalidKeychain), .damaged,
        "an earlier copy of the store, or of a part of it, was put back, and nothing vouches for its passcode",
        advice: "'whorl recover' lists what came back and, if that was you, accepts it with the recovery key")
    case .storeFull(let limit):
      Self(
        .storeFull, [.number(limit)], .status(.errSecDiskFull), .inputOutput,
        "the store is full: the service keeps at most \(limit >> 20) MiB of each user",
        advice: "remove what is not needed, or keep large files encrypted elsewhere")
    case .passkeysFull(let limit):
      Self(
        .passkeysFull, [.number(limit)], .status(.errSecDiskFull), .refused,
        "there are \(limit) passkeys, for this site or in all, and no more fit",
        advice: "'whorl passkey list' lists them, and 'whorl passkey rm' removes one")
    case .newerFormat(let version):
      Self(
        .newerFormat, [.number(version)], .status(.errSecWrongSecVersion), .damaged,
        "the store is of a newer format (\(version))", advice: "update whorl")
    case .olderFormat(let version):
      Self(
        .olderFormat, [.number(version)], .status(.errSecWrongSecVersion), .damaged,
        "the store is of an older format (\(version)), made before the first release",
        advice: "read its items with the whorl that made it, and store them in a new one ('whorl init')")

    // Encrypted files
    case .wrongPassphrase:
      Self(
        .wrongPassphrase, [], .status(.errSecAuthFailed), .refused, "the passphrase does not open the file",
        advice: "give the one that it was encrypted with")
    case .fileUnreadable(let why):
      Self(
        .fileUnreadable, [.text(why)], .status(.errSecDecode), .damaged, "the file cannot be opened: \(why)",
        advice: "copy or export it anew")

    // Passing
    case .busy(let what):
      Self(
        .busy, [.text(what)], .status(.errSecNotAvailable, evaluated: .systemCancel), .tryAgain, "busy: \(what)",
        advice: "try again")
    case .timedOut:
      Self(
        .timedOut, [], .authentication(.systemCancel), .tryAgain, "no finger or passcode came in time",
        advice: "try again; --timeout, or timeout in config.json, gives more time")
    case .inputOutput(let problem):
      Self(
        .inputOutput, [.text(problem)], .status(.errSecIO), .inputOutput, problem,
        advice: Explanation.advice(onFileError: 0))
    case .diskFull(let problem):
      Self(
        .diskFull, [.text(problem)], .status(.errSecDiskFull), .inputOutput, "the disk is full: \(problem)",
        advice: Explanation.advice(onFileError: ENOSPC))
    case .internalError(let problem):
      Self(.internalError, [.text(problem)], .status(.errSecInternalError), .internalError, .defect(problem))

    // The vault's process
    case .serviceUnavailable(let problem):
      Self(
        .serviceUnavailable, [.text(problem)], .status(.errSecServiceNotAvailable), .unavailable, problem,
        advice: "try again", further: Explanation.doctor)
    case .serviceStopped(let how):
      Self(
        .serviceStopped, [.text(how)], .status(.errSecServiceNotAvailable), .unavailable,
        "the part of Whorl that keeps your secrets does not run, or cannot be reached from here",
        advice:
          "start it with 'sudo systemctl start whorld.socket'; 'systemctl status whorld.socket' says why it ended",
        detail: how)
    case .versionMismatch(let problem):
      Self(
        .versionMismatch, [.text(problem)], .status(.errSecServiceNotAvailable), .unavailable,
        "whorl and its vault are of different versions, or what answers is no vault",
        advice: "install both from one package, then restart the machine", detail: problem)
    case .outcomeUnknown:
      Self(
        .outcomeUnknown, [], .status(.errSecServiceNotAvailable), .tryAgain,
        "the vault ended before it answered: the change was made or not",
        advice: "look at what is there, then try again")
    }
  }
}

extension VaultError {
  // What makes each error again from its name and details. Errors with details of other kinds than one text, number or
  // item have a function of their own.
  static let withoutDetails: [VaultError] = [
    .notEnrolled, .guessablePasscode, .duplicateItem, .itemGone, .authenticationFailed, .cancelled, .userFallback,
    .appCancelled, .systemCancelled, .contextInvalidated, .biometryLockout, .wrongPasscode, .wrongRecoveryKey,
    .malformedRecoveryKey, .wrongApplicationPassword, .passcodeNotSet, .interactionNotAllowed, .setChanged,
    .touchRefused, .deviceKeyMissing, .restoreDetected, .recoveryKeyRequired, .wrongPassphrase, .timedOut,
    .outcomeUnknown,
  ]
  static let withText: [@Sendable (String) -> VaultError] = [
    VaultError.invalidName, VaultError.invalidPasscode, VaultError.invalidAccessControl, VaultError.invalidRequest,
    VaultError.configuration, VaultError.storeNotFound, VaultError.storeExists, VaultError.unsafeDirectory,
    VaultError.storeDamaged, VaultError.fileUnreadable, VaultError.busy, VaultError.inputOutput,
    VaultError.diskFull, VaultError.internalError, VaultError.serviceUnavailable, VaultError.serviceStopped,
    VaultError.versionMismatch,
  ]
  static let withNumber: [@Sendable (Int) -> VaultError] = [
    VaultError.secretTooLong(limit:), VaultError.passcodeDelayed(seconds:),
    VaultError.applicationPasswordDelayed(seconds:), VaultError.storeFull(limit:),
    VaultError.passkeysFull(limit:), VaultError.newerFormat, VaultError.olderFormat,
  ]
  static let withItem: [@Sendable (ItemName) -> VaultError] = [VaultError.itemInvalidated, VaultError.differentReader]
  static let withOtherDetails: [VaultErrorName: @Sendable (VaultErrorDetails) -> VaultError?] = [
    .fingerNotEnrolled: { $0.word().map { .fingerNotEnrolled($0) } },
    .fingerDuplicate: { $0.isEmpty ? .fingerDuplicate(nil) : $0.word().map { .fingerDuplicate($0) } },
    .fingersNotAccepted: { $0.word().map { .fingersNotAccepted($0) } },
    .sessionRefused: { $0.word().map { .sessionRefused($0) } },
    .notUnlocked: { $0.word().map { .notUnlocked($0) } },
    .notAuthorized: { $0.wordAndText().map { .notAuthorized($0, action: $1) } },
    .reader: { $0.reader.map { .reader($0) } },
    .printsGone: { $0.words().map { .printsGone($0) } },
    .tpm: { $0.wordAndText().map { .tpm($0, detail: $1) } },
    .credential: { $0.wordAndText().map { .credential($0, detail: $1) } },
    .itemDamaged: { $0.isEmpty ? .itemDamaged(nil) : $0.item.map { .itemDamaged($0) } },
  ]
}
