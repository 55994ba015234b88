import ArgumentParser
import SecretModel
import Whorl

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

extension SecretServiceItem {
  /// Its attributes in one line: `service=forge, user=alice`.
  var spokenAttributes: String {
    attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ", ")
  }

  var rule: SecretServiceRule { SecretServiceRule(access: access.description, grant: isGated ? grant : .brief) }
}

extension SecretServiceFolder {
  var rule: SecretServiceRule {
    let access = access ?? AccessControl.Constraint.none
    return SecretServiceRule(access: access.rawValue, grant: access == .none ? .brief : grant)
  }
}

/// What reading a secret needs, and how long a touch holds for further reads.
struct SecretServiceRule: Hashable {
  /// The word of `--access`.
  var access: String
  var grant: SecretServiceItem.Grant

  var spoken: String { grant == .session ? "\(access), once a session" : access }
}
