package import SDBus

/// The D-Bus interface for root's PAM module, documented in `data/dbus/org.whorl.Login1.xml`. It is served on the
/// vault's socket.
package enum LoginInterface {
  package static let target = BusTarget(path: "/org/whorl/Login", interface: "org.whorl.Login1")

  package enum Method: String, CaseIterable, Sendable {
    case openSession = "OpenSession"
    case firstFactor = "FirstFactor"
    case verify = "Verify"
    case changePassword = "ChangePassword"
    case await = "Await"

    /// The D-Bus signature of the arguments.
    package var arguments: String {
      switch self {
      case .openSession: "ussah"
      case .firstFactor: "u"
      case .verify: "ubsss"
      case .changePassword: "uahah"
      case .await: ""
      }
    }
  }

  /// The D-Bus signature of each method's results.
  package static let results = "s"
  /// The answer before there is an outcome: a passcode is being tried, or a finger will be asked for.
  package static let trying = "trying"

  /// The prefix of the D-Bus names of errors.
  package static let errorPrefix = "org.whorl.Login1.Error."
  /// The most bytes of a password. Not below PAM's own limit (PAM_MAX_RESP_SIZE), and more than a passcode may have.
  package static let passwordLimit = 4_096
}
