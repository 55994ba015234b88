internal import PromptTexts
import SecretModel
internal import SecretServiceItems

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

/// What reading a secret needs, and how long a touch is valid for further reads.
struct SecretServiceRule: Hashable {
  /// The word of `--access`.
  var access: String
  var grant: SecretServiceItem.Grant

  /// For scripts and `--verbose`.
  var words: String { grant == .session ? "\(access), once a session" : access }

  /// For people.
  var spoken: String {
    let needs = AccessControl.Constraint(rawValue: access)?.spoken ?? access
    return grant == .session ? "\(needs), once a session" : needs
  }
}
