internal import Glibc

/// What a machine has to change its logins with.
package struct LoginTools: OptionSet, Sendable, Hashable {
  package let rawValue: Int
  package init(rawValue: Int) { self.rawValue = rawValue }

  /// Debian's pam-auth-update, and the file that makes it know Whorl's lines.
  package static let pamAuthUpdate = LoginTools(rawValue: 1)
  package static let sudo = LoginTools(rawValue: 2)
  /// The package manager of Debian and Ubuntu.
  package static let apt = LoginTools(rawValue: 4)

  /// The tools of this machine.
  package static var here: LoginTools {
    var tools: LoginTools = []
    let profile = "/usr/share/pam-configs/whorl"
    if access("/usr/sbin/pam-auth-update", X_OK) == 0, PrivateFile.exists(profile) { tools.insert(.pamAuthUpdate) }
    if access("/usr/bin/sudo", X_OK) == 0 { tools.insert(.sudo) }
    if access("/usr/bin/apt", X_OK) == 0 { tools.insert(.apt) }
    return tools
  }
}
