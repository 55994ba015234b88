import ArgumentParser
import SecureMemory
import Vault
import Whorl

struct Unlock: Command {
  static let configuration = CommandConfiguration(
    commandName: "unlock",
    abstract: "Clear a lockout, or accept a restore, with the passcode.",
    discussion: """
      Five touches in a row that match nobody lock fingers out until the passcode is given (or, with 'whorl recover', \
      the recovery key). Where files of the store were put back from an earlier copy, it lists the fingers and items \
      that come back with them, asks, and accepts them with the passcode.

      Examples:
        whorl unlock
        whorl unlock --accept-restore --passcode-fd 3 3<passcode
      """)

  @OptionGroup var options: GlobalOptions
  @OptionGroup var restore: RestoreOptions

  @Option(
    help: ArgumentHelp("Read the recovery key from this descriptor (a store without a passcode).", valueName: "n"),
    transform: GivenDescriptors.number)
  var recoveryFd: Int32?

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let answers = session.answers(recoveryKey: recoveryFd)
    let vault = try session.vault()
    guard let accepted = try await restore.confirm(vault, session, answers) else {
      try await session.converse(with: vault, answers) { vault, context in
        try await vault.unlock(in: context)
      }
      return try report(nil, "Unlocked: fingers are taken again.")
    }
    guard accepted.acceptance != .recoveryKeyAndNewPasscode else { throw Failure(.recoveryKeyRequired) }
    let lost = try await session.converse(with: vault, answers) { vault, context in
      try await vault.acceptRestore(accepted.id, in: context)
    }
    try report(lost, "Accepted: \(RestoreOptions.outcome(accepted)).")
  }

  private func report(_ lost: [ItemName]?, _ words: String) throws(Failure) {
    if options.json {
      return try JSON.print(Report(restoreAccepted: lost != nil, lost: (lost ?? []).map(\.description)))
    }
    StandardError.line(words)
    for name in lost ?? [] { StandardError.line("Lost: \(Visible.text(name.description))") }
  }

  private struct Report: Encodable {
    var unlocked = true
    var restoreAccepted: Bool
    var lost: [String]
  }
}

struct Recover: Command {
  static let configuration = CommandConfiguration(
    commandName: "recover",
    abstract: "Come back in with the recovery key.",
    discussion: """
      Takes the recovery key shown when the store was made, sets a new passcode, and clears a lockout. It also makes a \
      new key file where the store's own is gone, and accepts files put back from an earlier copy, after it has listed \
      what comes back with them.

      Examples:
        whorl recover
        whorl recover --recovery-fd 4 --passcode-fd 3 4<recovery 3<newpasscode
      """)

  @OptionGroup var options: GlobalOptions
  @OptionGroup var restore: RestoreOptions

  @Option(
    help: ArgumentHelp("Read the recovery key from this descriptor.", valueName: "n"),
    transform: GivenDescriptors.number)
  var recoveryFd: Int32?

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let answers = session.answers(recoveryKey: recoveryFd)
    let opened = try session.vaultOrRebuilt(answers)
    let accepted = try await restore.confirm(opened.vault, session, opened.answers)
    let lost = try await session.converse(with: opened.vault, opened.answers) { vault, context in
      try await vault.recover(accepting: accepted?.id, in: context)
    }
    if options.json {
      return try JSON.print(Report(restoreAccepted: accepted != nil, lost: lost.map(\.description)))
    }
    if let accepted { StandardError.line("Accepted: \(RestoreOptions.outcome(accepted)).") }
    StandardError.line("The new passcode is set, and fingers are taken again.")
    for name in lost { StandardError.line("Lost: \(Visible.text(name.description))") }
  }

  private struct Report: Encodable {
    var passcodeSet = true
    var restoreAccepted: Bool
    var lost: [String]
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
