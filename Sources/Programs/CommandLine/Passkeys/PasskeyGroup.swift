import ArgumentParser

struct PasskeyGroup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "passkey",
    abstract: "Sign in to sites with a finger: offer, list, move and remove passkeys.",
    discussion: """
      A site or a program that takes passkeys (a security key, FIDO2, WebAuthn) finds Whorl as a security key that is \
      plugged in. The private keys are made in the vault and used there, one touch for each sign-in.

      Examples:
        whorl passkey enable
        whorl passkey list
        whorl passkey rm example.com/alice
      """,
    subcommands: [
      PasskeyEnable.self, PasskeyDisable.self, PasskeyList.self, PasskeyShow.self, PasskeyRename.self,
      PasskeyRemove.self, PasskeyExportCommand.self, PasskeyImportCommand.self,
    ])
}
