import ArgumentParser
import Settings

struct SecretServiceGroup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "secret-service",
    abstract: "Give the programs of your desktop their secrets, some of them behind a finger.",
    discussion: """
      Programs keep passwords in the Secret Service of the desktop: mail, browsers, calendars, git. whorl-agent can be \
      that service in the place of GNOME Keyring or KWallet. What it keeps opens with your session, as before, until \
      you gate it: an item, a collection, or all that a program stores.

      Examples:
        whorl secret-service import
        whorl secret-service enable
        whorl secret-service gate --collection login --access presence
      """,
    subcommands: [
      SecretServiceList.self, SecretServiceGate.self, SecretServiceUngate.self, SecretServiceImport.self,
      SecretServiceEnable.self, SecretServiceDisable.self, SecretServiceStatus.self,
    ])
}
