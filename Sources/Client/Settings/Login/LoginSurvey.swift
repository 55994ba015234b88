internal import Prompts
internal import SecretModel

/// What a login opens, and what is missing for it.
package struct LoginSurvey: Sendable {
  package let entries: [LoginRow]
  /// Whether the login password is the passcode; nil where the user has not chosen that.
  package let passcode: LoginPasscode?
  package let keyring: KeyringState
  package let kwallet: KWalletState?
  /// The programs by which people log in.
  package let stacks: [LoginStacks.Finding]
  private let named: NamedStore

  package init(_ context: some SettingsContext) async throws(Failure) {
    let entries = try await LoginRow.all(in: context.openStore())
    let (passcode, first) = try await context.request {
      (try await LoginEntries(in: $0).loginPasscode(), try await $0.status().firstUnlock)
    }
    var keyring = KeyringState(try context.keyringPlaces(), entries)
    if keyring.problem == nil, keyring.ownSecret, first == .passcode, passcode == nil {
      keyring.problem = "nothing opens it after a start of the computer: 'whorl login enable passcode' changes that"
    }
    (self.entries, self.passcode, self.keyring) = (entries, passcode, keyring)
    kwallet = KWalletState(try context.kwalletPlaces(), entries)
    stacks = LoginStacks().findings()
    named = context.named
  }

  /// What is opened, and whether the password, the keyring and the wallet are as they should be.
  package var findings: [Finding] {
    var found = entries.map { entry in
      Finding(
        subject: "opened", state: .note,
        words: [entry.spoken, entry.item].compactMap { $0 }.joined(separator: " from "),
        undo: named.command(entry.undo))
    }
    if entries.isEmpty {
      found.append(Finding(subject: "opened", state: .note, words: "nothing; 'whorl login --help' tells what can be"))
    }
    func add(_ subject: String, _ words: String, _ problem: String?) {
      found.append(Finding(subject: subject, state: problem == nil ? .good : .faulty, words: words, advice: problem))
    }
    if let passcode { add("passcode", passcode.words, passcode.problem?.sentence) }
    add("keyring", keyring.words, keyring.problem)
    if let kwallet { add("kwallet", kwallet.words, kwallet.problem) }
    return found
  }

  /// Whether each program by which people log in takes a finger, and tells Whorl.
  package var programs: [Finding] {
    stacks.map { stack in
      Finding(
        subject: stack.service, state: stack.advice == nil ? .good : .faulty,
        words: "\(stack.state.words), \(stack.takesFinger ? "takes a finger" : "takes no finger")", advice: stack.advice
      )
    }
  }
}

/// The state of the login keyring, as far as it is visible without its secret.
package struct KeyringState: Encodable {
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
package struct KWalletState: Encodable {
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

extension LoginPasscode {
  fileprivate var words: String {
    switch self {
    case .same: "your login password is the passcode"
    case .unproven, .different: "your login password should be the passcode"
    }
  }

  /// What is wrong, and what to do; nil if nothing is.
  package var problem: Failure? {
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
  package var sentence: String { [words, advice].compactMap { $0 }.joined(separator: ": ") }
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
