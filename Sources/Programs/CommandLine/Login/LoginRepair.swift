import ArgumentParser
import CommandBase
import Settings

struct LoginRepair: Command {
  static let configuration = CommandConfiguration(
    commandName: "repair",
    abstract: "Find out what opens the keyrings, and set the rest right.",
    discussion: """
      For after an interrupted 'enable' or 'disable', a damaged keyring, and a store that is lost: it tries the secret of \
      the store, the file from before, the sealed copy beside the keyring (with the passcode or the recovery key of the \
      store that it is from), and at last a password that you type, each on a copy of the keyring. A secret is removed \
      only after the keyring has been seen to open with something else.

      The copy beside the keyring is sealed anew where the passcode or the recovery key was changed: under the recovery key \
      alone, unless --sealed-under says otherwise.

      Of KWallet, it tries the key that 'enable kwallet' has kept, and asks for its password where that was \
      changed.

      Examples:
        whorl login repair
        whorl login repair --recovery-fd 4 4<recovery
        whorl login repair --sealed-under passcode-and-recovery-key
      """)

  static var spoken: String { "login repair" }

  @OptionGroup var options: GlobalOptions

  @Option(
    help: ArgumentHelp("Read the passwords of the keyring and of KWallet from this descriptor.", valueName: "n"),
    transform: GivenDescriptors.number)
  var passwordFd: Int32?

  @Option(
    help: ArgumentHelp("Read the recovery key of the sealed copy's store from this descriptor.", valueName: "n"),
    transform: GivenDescriptors.number)
  var recoveryFd: Int32?

  @OptionGroup var sealing: SealedCopyOption

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let dialogue = CommandDialogue(session, of: Self.spoken, passwordFd: passwordFd, recoveryFd: recoveryFd)
    let keyring = try await KeyringChange(dialogue).repair(sealedUnder: sealing.sealedUnder)
    let wallet = try await KWalletChange(dialogue).repair()
    if options.json { return try JSON.print(["keyring": keyring.rawValue, "kwallet": wallet.rawValue]) }
    StandardError.line(keyring.words)
    if wallet != .nothing { StandardError.line(wallet.words) }
  }
}
