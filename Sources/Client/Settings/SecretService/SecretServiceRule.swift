internal import Prompts
package import SecretModel

extension SecretServiceItem {
  /// Its attributes in one line: `service=forge, user=alice`.
  package var spokenAttributes: String {
    attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ", ")
  }

  package var rule: SecretServiceRule { SecretServiceRule(access: access.description, grant: isGated ? grant : .brief) }
}

extension SecretServiceFolder {
  package var rule: SecretServiceRule {
    let access = access ?? AccessControl.Constraint.none
    return SecretServiceRule(access: access.rawValue, grant: access == .none ? .brief : grant)
  }
}

/// What reading a secret needs, and how long a touch is valid for further reads.
package struct SecretServiceRule: Hashable {
  /// The word of `--access`.
  package var access: String
  package var grant: SecretServiceItem.Grant

  package init(access: String, grant: SecretServiceItem.Grant) { (self.access, self.grant) = (access, grant) }

  /// For scripts and `--verbose`.
  package var words: String { grant == .session ? "\(access), once a session" : access }

  /// For people.
  package var spoken: String {
    let needs = AccessControl.Constraint(rawValue: access)?.spoken ?? access
    return grant == .session ? "\(needs), once a session" : needs
  }
}
