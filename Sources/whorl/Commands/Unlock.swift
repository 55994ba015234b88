import ArgumentParser
import SecureMemory
import Vault
import Whorl

struct Unlock: Command {
  static let configuration = CommandConfiguration(
    commandName: "unlock",
    abstract: "Clear a lockout with the passcode.",
    discussion: """
      Five touches in a row that match nobody lock fingers out until the passcode is given (or, with 'whorl recover', \
      the recovery key). It also accepts a store whose files were put back from an earlier copy.

      Example:
        whorl unlock
      """)

  @OptionGroup var options: GlobalOptions

  @Option(
    help: ArgumentHelp("Read the recovery key from this descriptor (a store without a passcode).", valueName: "n"),
    transform: GivenDescriptors.number)
  var recoveryFd: Int32?

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let answers = session.answers(recoveryKey: recoveryFd)
    try await session.converse(with: try session.vault(), answers) { vault, context in
      try await vault.unlock(in: context)
    }
    if options.json {
      try JSON.print(["unlocked": true])
    } else {
      StandardError.line("Unlocked: fingers are taken again.")
    }
  }
}

struct Recover: Command {
  static let configuration = CommandConfiguration(
    commandName: "recover",
    abstract: "Come back in with the recovery key.",
    discussion: """
      Takes the recovery key shown when the store was made, sets a new passcode, and clears a lockout. It also makes a \
      new key file where the store's own is gone.

      Examples:
        whorl recover
        whorl recover --recovery-fd 4 --passcode-fd 3 4<recovery 3<newpasscode
      """)

  @OptionGroup var options: GlobalOptions

  @Option(
    help: ArgumentHelp("Read the recovery key from this descriptor.", valueName: "n"),
    transform: GivenDescriptors.number)
  var recoveryFd: Int32?

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let answers = session.answers(recoveryKey: recoveryFd)
    let vault = try session.vaultOrRebuilt(answers)
    try await session.converse(with: vault.vault, vault.answers) { vault, context in
      try await vault.recover(in: context)
    }
    if options.json {
      try JSON.print(["passcodeSet": true])
    } else {
      StandardError.line("The new passcode is set, and fingers are taken again.")
    }
  }
}

extension Session {
  /// Opens the store; where its key file is gone, makes a new one with the recovery key asked for first. The same key
  /// then answers the vault's own question.
  fileprivate func vaultOrRebuilt(_ answers: Answers) throws(Failure) -> (vault: Vault, answers: Answers) {
    let directory = try directory()
    do {
      return (try openVault(directory), answers)
    } catch .deviceKeyMissing {
      StandardError.line("The store's key file is gone; a new one is made.")
      let secret = SecretHolder(try answers.answer(.recoveryKey))
      do {
        try Vault.rebuildDeviceKey(at: directory, recoveryKey: secret.copy())
      } catch {
        throw explained(error)
      }
      var answers = answers
      answers.given = secret
      return (try vault(), answers)
    } catch {
      throw explained(error)
    }
  }
}
