import Glibc
import SecretModel
import SecureMemory
internal import TerminalLines
import Wallets

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
    let isLoginPassword = try loginPasswordIsTaken(at: place)
    var passcode = try await newPasscode(isLoginPassword)
    if case .own = place { dialogue.add("The system asks for your login password once, to see that it is you.") }
    let connection = try await session.connect(to: place)
    var isInsisted = false
    while true {
      switch try await create(at: place, passcode, isInsisted, connection) {
      case .success(let draft):
        try RecoveryKeyHandover(dialogue: dialogue, output: output).hand(over: draft.recoveryKey)
        let key = SharedSecret(draft.recoveryKey.copy())
        let tier = try await session.explained { () async throws(VaultError) in
          try await connection.keep(draft.id)
          return try await connection.open(place).status().tier
        }
        return Choice(
          passcode: passcode, isLoginPassword: isLoginPassword, recoveryKey: key, isInKeyFile: tier == .keyFile)
      case .failure(.guessablePasscode):
        dialogue.tell(
          "That passcode is easy to find by trying, for whoever gets a copy of this disk. Four words or 12 digits are not."
        )
        if try dialogue.isChosen("Use it anyway?") {
          isInsisted = true
        } else {
          passcode = try await newPasscode(isLoginPassword)
        }
      case .failure(.invalidPasscode(let problem)):
        dialogue.tell("That passcode cannot be taken: \(problem).")
        passcode = try await newPasscode(isLoginPassword)
      case .failure(.notAuthorized):
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

  /// Asks twice, and again if the two differ, or if it should be the login password and is not.
  private func newPasscode(_ isLoginPassword: Bool) async throws(Failure) -> SharedSecret {
    if isLoginPassword { dialogue.add("Type your login password where it asks for the new passcode.") }
    while true {
      do throws(Unanswered) {
        let passcode = SharedSecret(try dialogue.terminal.readNewSecret("passcode"))
        // If it cannot be checked here, the next login does it.
        guard isLoginPassword, await LoginPassword.check(passcode.bytes) == .wrong else { return passcode }
        dialogue.add("That is not your login password. Nothing is lost: type it once more.")
      } catch .differed {
        dialogue.add("The two entries differ. Type the same word twice.")
      } catch .cancelled {
        throw .stopped
      } catch {
        throw Failure(error)
      }
    }
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

  private static var whoAsks: String {
    access("/usr/bin/pkttyagent", X_OK) == 0
      ? "It is the password that you log in with."
      : "Nothing asks for it at this terminal: run 'whorl setup' on the desktop, or install pkttyagent."
  }
}
