import ArgumentParser
import Settings
import Whorl

struct Login: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "login",
    abstract: "Choose what opens by itself when you log in.",
    discussion: """
      A login by finger leaves the keyrings of the desktop locked, because no password passes through it. Whorl opens \
      them: it keeps a secret for each, and opens it when you log in.

      Start with:
        whorl login status                      what is there, and what is missing
        whorl login enable passcode             the login password is the passcode
        whorl login enable gnome-keyring        the keyring gets a secret of its own
        whorl login enable kwallet              KWallet's key is kept
        whorl login enable sudo                 sudo takes a finger or the password
        whorl login add ssh/key --to env:KEYPW  another secret for the session
      """,
    subcommands: [
      LoginStatus.self, LoginEnable.self, LoginDisable.self, LoginOpen.self, LoginRepair.self, LoginAdd.self,
      LoginList.self, LoginRemove.self,
    ])
}
