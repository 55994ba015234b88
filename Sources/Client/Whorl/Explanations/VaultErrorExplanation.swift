package import SecretModel

extension VaultError {
  /// What the error means to a person.
  package var explanation: Explanation {
    switch self {
    case .invalidName(let problem):
      Explanation(
        "that cannot be the name of a secret: \(problem)",
        advice: "write SERVICE or SERVICE/ACCOUNT, such as mail/alice")
    case .secretTooLong(let limit):
      Explanation(
        "the secret is longer than \(limit) bytes", advice: "keep the file encrypted elsewhere and its key here")
    case .fingerNotEnrolled(let finger):
      Explanation("\(Spoken.finger(finger)) is not enrolled", advice: "'whorl fingers' lists the enrolled ones")
    case .fingerDuplicate(let known):
      Explanation(
        "that finger is enrolled already\(known.map { " as the \($0.spokenName)" } ?? "")",
        advice: "touch another finger, or unenroll it first")
    case .notEnrolled:
      Explanation(
        "no finger is enrolled on this reader",
        advice: "enrol one in the desktop's settings (Users, Fingerprint), or with 'whorl enroll'")
    case .fingersNotAccepted(let nature):
      Explanation(
        "the fingers of this \(nature.rawValue) reader have not been accepted with the passcode",
        advice: "if the configuration names it on purpose, 'whorl reader use fprintd' accepts them")
    case .invalidPasscode(let problem):
      Explanation("that cannot be taken: \(problem)", advice: "choose another")
    case .guessablePasscode:
      Explanation(
        "a day of guesses finds that passcode, for whoever has a copy of this store: 20 million a day, uncounted",
        advice: "choose a longer one, such as four words or 12 digits, or insist with --allow-guessable")
    case .invalidAccessControl(let problem), .invalidRequest(let problem):
      Explanation(problem, advice: "'whorl --help' explains")
    case .duplicateItem: Explanation("such an item exists already", advice: "remove it first")
    case .itemGone: Explanation("the item does not exist any more", advice: "'whorl ls' lists what there is")

    case .authenticationFailed:
      Explanation(
        "three touches did not match an enrolled finger",
        advice:
          "try again with one that 'whorl fingers' lists, clean and dry; where the passcode is taken in its place, "
          + "press Enter at the prompt")
    case .cancelled, .appCancelled, .userFallback: .cancelled
    // Commands invalidate no context that they still use: it has ended with its vault.
    case .systemCancelled, .contextInvalidated:
      Explanation("the vault ended before it answered, and nothing was changed", advice: "try again")
    case .biometryLockout:
      Explanation(
        "fingers are locked out after five touches that matched nobody",
        advice: "'whorl unlock' clears it with the passcode, 'whorl recover' with the recovery key")
    case .wrongPasscode:
      Explanation("wrong passcode", advice: "try again; 'whorl recover' sets a new one with the recovery key")
    case .wrongRecoveryKey:
      Explanation(
        "this is not the recovery key of this store",
        advice: "look for the one that was shown last, by 'whorl setup', 'whorl init' or 'whorl recover --new-key'")
    case .malformedRecoveryKey: Explanation("this is not a recovery key", advice: "check it for typing errors")
    case .wrongApplicationPassword: Explanation("wrong application password", advice: "try again")
    case .passcodeDelayed(let seconds):
      Explanation("too many wrong passcodes", advice: "wait \(Spoken.duration(seconds))")
    case .applicationPasswordDelayed(let seconds):
      Explanation("too many wrong application passwords", advice: "wait \(Spoken.duration(seconds))")
    case .passcodeNotSet:
      Explanation("no passcode is set", advice: "'whorl passcode' sets one with the recovery key")
    case .interactionNotAllowed:
      Explanation(
        "this needs a person and none may be asked",
        advice: "leave --no-prompt away, or run it where somebody can answer")
    case .itemInvalidated(let name):
      Explanation(
        "\(name) is dead: the fingers or the passcode it was bound to have changed",
        advice: "nothing brings it back; store it again with 'whorl set --replace'")
    case .differentReader(let name):
      Explanation(
        "\(name) is bound to a different reader", advice: "attach that reader, or name it with --reader")
    case .setChanged: Explanation("the enrolled fingers changed meanwhile", advice: "try again")
    case .touchRefused:
      Explanation(
        "the reader's answer was not to this request", advice: "try again; if it stays so, run 'whorl doctor'")

    case .reader(let error): error.explanation
    case .sessionRefused(let refusal): refusal.explanation
    case .notUnlocked(let accessibility):
      Explanation(
        "your \(accessibility.plainName) are closed",
        advice: (accessibility == .afterFirstUnlock ? "" : "unlock your session if its screen is locked; otherwise ")
          + "'whorl unlock' opens them with the passcode", detail: accessibility.rawValue)
    case .notAuthorized(let problem, let action): problem.explanation(of: action)
    case .printsGone(let fingers):
      Explanation(
        "the reader does not hold the print of \(Spoken.fingers(fingers)) any more; what is bound to the enrolled fingers "
          + "stays closed, and nothing is lost",
        advice: fingers.count == 1
          ? "'whorl unenroll \(fingers[0].rawValue)' accepts that, with the passcode"
          : "'whorl unenroll FINGER' accepts that for each of them, with the passcode")

    case .configuration(let problem): Explanation(problem, advice: "correct it")
    case .storeNotFound(let directory):
      Explanation("no store in \(directory)", advice: "'whorl setup' begins one, and 'whorl init' makes it alone")
    case .storeExists(let directory):
      Explanation(
        "there is a store in \(directory) already, or something else",
        advice: "name another directory with --store")
    case .unsafeDirectory(let problem):
      Explanation("the store's directory cannot be trusted: \(problem)", advice: "correct that, then try again")
    case .deviceKeyMissing:
      Explanation(
        "the store's key file is missing or another store's",
        advice: "'whorl recover' makes a new one from the recovery key")
    case .tpm(let problem, let detail): problem.explanation(detail)
    case .credential(let problem, let detail): problem.explanation(detail)
    case .itemDamaged(let name):
      Explanation(
        "\(name.map { "\($0)" } ?? "an item") was damaged or tampered with; its secret is not released",
        advice: "put it back from a backup, or remove it with 'whorl rm'; the others are untouched")
    case .storeDamaged(let problem):
      Explanation("the store is damaged: \(problem)", advice: "put it back from a backup")
    case .restoreDetected:
      Explanation(
        "an earlier copy of the store, or of a part of it, was put back",
        advice: "'whorl unlock' lists what came back and, if that was you, accepts it")
    case .recoveryKeyRequired:
      Explanation(
        "an earlier copy of the store, or of a part of it, was put back, and nothing vouches for its passcode",
        advice: "'whorl recover' lists what came back and, if that was you, accepts it with the recovery key")
    case .newerFormat(let version):
      Explanation("the store is of a newer format (\(version))", advice: "update whorl")
    case .olderFormat(let version):
      Explanation(
        "the store is of an older format (\(version)), made before the first release",
        advice: "read its items with the whorl that made it, and store them in a new one ('whorl init')")
    case .storeFull(let limit):
      Explanation(
        "the store is full: the service keeps at most \(limit >> 20) MiB of each user",
        advice: "remove what is not needed, or keep large files encrypted elsewhere")

    case .wrongPassphrase:
      Explanation("the passphrase does not open the file", advice: "give the one that it was encrypted with")
    case .fileUnreadable(let why): Explanation("the file cannot be opened: \(why)", advice: "copy or export it anew")

    case .busy(let what): Explanation("busy: \(what)", advice: "try again")
    case .timedOut:
      Explanation(
        "no finger came in time", advice: "try again; --timeout, or timeout in config.json, gives more time")
    case .inputOutput(let problem):
      Explanation(problem, advice: "check permissions, and the disk's space and state")
    case .internalError(let problem): .defect(problem)
    case .serviceUnavailable(let problem): Explanation(problem, advice: "'whorl doctor' looks at the installation")
    case .versionMismatch(let problem):
      Explanation(
        "whorl and its vault are of different versions, or what answers is no vault",
        advice: "install both from one package, then restart the machine", detail: problem)
    case .outcomeUnknown:
      Explanation(
        "the vault ended before it answered: the change was made or not",
        advice: "look at what is there, then try again")
    }
  }
}

extension Explanation {
  /// The person or a signal cancelled it.
  package static let cancelled = Explanation("cancelled", advice: "run it again")

  /// A mistake of Whorl's own.
  package static func defect(_ problem: String) -> Explanation {
    Explanation(
      "Whorl itself has failed (internal error)", advice: "run it again with --verbose, and report what that says",
      detail: problem)
  }
}
