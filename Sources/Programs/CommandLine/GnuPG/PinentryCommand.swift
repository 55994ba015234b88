import ArgumentParser
import CommandBase
import Processes
import Settings

struct PinentryCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "pinentry",
    abstract: "Give GnuPG's agent the passphrases of its keys.",
    discussion: """
      GnuPG's agent runs this command as pinentry-whorl after 'whorl gpg enable', and talks with it over standard input \
      and output. A passphrase that Whorl keeps is released by what its rule requires. For every other the pinentry that \
      you had before asks, and then whether Whorl shall keep what you typed. The passphrases are the items gpg/KEYGRIP, \
      which 'whorl ls gpg' lists; 'gpg -K --with-keygrip' shows the keygrips. A new one needs a finger, or the \
      passcode in its place.

      A passphrase that GnuPG has found wrong is not given again: you type the right one, which takes its place.

      The agent passes no options of Whorl's. For another store, make a script like this and name it with \
      'whorl gpg enable --program':

        #!/bin/sh
        exec whorl pinentry --store /srv/mine "$@"

      Example:
        printf 'GETINFO flavor\\nBYE\\n' | whorl pinentry
      """)

  @OptionGroup var options: GlobalOptions

  @Argument(
    parsing: .allUnrecognized, help: ArgumentHelp("What GnuPG's agent passes to a pinentry.", valueName: "option"))
  var given: [String] = []

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    var conversation = PinentryConversation(session, arguments: given)
    try await conversation.hold()
  }
}
