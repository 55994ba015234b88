import ArgumentParser
internal import PromptTexts
import SecretModel
import Wallets

struct LoginStatus: Command {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show what a login opens, and what is missing for it.",
    discussion: """
      What is opened, whether your login password opens the store, how the login keyring stands, and whether Whorl's \
      PAM module is in the right place of each program by which people log in. It changes nothing, and sends no secret anywhere.

      Examples:
        whorl login status
        whorl login status --json
      """)

  static var spoken: String { "login status" }

  @OptionGroup var options: GlobalOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let store = try await session.store()
    let rows = try await LoginRow.all(in: store)
    let (passcode, first) = try await session.explained { () async throws(VaultError) in
      (try await LoginEntries(in: store).loginPasscode(), try await store.status().firstUnlock)
    }
    var keyring = KeyringReport(try session.keyringPlaces(), rows)
    if keyring.problem == nil, keyring.ownSecret, first == .passcode, passcode == nil {
      keyring.problem = "nothing opens it after a start of the computer: 'whorl login enable passcode' changes that"
    }
    let kwallet = KWalletReport(try session.kwalletPlaces(), rows)
    let stacks = LoginStacks().findings()
    if options.json {
      return try JSON.print(
        Report(
          entries: rows, passcode: passcode.map(PasscodeReport.init), keyring: keyring, kwallet: kwallet,
          logins: stacks.map(StackReport.init)))
    }
    var lines = rows.map { ("opened", [$0.spoken, $0.item].compactMap { $0 }.joined(separator: " from ")) }
    if rows.isEmpty { lines.append(("opened", "nothing; 'whorl login --help' tells what can be")) }
    if let passcode {
      lines.append(("passcode", passcode.words))
      if let problem = passcode.problem { lines.append(("problem", problem.sentence)) }
    }
    lines.append(("keyring", keyring.words))
    if let problem = keyring.problem { lines.append(("problem", problem)) }
    if let kwallet {
      lines.append(("kwallet", kwallet.words))
      if let problem = kwallet.problem { lines.append(("problem", problem)) }
    }
    for stack in stacks {
      let finger = stack.takesFinger ? "takes a finger" : "takes no finger"
      let words = ["\(stack.state.words), \(finger)", stack.advice].compactMap { $0 }.joined(separator: ": ")
      lines.append((stack.service, words))
    }
    if stacks.isEmpty { lines.append(("logins", "none of the known programs has a file in /etc/pam.d")) }
    let width = lines.map(\.0.count).max() ?? 0
    let text = lines.map { name, value in
      "\(name)\(String(repeating: " ", count: width - name.count + 2))\(Visible.text(value))\n"
    }
    try StandardOutput.write(text.joined())
  }

  private struct Report: Encodable {
    var entries: [LoginRow]
    var passcode: PasscodeReport?
    var keyring: KeyringReport
    var kwallet: KWalletReport?
    var logins: [StackReport]
  }
}

/// Whether the login password is the passcode.
private struct PasscodeReport: Encodable {
  var isLoginPassword: Bool?
  /// When a difference was found, in seconds since 1970.
  var differsSince: Int64?
  var problem: String?

  init(_ state: LoginPasscode) {
    switch state {
    case .same: isLoginPassword = true
    case .unproven: break
    case .different(let since): (isLoginPassword, differsSince) = (false, since)
    }
    problem = state.problem?.sentence
  }
}

extension LoginPasscode {
  fileprivate var words: String {
    switch self {
    case .same: "your login password is the passcode"
    case .unproven, .different: "your login password should be the passcode"
    }
  }

  /// What is wrong, and what to do; nil if nothing is.
  var problem: Failure? {
    switch self {
    case .same: nil
    case .unproven:
      Failure(
        .refused, "your password has not opened your secrets at a login yet",
        advice: "log in with it once, or 'whorl login enable passcode' compares the two")
    case .different(let since):
      Failure(
        .refused,
        "your login password and the passcode are two different passwords (seen \(Spoken.time(since))), so that a login "
          + "leaves your secrets closed",
        advice: "'whorl login enable passcode' makes them one again")
    }
  }
}

extension Failure {
  /// What failed and what to do, in one line.
  fileprivate var sentence: String { [words, advice].compactMap { $0 }.joined(separator: ": ") }
}

/// The state of the login keyring, as far as it is visible without its secret.
private struct KeyringReport: Encodable {
  var file: String
  var ownSecret: Bool
  var fileOfBefore: Bool
  var sealedCopy: String?
  var running: Bool
  var problem: String?

  init(_ places: KeyringPlaces, _ rows: [LoginRow]) {
    file = places.file
    ownSecret = rows.contains { $0.kind == LoginItem.Kind.gnomeKeyring.rawValue }
    sealedCopy = places.sealedCopy?.keys.rawValue
    let look = KeyringLook(places)
    fileOfBefore = look.hasFileOfBefore
    running = look.isListening
    problem = look.problem.map { Failure($0).what }
    if problem == nil, ownSecret != (sealedCopy != nil) {
      problem = "the store and the sealed copy disagree: 'whorl login repair' sets that right"
    }
  }

  var words: String {
    var words = [ownSecret ? "has a secret of its own" : "has a password, which Whorl does not know"]
    if ownSecret { words.append(running ? "its daemon listens" : "its daemon does not listen") }
    if let sealedCopy, ownSecret {
      words.append("a copy for the day when the store is lost is next to it (\(sealedCopy) opens it)")
    }
    if fileOfBefore { words.append("the file from before is kept until a login has opened it") }
    return words.joined(separator: ", ")
  }
}

/// The state of the wallet of KWallet; nil if there is none and the user has not chosen it.
private struct KWalletReport: Encodable {
  var file: String
  var keyKept: Bool
  var problem: String?

  init?(_ places: KWalletPlaces, _ rows: [LoginRow]) {
    file = places.file
    keyKept = rows.contains { $0.kind == LoginItem.Kind.kwallet.rawValue }
    do throws(WalletError) {
      try KWalletFile.requireSealed(places)
    } catch {
      if case .missing = error, !keyKept { return nil }
      problem = Failure(error).what
    }
  }

  var words: String { keyKept ? "opened with the key that the store has" : "has a password, which Whorl does not know" }
}

private struct StackReport: Encodable {
  var service: String
  var state: String
  var takesFinger: Bool
  var advice: String?

  init(_ finding: LoginStacks.Finding) {
    service = finding.service
    state = finding.state.rawValue
    takesFinger = finding.takesFinger
    advice = finding.advice
  }
}

extension LoginStacks.Finding.State {
  fileprivate var words: String {
    switch self {
    case .good: "tells Whorl"
    case .absent: "does not tell Whorl"
    case .misplaced: "has Whorl's line in the wrong place"
    case .notInstalled: "names a module that is not installed"
    }
  }
}
