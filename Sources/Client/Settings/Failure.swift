internal import Glibc
package import Moving
package import Primitives
package import SecretModel
internal import Whorl

/// Something failed: what, and what to do, as a terminal and a window say it. The technical names are for `--verbose` and
/// `--json`.
package struct Failure: Error {
  package var status: ExitStatus
  /// What failed.
  package var what: String
  /// The `LAError` or `OSStatus` name.
  package var name: String?
  /// What to do; nil if there is no advice.
  package var advice: String?
  /// The same without the advice to run `whorl doctor`, for that command itself.
  var adviceOfDoctor: String?
  /// Technical details of the cause.
  package var detail: String?
  /// The vault's error; nil for other failures.
  package var cause: VaultError?
  /// Whether the vault ended during a call that changes nothing, so that the call can be repeated.
  package var vaultHasEnded = false
  /// Whether it was reported on standard output, so that no line is printed.
  package var isTold = false

  package init(_ status: ExitStatus, _ what: String, name: String? = nil, advice: String? = nil, isTold: Bool = false) {
    self.status = status
    self.what = what
    self.name = name
    (self.advice, adviceOfDoctor) = (advice, advice)
    self.isTold = isTold
  }

  package init(_ status: ExitStatus, _ explanation: Explanation, name: String? = nil) {
    self.init(status, explanation.what, name: name, advice: explanation.fullAdvice)
    (adviceOfDoctor, detail) = (explanation.advice, explanation.detail)
  }

  /// What failed, with technical details, for lists such as those of 'doctor' and 'status'.
  package var words: String { detail.map { "\(what) (\($0))" } ?? what }

  package static func usage(_ what: String, advice: String? = nil) -> Failure {
    Failure(.usage, what, name: "errSecParam", advice: advice)
  }

  /// The system has refused to read or write a file.
  ///
  /// - Parameters:
  ///   - what: what could not be done, with the path.
  ///   - code: its error number.
  package static func onFile(_ what: String, _ code: Int32) -> Failure {
    Failure(
      .inputOutput, "\(what): \(String(cString: strerror(code)))",
      name: [ENOSPC, EDQUOT].contains(code) ? "errSecDiskFull" : "errSecIO",
      advice: Explanation.advice(onFileError: code))
  }

  /// A prompt that nobody can answer.
  package static func interactionNotAllowed(_ what: String, advice: String) -> Failure {
    Failure(.refused, what, name: "errSecInteractionNotAllowed", advice: advice)
  }

  /// The person or a signal cancelled the command.
  package static let cancelled = Failure(.refused, Explanation.cancelled, name: "LAError.userCancel")

  /// A mistake of Whorl's own.
  package static func defect(_ error: any Error) -> Failure {
    Failure(.internalError, Explanation.defect("\(error)"), name: "errSecInternalError")
  }

  package static let noHome = Failure(
    .configuration, "the home directory is unknown", advice: "set HOME to its path")
}

extension Failure: RequestFailure {}

/// The program's exit statuses (from `sysexits.h` where it has one).
package enum ExitStatus: Int32, CaseIterable {
  case done = 0
  /// The failure is on standard output, in words that docker recognizes.
  case answered = 1
  case usage = 64
  case damaged = 65
  case notFound = 66
  case unavailable = 69
  case internalError = 70
  case exists = 73
  case inputOutput = 74
  case tryAgain = 75
  case refused = 77
  case configuration = 78
  /// The first status above those of `sysexits.h`.
  case incomplete = 79
  /// The same status as in shells.
  case cannotExecute = 126
  /// The same status as in shells.
  case commandNotFound = 127

  /// For `whorl help exit-statuses`.
  package var meaning: String {
    switch self {
    case .done: "done"
    case .answered: "docker-credential only: what failed is on standard output, for docker"
    case .usage: "wrong usage"
    case .damaged: "damaged or tampered data"
    case .notFound: "no such item, finger, reader or store"
    case .unavailable: "the reader or the service is unavailable"
    case .internalError: "internal error"
    case .exists: "exists already"
    case .inputOutput: "input or output failed"
    case .tryAgain: "busy or timed out: try again"
    case .refused: "refused: no match, cancelled, locked out, wrong passcode, fingers changed, or nobody could be asked"
    case .configuration: "bad configuration"
    case .incomplete: "import only: done, except for the listed entries"
    case .cannotExecute: "run only: the command cannot be executed"
    case .commandNotFound: "run only: the command was not found"
    }
  }
}

extension ExitStatus {
  /// The status for a kind of failure.
  package init(_ kind: FailureKind) {
    self =
      switch kind {
      case .usage: .usage
      case .damaged: .damaged
      case .notFound: .notFound
      case .unavailable: .unavailable
      case .internalError: .internalError
      case .exists: .exists
      case .inputOutput: .inputOutput
      case .tryAgain: .tryAgain
      case .refused: .refused
      case .configuration: .configuration
      }
  }
}

extension Failure {
  /// The failure for each error of the vault.
  package init(_ error: VaultError) {
    let described = error.described
    self.init(ExitStatus(described.kind), described.explanation, name: described.apple.name)
    cause = error
    vaultHasEnded =
      switch error {
      case .systemCancelled, .contextInvalidated: true
      default: false
      }
  }
}

extension VaultError {
  /// Whether the store's own key is lost, so that only the recovery key opens the store.
  package var isLostDeviceKey: Bool {
    switch self {
    case .deviceKeyMissing, .credential, .tpm(.absent, _), .tpm(.changed, _), .tpm(.registersChanged, _),
      .tpm(.refused, _):
      true
    default: false
    }
  }
}

extension Failure {
  /// The failure for each error of a reader.
  package init(_ error: ReaderError) {
    let described = error.described
    self.init(ExitStatus(described.kind), described.explanation, name: described.apple.name)
  }
}

extension Failure {
  /// The failure for each error of a wallet.
  package init(_ error: WalletError) {
    let (status, name): (ExitStatus, String?) =
      switch error {
      case .missing: (.notFound, "errSecNoSuchKeychain")
      case .damaged: (.damaged, "errSecInvalidKeychain")
      case .withoutPassword, .unsupported, .foreign, .refused: (.refused, nil)
      case .wrongSecret: (.refused, "errSecAuthFailed")
      case .unsendable: (.usage, "errSecParam")
      case .program, .notRunning: (.unavailable, nil)
      case .noAnswer, .busy: (.tryAgain, nil)
      case .unverified, .copyUnverified: (.damaged, nil)
      case .system: (.inputOutput, "errSecIO")
      }
    self.init(status, error.explanation, name: name)
  }
}

extension Failure {
  /// The failure for each error of reading another program's secrets.
  package init(_ error: ImportError) {
    let (status, name): (ExitStatus, String?) =
      switch error {
      case .missing: (.notFound, "errSecItemNotFound")
      case .malformed, .unreadable: (.damaged, "errSecDecode")
      case .unavailable: (.unavailable, nil)
      case .declined: (.refused, Failure.cancelled.name)
      case .ownService: (.refused, "errSecParam")
      case .system: (.inputOutput, "errSecIO")
      }
    self.init(status, error.explanation, name: name)
  }
}

extension UnusableEntry.Reason {
  /// What follows "it" in a sentence.
  package var words: String {
    switch self {
    case .source(let words), .field(_, let words): words
    case .refused(let error): "was refused by the store: \(Failure(error).what)"
    }
  }
}

extension Failure {
  /// The failure for an error of a sync.
  ///
  /// - Parameter remote: the remote's URL, if it is known.
  package init(_ error: SyncRunError, remote: String? = nil) {
    let remote = remote ?? "the remote"
    switch error {
    case .vault(let error): self.init(error)
    case .noGit(let why): self.init(.unavailable, why, advice: "install git, which 'whorl sync' uses")
    case .unusableRemote(let why):
      self = .usage(
        "the remote cannot be used: \(why)",
        advice: "name it as git does: ssh://HOST/PATH, HOST:PATH, https://HOST/PATH or a folder")
    case .noRemote:
      self.init(
        .notFound, "no remote is known for this store",
        advice:
          "'whorl sync init REMOTE' begins, 'whorl sync join REMOTE' joins your other computers, and 'whorl sync remote "
          + "REMOTE' names the repository where the store shares already")
    case .notInCircle(.removed):
      self.init(
        .refused, "another of your computers has removed this one, which receives no more changes",
        advice: "its items stay; 'whorl sync join' asks to be let in again")
    case .notInCircle(.asking):
      self.init(
        .refused, "this computer is waiting for approval",
        advice: "run 'whorl sync approve' on another of your computers")
    case .notInCircle(.outdated):
      self.init(
        .refused, "an earlier version of Whorl made what this store shares, and protected the copies less",
        name: "errSecWrongSecVersion",
        advice:
          "your items stay here; make a new repository with 'whorl sync init' on one computer, and join it from the "
          + "others with 'whorl sync join'")
    case .notInCircle:
      self.init(
        .notFound, "this store shares with no other computer",
        advice: "'whorl sync init REMOTE' begins, 'whorl sync join REMOTE' joins your other computers")
    case .unreachable(let reason):
      self.init(.unavailable, "\(remote) cannot be reached", advice: reason)
    case .unanswered(let reason):
      self.init(
        .unavailable, "\(remote) does not let this machine in without a passphrase or password (\(reason))",
        advice: "nobody can type one when 'whorl sync' runs by itself: give the remote a key without a passphrase "
          + "(IdentityFile in ~/.ssh/config) or a credential helper, or run 'whorl sync now' at a terminal")
    case .unusableFolder(let folder, let why):
      self.init(
        .refused, "\(folder) cannot be the remote: \(why)",
        advice: "git would run what it names; 'git init --bare FOLDER' makes a folder that is safe")
    case .empty:
      self.init(.notFound, "\(remote) is empty: no computer shares there yet", advice: "'whorl sync init' makes one")
    case .taken:
      self.init(
        .exists, "computers share in \(remote) already", name: "errSecDuplicateItem",
        advice: "'whorl sync join' asks to be let in; to begin anew, name an empty repository")
    case .foreign:
      self.init(
        .refused, "\(remote) has files that whorl has not written, and was not changed",
        advice: "name an empty repository")
    case .newerFormat:
      self.init(
        .damaged, "\(remote) was written by a newer version of Whorl", name: "errSecWrongSecVersion",
        advice: "install that version here, too")
    case .olderFormat:
      self.init(
        .refused, "an earlier version of Whorl wrote \(remote), and protected what is in it less",
        name: "errSecWrongSecVersion",
        advice: "make a new, empty repository and name that to 'whorl sync init'; delete the old one afterwards")
    case .tooMuch(let what):
      self.init(.damaged, "\(remote) was not changed: \(what)", advice: "check who else can write to it")
    case .refused(let reason):
      self.init(
        .refused, "\(remote) rejects changes from this machine: \(reason)",
        advice: "check its rules for the branch main")
    case .contested:
      self.init(
        .tryAgain, "other machines published changes at the same time, five times in a row", advice: "try again")
    case .busy:
      self.init(.tryAgain, "another run of 'whorl sync' is not finished", advice: "try again")
    case .damaged(let reason):
      self.init(.damaged, "git cannot use its copy of \(remote)", advice: reason)
    case .system(let what): self.init(.inputOutput, what, name: "errSecIO", advice: Explanation.advice(onFileError: 0))
    }
  }
}
