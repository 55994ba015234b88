internal import Glibc
public import Primitives

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
        Text.of("that cannot be the name of a secret: {problem}", ["problem": problem]),
        advice: Text.of("write SERVICE or SERVICE/ACCOUNT, such as mail/alice"))
    case .secretTooLong(let limit):
      Self(
        .secretTooLong, [.number(limit)], .status(.errSecDataTooLarge), .usage,
        Text.of("the secret is longer than {limit} bytes", ["limit": "\(limit)"]),
        advice: Text.of("keep the file encrypted elsewhere and its key here"))
    case .fingerNotEnrolled(let finger):
      Self(
        .fingerNotEnrolled, [.word(finger.rawValue)], .status(.errSecItemNotFound), .notFound,
        Text.of("{finger} is not enrolled", ["finger": Spoken.finger(finger)]),
        advice: Text.of("'whorl fingers' lists the enrolled ones"))
    case .fingerDuplicate(let known):
      Self(
        .fingerDuplicate, known.map { [.word($0.rawValue)] } ?? [], .status(.errSecDuplicateItem), .exists,
        known.map { Text.of("that finger is enrolled already as {finger}", ["finger": Spoken.finger($0)]) }
          ?? Text.of("that finger is enrolled already"),
        advice: Text.of("touch another finger, or unenroll it first"))
    case .notEnrolled:
      Self(
        .notEnrolled, [], .authentication(.biometryNotEnrolled), .notFound,
        Text.of("no finger is enrolled on this reader"),
        advice: Text.of("enrol one in the desktop's settings (Users, Fingerprint), or with 'whorl enroll'"))
    case .fingersNotAccepted(let nature):
      Self(
        .fingersNotAccepted, [.word(nature.rawValue)], .authentication(.biometryNotEnrolled), .refused,
        nature == .virtual
          ? Text.of("the fingers of this virtual reader have not been accepted with the passcode")
          : Text.of("the fingers of this replayed reader have not been accepted with the passcode"),
        advice: Text.of("if the configuration names it on purpose, 'whorl reader use fprintd' accepts them"))
    case .invalidPasscode(let problem):
      Self(
        .invalidPasscode, [.text(problem)], .status(.errSecParam), .usage,
        Text.of("that cannot be taken: {problem}", ["problem": problem]),
        advice: Text.of("choose another"))
    case .guessablePasscode:
      Self(
        .guessablePasscode, [], .status(.errSecParam), .usage,
        Text.of(
          "a day of guesses finds that passcode, for whoever has a copy of this store: 20 million a day, uncounted"),
        advice: Text.of("choose a longer one, such as four words or 12 digits, or insist with --allow-guessable"))
    case .invalidAccessControl(let problem):
      Self(
        .invalidAccessControl, [.text(problem)], .status(.errSecParam), .usage, problem,
        advice: Text.of("'whorl --help' explains"))
    case .duplicateItem:
      Self(
        .duplicateItem, [], .status(.errSecDuplicateItem), .exists, Text.of("such an item exists already"),
        advice: Text.of("remove it first"))
    case .itemGone:
      Self(
        .itemGone, [], .status(.errSecItemNotFound), .notFound, Text.of("the item does not exist any more"),
        advice: Text.of("'whorl ls' lists what there is"))
    case .invalidRequest(let problem):
      Self(
        .invalidRequest, [.text(problem)], .status(.errSecParam), .usage, problem,
        advice: Text.of("'whorl --help' explains"))

    // Refused
    case .authenticationFailed:
      Self(
        .authenticationFailed, [], .authentication(.authenticationFailed), .refused,
        Text.of("three touches did not match an enrolled finger"),
        advice:
          Text.of(
            "try again with one that 'whorl fingers' lists, clean and dry; where the passcode is taken in its place, press Enter at the prompt"
          ))
    case .cancelled:
      Self(.cancelled, [], .authentication(.userCancel), .refused, .cancelled)
    case .userFallback:
      Self(.userFallback, [], .authentication(.userFallback), .refused, .cancelled)
    case .appCancelled:
      Self(.appCancelled, [], .authentication(.appCancel), .refused, .cancelled)
    case .systemCancelled:
      Self(
        .systemCancelled, [], .authentication(.systemCancel), .tryAgain,
        Text.of("the vault ended before it answered, and nothing was changed"), advice: Text.of("try again"))
    case .contextInvalidated:
      Self(
        .contextInvalidated, [], .authentication(.invalidContext), .tryAgain,
        Text.of("the vault ended before it answered, and nothing was changed"), advice: Text.of("try again"))
    case .biometryLockout:
      Self(
        .biometryLockout, [], .authentication(.biometryLockout), .refused,
        Text.of("fingers are locked out after five touches that matched nobody"),
        advice: Text.of("'whorl unlock' clears it with the passcode, 'whorl recover' with the recovery key"))
    case .wrongPasscode:
      Self(
        .wrongPasscode, [], .status(.errSecAuthFailed), .refused, Text.of("wrong passcode"),
        advice: Text.of("try again; 'whorl recover' sets a new one with the recovery key"))
    case .wrongRecoveryKey:
      Self(
        .wrongRecoveryKey, [], .status(.errSecAuthFailed), .refused,
        Text.of("this is not the recovery key of this store"),
        advice: Text.of(
          "look for the one that was shown last, by 'whorl setup', 'whorl init' or 'whorl recover --new-key'"))
    case .malformedRecoveryKey:
      Self(
        .malformedRecoveryKey, [], .status(.errSecAuthFailed), .refused, Text.of("this is not a recovery key"),
        advice: Text.of("check it for typing errors"))
    case .wrongApplicationPassword:
      Self(
        .wrongApplicationPassword, [], .status(.errSecAuthFailed), .refused, Text.of("wrong application password"),
        advice: Text.of("try again"))
    case .passcodeDelayed(let seconds):
      Self(
        .passcodeDelayed, [.number(seconds)], .status(.errSecAuthFailed), .refused, Text.of("too many wrong passcodes"),
        advice: Text.of("wait {time}", ["time": Spoken.duration(seconds)]))
    case .applicationPasswordDelayed(let seconds):
      Self(
        .applicationPasswordDelayed, [.number(seconds)], .status(.errSecAuthFailed), .refused,
        Text.of("too many wrong application passwords"),
        advice: Text.of("wait {time}", ["time": Spoken.duration(seconds)]))
    case .passcodeNotSet:
      Self(
        .passcodeNotSet, [], .authentication(.passcodeNotSet), .refused, Text.of("no passcode is set"),
        advice: Text.of("'whorl passcode' sets one with the recovery key"))
    case .interactionNotAllowed:
      Self(
        .interactionNotAllowed, [], .status(.errSecInteractionNotAllowed), .refused,
        Text.of("this needs a prompt, and none is allowed"),
        advice: Text.of("leave --no-prompt away, or run it where somebody can answer"))
    case .sessionRefused(let refusal):
      Self(
        .sessionRefused, [.word(refusal.rawValue)], .status(.errSecInteractionNotAllowed), .refused,
        refusal.explanation)
    case .notUnlocked(let accessibility):
      Self(
        .notUnlocked, [.word(accessibility.rawValue)], .status(.errSecInteractionNotAllowed), .refused,
        accessibility.closed,
        advice: accessibility == .afterFirstUnlock
          ? Text.of("'whorl unlock' opens them with the passcode")
          : Text.of(
            "unlock your session if its screen is locked; otherwise 'whorl unlock' opens them with the passcode"),
        detail: accessibility.rawValue)
    case .notAuthorized(let problem, let action):
      Self(
        .notAuthorized, [.word(problem.rawValue), .text(action)], .status(.errSecAuthFailed),
        problem == .unavailable ? .unavailable : .refused, problem.explanation(of: action))
    case .itemInvalidated(let name):
      Self(
        .itemInvalidated, [.item(name)], .status(.errSecItemNotFound), .refused,
        Text.of("{name} is dead: the fingers or the passcode it was bound to have changed", ["name": name.description]),
        advice: Text.of("nothing brings it back; store it again with 'whorl set --replace'"))
    case .differentReader(let name):
      Self(
        .differentReader, [.item(name)], .status(.errSecAuthFailed), .refused,
        Text.of("{name} is bound to a different reader", ["name": name.description]),
        advice: Text.of("attach that reader, or name it with --reader"))
    case .setChanged:
      Self(
        .setChanged, [], .authentication(.authenticationFailed), .refused,
        Text.of("the enrolled fingers changed meanwhile"),
        advice: Text.of("try again"))
    case .touchRefused:
      Self(
        .touchRefused, [], .authentication(.authenticationFailed), .refused,
        Text.of("the reader's answer was not to this request"), advice: Text.of("try again"),
        further: Explanation.doctor)

    // Readers
    case .reader(let error):
      Self(.reader, [.reader(error)], error.described.apple, error.described.kind, error.described.explanation)
    case .printsGone(let fingers):
      Self(
        .printsGone, [.words(fingers.map(\.rawValue))], .authentication(.biometryNotAvailable), .unavailable,
        Text.of(
          "the reader does not hold the print of {fingers} any more; what is bound to the enrolled fingers stays closed, and nothing is lost",
          ["fingers": Spoken.fingers(fingers)]),
        advice: fingers.count == 1
          ? Text.of(
            "'{command}' accepts that, with the passcode", ["command": "whorl unenroll \(fingers[0].rawValue)"])
          : Text.of("'whorl unenroll FINGER' accepts that for each of them, with the passcode"))

    // The store
    case .configuration(let problem):
      Self(
        .configuration, [.text(problem)], .status(.errSecNotAvailable), .configuration, problem,
        advice: Text.of("correct it"))
    case .storeNotFound(let directory):
      Self(
        .storeNotFound, [.text(directory)], .status(.errSecNoSuchKeychain, evaluated: .passcodeNotSet), .notFound,
        Text.of("no store in {directory}", ["directory": directory]),
        advice: Text.of("'whorl setup' begins one, and 'whorl init' makes it alone"))
    case .storeExists(let directory):
      Self(
        .storeExists, [.text(directory)], .status(.errSecDuplicateKeychain), .exists,
        Text.of("there is a store in {directory} already, or something else", ["directory": directory]),
        advice: Text.of("name another directory with --store"))
    case .unsafeDirectory(let problem):
      Self(
        .unsafeDirectory, [.text(problem)], .status(.errSecNotAvailable), .configuration,
        Text.of("the store's directory cannot be trusted: {problem}", ["problem": problem]),
        advice: Text.of("correct that, then try again"))
    case .deviceKeyMissing:
      Self(
        .deviceKeyMissing, [], .status(.errSecInvalidKeychain), .damaged,
        Text.of("the store's key file is missing or another store's"),
        advice: Text.of("'whorl recover' makes a new one from the recovery key"))
    case .tpm(let problem, let detail):
      Self(.tpm, [.word(problem.rawValue), .text(detail)], problem.apple, problem.kind, problem.explanation(detail))
    case .credential(let problem, let detail):
      Self(
        .credential, [.word(problem.rawValue), .text(detail)], problem.apple, problem.kind,
        problem.explanation(detail))
    case .itemDamaged(let name):
      Self(
        .itemDamaged, name.map { [.item($0)] } ?? [], .status(.errSecDecode), .damaged,
        Text.of(
          "{name} was damaged or tampered with; its secret is not released",
          ["name": name.map(\.description) ?? Text.of("an item")]),
        advice: Text.of("put it back from a backup, or remove it with 'whorl rm'; the others are untouched"))
    case .storeDamaged(let problem):
      Self(
        .storeDamaged, [.text(problem)], .status(.errSecInvalidKeychain), .damaged,
        Text.of("the store is damaged: {problem}", ["problem": problem]), advice: Text.of("put it back from a backup"))
    case .restoreDetected:
      Self(
        .restoreDetected, [], .status(.errSecInvalidKeychain), .damaged,
        Text.of("an earlier copy of the store, or of a part of it, was put back"),
        advice: Text.of("'whorl unlock' lists what came back and, if that was you, accepts it"))
    case .recoveryKeyRequired:
      Self(
        .recoveryKeyRequired, [], .status(.errSecInvalidKeychain), .damaged,
        Text.of("an earlier copy of the store, or of a part of it, was put back, and nothing vouches for its passcode"),
        advice: Text.of("'whorl recover' lists what came back and, if that was you, accepts it with the recovery key"))
    case .storeFull(let limit):
      Self(
        .storeFull, [.number(limit)], .status(.errSecDiskFull), .inputOutput,
        Text.of("the store is full: the service keeps at most {size} MiB of each user", ["size": "\(limit >> 20)"]),
        advice: Text.of("remove what is not needed, or keep large files encrypted elsewhere"))
    case .passkeysFull(let limit):
      Self(
        .passkeysFull, [.number(limit)], .status(.errSecDiskFull), .refused,
        Text.of("there are {limit} passkeys, for this site or in all, and no more fit", ["limit": "\(limit)"]),
        advice: Text.of("'whorl passkey list' lists them, and 'whorl passkey rm' removes one"))
    case .newerFormat(let version):
      Self(
        .newerFormat, [.number(version)], .status(.errSecWrongSecVersion), .damaged,
        Text.of("the store is of a newer format ({version})", ["version": "\(version)"]),
        advice: Text.of("update whorl"))
    case .olderFormat(let version):
      Self(
        .olderFormat, [.number(version)], .status(.errSecWrongSecVersion), .damaged,
        Text.of(
          "the store is of an older format ({version}), made before the first release", ["version": "\(version)"]),
        advice: Text.of("read its items with the whorl that made it, and store them in a new one ('whorl init')"))

    // Encrypted files
    case .wrongPassphrase:
      Self(
        .wrongPassphrase, [], .status(.errSecAuthFailed), .refused, Text.of("the passphrase does not open the file"),
        advice: Text.of("give the one that it was encrypted with"))
    case .fileUnreadable(let why):
      Self(
        .fileUnreadable, [.text(why)], .status(.errSecDecode), .damaged,
        Text.of("the file cannot be opened: {why}", ["why": why]),
        advice: Text.of("copy or export it anew"))

    // Passing
    case .busy(let what):
      Self(
        .busy, [.text(what)], .status(.errSecNotAvailable, evaluated: .systemCancel), .tryAgain,
        Text.of("busy: {what}", ["what": what]),
        advice: Text.of("try again"))
    case .timedOut:
      Self(
        .timedOut, [], .authentication(.systemCancel), .tryAgain, Text.of("no finger or passcode came in time"),
        advice: Text.of("try again; --timeout, or timeout in config.json, gives more time"))
    case .inputOutput(let problem):
      Self(
        .inputOutput, [.text(problem)], .status(.errSecIO), .inputOutput, problem,
        advice: Explanation.advice(onFileError: 0))
    case .diskFull(let problem):
      Self(
        .diskFull, [.text(problem)], .status(.errSecDiskFull), .inputOutput,
        Text.of("the disk is full: {problem}", ["problem": problem]),
        advice: Explanation.advice(onFileError: ENOSPC))
    case .internalError(let problem):
      Self(.internalError, [.text(problem)], .status(.errSecInternalError), .internalError, .defect(problem))

    // The vault's process
    case .serviceUnavailable(let problem):
      Self(
        .serviceUnavailable, [.text(problem)], .status(.errSecServiceNotAvailable), .unavailable, problem,
        advice: Text.of("try again"), further: Explanation.doctor)
    case .serviceStopped(let how):
      Self(
        .serviceStopped, [.text(how)], .status(.errSecServiceNotAvailable), .unavailable,
        Text.of("the part of Whorl that keeps your secrets does not run, or cannot be reached from here"),
        advice:
          Text.of(
            "start it with 'sudo systemctl start whorld.socket'; 'systemctl status whorld.socket' says why it ended"),
        detail: how)
    case .versionMismatch(let problem):
      Self(
        .versionMismatch, [.text(problem)], .status(.errSecServiceNotAvailable), .unavailable,
        Text.of("whorl and its vault are of different versions, or what answers is no vault"),
        advice: Text.of("install both from one package, then restart the machine"), detail: problem)
    case .outcomeUnknown:
      Self(
        .outcomeUnknown, [], .status(.errSecServiceNotAvailable), .tryAgain,
        Text.of("the vault ended before it answered: the change was made or not"),
        advice: Text.of("look at what is there, then try again"))
    }
  }
}
