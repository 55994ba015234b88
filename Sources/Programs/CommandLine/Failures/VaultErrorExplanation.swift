import Fingerprint
import SecretModel
import Whorl

extension Failure {
  /// The failure for each error of the vault.
  init(_ error: VaultError) {
    switch error {
    case .invalidName(let problem):
      self.init(
        .usage, "not an item's name: \(problem)", name: "errSecParam", advice: "write SERVICE or SERVICE/ACCOUNT")
    case .secretTooLong(let limit):
      self.init(
        .usage, "the secret is longer than \(limit) bytes", name: "errSecDataTooLarge",
        advice: "keep the file encrypted elsewhere and its key here")
    case .fingerNotEnrolled(let finger):
      self.init(
        .notFound, "\(Spoken.finger(finger)) is not enrolled", name: "errSecItemNotFound",
        advice: "'whorl fingers' lists the enrolled ones")
    case .fingerDuplicate(let known):
      let which = known.map { " as the \($0.spokenName)" } ?? ""
      self.init(
        .exists, "that finger is enrolled already\(which)", name: "errSecDuplicateItem",
        advice: "touch another finger, or unenroll it first")
    case .notEnrolled:
      self.init(
        .notFound, "no finger is enrolled on this reader", name: "LAError.biometryNotEnrolled",
        advice: "'whorl enroll' enrols one")
    case .fingersNotAccepted(let nature):
      self.init(
        .refused, "the fingers of this \(nature.rawValue) reader have not been accepted with the passcode",
        name: "LAError.biometryNotEnrolled",
        advice: "if the configuration names it on purpose, 'whorl reader use fprintd' accepts them")
    case .invalidPasscode(let problem):
      self.init(.usage, "that cannot be taken: \(problem)", name: "errSecParam", advice: "choose another")
    case .guessablePasscode:
      self.init(
        .usage,
        "a day of guesses finds that passcode, for whoever has a copy of this store: 20 million a day, uncounted",
        name: "errSecParam",
        advice: "choose a longer one, such as four words or 12 digits, or insist with --allow-guessable")

    case .invalidAccessControl(let problem), .invalidRequest(let problem):
      self.init(.usage, problem, name: "errSecParam", advice: "'whorl --help' explains")
    case .duplicateItem:
      self.init(.exists, "such an item exists already", name: "errSecDuplicateItem", advice: "remove it first")
    case .itemGone:
      self.init(
        .notFound, "the item does not exist any more", name: "errSecItemNotFound",
        advice: "'whorl ls' lists what there is")

    case .authenticationFailed:
      self.init(
        .refused, "no finger matched three times", name: "LAError.authenticationFailed",
        advice: "try again with one that 'whorl fingers' lists")
    case .cancelled, .appCancelled, .userFallback:
      self = .cancelled
    // Commands invalidate no context that they still use: it has ended with its vault.
    case .systemCancelled, .contextInvalidated:
      self.init(
        .tryAgain, "the vault ended before it answered, and nothing was changed", name: "LAError.systemCancel",
        advice: "try again")
      vaultHasEnded = true
    case .biometryLockout:
      self.init(
        .refused, "fingers are locked out after five touches that matched nobody", name: "LAError.biometryLockout",
        advice: "'whorl unlock' clears it with the passcode, 'whorl recover' with the recovery key")
    case .wrongPasscode:
      self.init(
        .refused, "wrong passcode", name: "errSecAuthFailed",
        advice: "try again; 'whorl recover' sets a new one with the recovery key")
    case .wrongRecoveryKey:
      self.init(
        .refused, "this is not the recovery key of this store", name: "errSecAuthFailed",
        advice: "look for the one that was shown last, by 'whorl init' or 'whorl recover --new-key'")
    case .malformedRecoveryKey:
      self.init(.refused, "this is not a recovery key", name: "errSecAuthFailed", advice: "check it for typing errors")
    case .wrongApplicationPassword:
      self.init(.refused, "wrong application password", name: "errSecAuthFailed", advice: "try again")
    case .passcodeDelayed(let seconds):
      self.init(
        .refused, "too many wrong passcodes", name: "errSecAuthFailed", advice: "wait \(Spoken.duration(seconds))")
    case .applicationPasswordDelayed(let seconds):
      self.init(
        .refused, "too many wrong application passwords", name: "errSecAuthFailed",
        advice: "wait \(Spoken.duration(seconds))")
    case .passcodeNotSet:
      self.init(
        .refused, "no passcode is set", name: "LAError.passcodeNotSet",
        advice: "'whorl passcode' sets one with the recovery key")
    case .interactionNotAllowed:
      self.init(
        .refused, "this needs a person and none may be asked", name: "errSecInteractionNotAllowed",
        advice: "leave --no-prompt away, or run it where somebody can answer")
    case .itemInvalidated(let name):
      self.init(
        .refused, "\(name) is dead: the fingers or the passcode it was bound to have changed", name: "errSecAuthFailed",
        advice: "nothing brings it back; store it again with 'whorl set --replace'")
    case .differentReader(let name):
      self.init(
        .refused, "\(name) is bound to a different reader", name: "errSecAuthFailed",
        advice: "attach that reader, or name it with --reader")
    case .setChanged:
      self.init(
        .refused, "the enrolled fingers changed meanwhile", name: "LAError.authenticationFailed",
        advice: "try again")
    case .touchRefused:
      self.init(
        .refused, "the reader's answer was not to this request", name: "LAError.authenticationFailed",
        advice: "try again; if it stays so, run 'whorl doctor'")

    case .reader(let error):
      self.init(error)
    case .sessionRefused(let refusal):
      self.init(
        .refused, "no finger is asked for: \(refusal.words)", name: "errSecInteractionNotAllowed",
        advice: refusal.advice)
    case .notUnlocked(let accessibility):
      self.init(
        .refused, "items of '\(accessibility.rawValue)' are closed", name: "errSecInteractionNotAllowed",
        advice: "'whorl unlock' opens them with the passcode")
    case .notAuthorized(let action):
      self.init(
        .refused, "polkit did not authorize it (\(action))", name: "errSecAuthFailed",
        advice: "an administrator's rules decide who may")
    case .printsGone(let fingers):
      self.init(
        .unavailable,
        "the reader does not hold the print of \(Spoken.fingers(fingers)) any more; what is bound to the enrolled fingers "
          + "stays closed, and nothing is lost", name: "LAError.biometryNotAvailable",
        advice: fingers.count == 1
          ? "'whorl unenroll \(fingers[0].rawValue)' accepts that, with the passcode"
          : "'whorl unenroll FINGER' accepts that for each of them, with the passcode")

    case .configuration(let problem):
      self.init(.configuration, problem, advice: "correct it")
    case .storeNotFound(let directory):
      self.init(
        .notFound, "no store in \(directory)", name: "errSecNoSuchKeychain", advice: "'whorl init' makes one")
    case .storeExists(let directory):
      self.init(
        .exists, "there is a store in \(directory) already, or something else", name: "errSecDuplicateKeychain",
        advice: "name another directory with --store")
    case .unsafeDirectory(let problem):
      self.init(.configuration, "the store's directory cannot be trusted: \(problem)", name: "errSecInvalidKeychain")
    case .deviceKeyMissing:
      self.init(
        .damaged, "the store's key file is missing or another store's", name: "errSecInvalidKeychain",
        advice: "'whorl recover' makes a new one from the recovery key")
    case .tpm(let problem, let detail):
      self.init(tpm: problem, detail: detail)
    case .credential(let problem, let detail):
      self.init(credential: problem, detail: detail)
    case .itemDamaged(let name):
      self.init(
        .damaged, "\(name.map { "\($0)" } ?? "an item") was damaged or tampered with; its secret is not released",
        name: "errSecDecode",
        advice: "put it back from a backup, or remove it with 'whorl rm'; the others are untouched")
    case .storeDamaged(let problem):
      self.init(
        .damaged, "the store is damaged: \(problem)", name: "errSecInvalidKeychain",
        advice: "put it back from a backup")
    case .restoreDetected:
      self.init(
        .damaged, "an earlier copy of the store, or of a part of it, was put back", name: "errSecInvalidKeychain",
        advice: "'whorl unlock' lists what came back and, if that was you, accepts it")
    case .recoveryKeyRequired:
      self.init(
        .damaged,
        "an earlier copy of the store, or of a part of it, was put back, and nothing vouches for its passcode",
        name: "errSecInvalidKeychain",
        advice: "'whorl recover' lists what came back and, if that was you, accepts it with the recovery key")
    case .newerFormat(let version):
      self.init(
        .damaged, "the store is of a newer format (\(version))", name: "errSecInvalidKeychain", advice: "update whorl")
    case .olderFormat(let version):
      self.init(
        .damaged, "the store is of an older format (\(version)), made before the first release",
        name: "errSecInvalidKeychain",
        advice: "read its items with the whorl that made it, and store them in a new one ('whorl init')")

    case .storeFull(let limit):
      self.init(
        .inputOutput, "the store is full: the service keeps at most \(limit >> 20) MiB of each user",
        name: "errSecDiskFull", advice: "remove what is not needed, or keep large files encrypted elsewhere")

    case .wrongPassphrase:
      self.init(
        .refused, "the passphrase does not open the file", name: "errSecAuthFailed",
        advice: "give the one that it was encrypted with")
    case .fileUnreadable(let why):
      self.init(
        .damaged, "the file cannot be opened: \(why)", name: "errSecDecode",
        advice: "copy or export it anew")

    case .busy(let what):
      self.init(.tryAgain, "busy: \(what)", name: "errSecNotAvailable", advice: "try again")
    case .timedOut:
      self.init(
        .tryAgain, "no finger came in time", name: "LAError.systemCancel",
        advice: "try again; --timeout, or timeout in config.json, gives more time")
    case .inputOutput(let problem):
      self.init(.inputOutput, problem, name: "errSecIO", advice: "check permissions, and the disk's space and state")
    case .internalError(let problem):
      self.init(.internalError, "internal error: \(problem)", name: "errSecInternalError", advice: "report it")
    case .serviceUnavailable(let problem):
      self.init(
        .unavailable, problem, name: "errSecServiceNotAvailable", advice: "'whorl doctor' looks at the installation")
    case .versionMismatch(let problem):
      self.init(
        .unavailable, problem, name: "errSecServiceNotAvailable", advice: "install whorl and whorld of one version")
    case .outcomeUnknown:
      self.init(
        .tryAgain, "the vault ended before it answered: the change was made or not", name: "errSecServiceNotAvailable",
        advice: "look at what is there, then try again")
    }
  }
}
