import CommandBase
import Glibc
import Primitives
internal import Prompts
import SecretModel
import Settings

/// Makes the store in `whorl setup`. It is kept only after the person has the recovery key.
struct StoreMaking {
  let session: Session
  let dialogue: SetupDialogue

  /// What the person has chosen.
  struct Choice {
    let passcode: SharedSecret
    let isLoginPassword: Bool
    let recoveryKey: SharedSecret
    /// Whether the store's keys are in a file instead of a TPM or under a credential.
    let isInKeyFile: Bool
  }

  func make() async throws(Failure) -> Choice {
    let place = try session.place()
    let output = try RecoveryKeyOutput(descriptor: nil, option: "--recovery-fd of 'whorl init'")
    dialogue.tell(
      "The passcode is a word or number that stands in for your finger: when the reader fails, and when fingers change."
    )
    var choice = PasscodeChoice(
      dialogue: dialogue, source: try loginPasswordIsTaken(at: place) ? .loginPassword : .another)
    var passcode = try await choice.first()
    let connection = try await session.connect(to: place)
    var isInsisted = false
    var denials = 0
    while true {
      // Again after a passcode that was not taken: the system has not asked then, and does so now.
      if case .own = place { dialogue.add("The system asks for your login password once, to see that it is you.") }
      switch try await create(at: place, passcode, isInsisted, connection) {
      case .success(let draft):
        try RecoveryKeyHandover(dialogue: dialogue, output: output).hand(over: draft.recoveryKey)
        let key = SharedSecret(draft.recoveryKey.copy())
        let tier = try await session.explained { () async throws(VaultError) in
          try await connection.keep(draft.id)
          return try await connection.open(place).status().tier
        }
        return Choice(
          passcode: passcode, isLoginPassword: choice.source == .loginPassword, recoveryKey: key,
          isInKeyFile: tier == .keyFile)
      case .failure(.guessablePasscode):
        dialogue.tell(
          "That passcode is easy to find by trying, for whoever gets a copy of this disk. Four words or 12 digits are not."
        )
        if try dialogue.isChosen("Use it anyway?") {
          isInsisted = true
        } else {
          passcode = try await choice.next()
        }
      case .failure(.invalidPasscode(let problem)):
        dialogue.tell("That passcode cannot be taken: \(problem).")
        passcode = try await choice.next()
      case .failure(.notAuthorized(let problem, let action)):
        denials += 1
        guard denials < Self.denialLimit else {
          var failure = session.explained(VaultError.notAuthorized(problem, action: action))
          failure.advice = SetupDialogue.goesOn
          throw failure
        }
        dialogue.tell("The system was not given your login password. \(Self.whoAsks)")
        guard try dialogue.isChosen("Try again, with the same passcode?", standard: true) else { throw .stopped }
      case .failure(.diskFull(let problem)):
        throw Failure(
          .inputOutput, "the disk is full: \(problem)", name: "errSecDiskFull",
          advice: "make room, then \(SetupDialogue.goesOn)")
      case .failure(let error): throw session.explained(error)
      }
    }
  }

  /// Offers the login password as the passcode if logins are reported to Whorl, which keeps them the same.
  private func loginPasswordIsTaken(at place: StorePlace) throws(Failure) -> Bool {
    guard case .own = place, LoginStacks().isAnyGood else { return false }
    dialogue.add(
      "It can be your login password: one password less to remember, and logging in opens the store as well.")
    return try dialogue.isChosen("Use your login password?", standard: true)
  }

  private func create(
    at place: StorePlace, _ passcode: SharedSecret, _ isInsisted: Bool, _ connection: any VaultConnection
  ) async throws(Failure) -> Result<StoreDraft, VaultError> {
    try await session.withPasswordAgent { () async throws(Failure) in
      do throws(VaultError) {
        return .success(try await connection.create(place, passcode: passcode.copy(), allowsGuessable: isInsisted))
      } catch {
        return .failure(error)
      }
    }
  }

  /// How often the system may refuse until setup ends.
  private static let denialLimit = 3

  private static var whoAsks: String {
    access("/usr/bin/pkttyagent", X_OK) == 0
      ? "It is the password that you log in with."
      : "Nothing asks for it at this terminal: run 'whorl setup' on the desktop, or install pkttyagent."
  }
}
