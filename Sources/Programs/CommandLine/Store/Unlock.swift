import ArgumentParser
import CommandBase
import Primitives
internal import Prompts
import SecretModel
import Settings
import Whorl

struct Unlock: Command {
  static let configuration = CommandConfiguration(
    commandName: "unlock",
    abstract: "Open what is closed, clear a lockout, or accept a restore, with the passcode.",
    discussion: """
      A store that asks for its passcode after each start opens its items with it. \
      Five touches in a row that match nobody lock fingers out until the passcode is given (or, with 'whorl recover', \
      the recovery key). Where files of the store were put back from an earlier copy, it lists the fingers and items \
      that come back with them, asks, and accepts them with the passcode.

      Examples:
        whorl unlock
        whorl unlock --accept-restore --passcode-fd 3 3<passcode
      """)

  @OptionGroup var options: GlobalOptions
  @OptionGroup var restore: RestoreOptions

  @OptionGroup var recovery: RecoveryKeyOption

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let answers = session.answers(recoveryKey: recovery.recoveryFd)
    guard let accepted = try await restore.confirm(session, answers) else {
      try await session.asking(answers) { try await $0.unlock($1) }
      return try report(nil, "Unlocked: fingers are accepted again.")
    }
    guard accepted.acceptance != .recoveryKeyAndNewPasscode else { throw Failure(.recoveryKeyRequired) }
    let lost = try await session.asking(answers) { try await $0.acceptRestore(accepted.id, $1) }
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
    abstract: "Open the store with the recovery key.",
    discussion: """
      Takes the recovery key shown when the store was made, sets a new passcode, and clears a lockout. It also makes a \
      new key file where the store's own is gone, and accepts files put back from an earlier copy, after it has listed \
      what comes back with them.

      --new-key replaces the recovery key, when it is lost or somebody may have seen it: it shows a new one, which is valid \
      once the passcode has accepted it (where none is set, the old recovery key). The old one then opens the store no \
      more. It still opens every copy and backup from before.

      Examples:
        whorl recover
        whorl recover --recovery-fd 4 --passcode-fd 3 4<recovery 3<newpasscode
        whorl recover --new-key
        whorl recover --new-key --passcode-fd 3 3<passcode
      """)

  @OptionGroup var options: GlobalOptions
  @OptionGroup var restore: RestoreOptions

  @Option(
    help: ArgumentHelp("Read the recovery key from this descriptor.", valueName: "n"),
    transform: GivenDescriptors.number)
  var recoveryFd: Int32?

  @OptionGroup var guessable: GuessablePasscodeOption

  @Flag(help: "Replace the recovery key, with the passcode.")
  var newKey = false

  @Option(
    help: ArgumentHelp("Write the new recovery key to this descriptor instead of showing it.", valueName: "n"),
    transform: GivenDescriptors.number)
  var newRecoveryFd: Int32?

  func validate() throws {
    if newRecoveryFd != nil, !newKey { throw ValidationError("--new-recovery-fd goes with --new-key.") }
    if newKey, guessable.allowGuessable {
      throw ValidationError("--new-key and --allow-guessable do not go together.")
    }
    if newKey, restore.acceptRestore { throw ValidationError("--new-key and --accept-restore do not go together.") }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let answers = session.answers(recoveryKey: recoveryFd)
    if newKey { return try await replaceKey(session, answers) }
    let settled = try await session.openOrRebuild(answers)
    let accepted = try await restore.confirm(session, settled)
    let lost = try await session.asking(settled, options: session.contextOptions(guessable)) {
      try await $0.recover(accepting: accepted?.id, $1)
    }
    if options.json {
      return try JSON.print(Report(restoreAccepted: accepted != nil, lost: lost.map(\.description)))
    }
    if let accepted { StandardError.line("Accepted: \(RestoreOptions.outcome(accepted)).") }
    StandardError.line("The new passcode is set, and fingers are taken again.")
    try await LoginPasscodeChange(CommandDialogue(session, of: Self.spoken)).passcodeHasChanged()
    for name in lost { StandardError.line("Lost: \(Visible.text(name.description))") }
  }

  private func replaceKey(_ session: Session, _ answers: Answers) async throws(Failure) {
    let output = try RecoveryKeyOutput(descriptor: newRecoveryFd, option: "--new-recovery-fd")
    try await session.request {
      try output.show(
        try await $0.draftRecoveryKey(),
        "The new recovery key, shown this once. Write it down. The old one stays valid until the new one is accepted.",
        otherwise: "the old one stays valid")
    }
    try await session.withPasswordAgent { () async throws(Failure) in
      try await session.asking(answers) { try await $0.keepRecoveryKey($1) }
    }
    if options.json { return try JSON.print(["recoveryKeyReplaced": true]) }
    StandardError.line("The new recovery key is valid, and the old one is not any more.")
  }

  private struct Report: Encodable {
    var passcodeSet = true
    var restoreAccepted: Bool
    var lost: [String]
  }
}

extension Session {
  /// Opens the store. If its key file is missing, or its TPM or credential no longer opens it, first asks for the
  /// recovery key and makes a new key; the same recovery key then answers the vault's question.
  fileprivate func openOrRebuild(_ answers: Answers) async throws(Failure) -> Answers {
    do throws(Failure) {
      _ = try await openStore()
      return answers
    } catch  where error.cause?.isLostDeviceKey == true {
      StandardError.line("\(error.what): the recovery key makes a new key for it.")
      let place = try place()
      let connection = try await connect(to: place)
      let key = try await answers.withRetypedRecoveryKey { () async throws(Failure) in
        let key = SharedSecret(try answers.answer(.recoveryKey))
        try await withPasswordAgent { () async throws(Failure) in
          try await explained { () async throws(VaultError) in
            try await connection.rebuildDeviceKey(at: place, recoveryKey: key.copy())
          }
        }
        return key
      }
      var answers = answers
      answers.given = key
      _ = try await openStore()
      return answers
    }
  }
}

struct Lock: Command {
  static let configuration = CommandConfiguration(
    commandName: "lock",
    abstract: "Close what the passcode has opened.",
    discussion: """
      A store that asks for its passcode after each start keeps its items closed until then, and closes them again \
      48 hours after the last finger or passcode, 156 hours after the last passcode, or with this command. 'whorl unlock' \
      opens them. Any other store has nothing to close.

      Examples:
        whorl lock
      """)

  @OptionGroup var options: GlobalOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    try await session.request { try await $0.lock() }
    if options.json { return try JSON.print(Report()) }
    StandardError.line("Locked: the passcode opens it again ('whorl unlock').")
  }

  private struct Report: Encodable {
    var locked = true
  }
}
