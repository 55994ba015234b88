import SecretModel
import Whorl

/// The unit and the file of this user that offer passkeys to the programs of the session.
struct PasskeyFiles {
  /// The socket of the service that makes the security key.
  static let deviceSocket = "/run/whorl-fido/socket"

  private static let unit = "whorl-passkeys.service"

  private let configuration: String
  private let data: String

  /// - Throws: without a home directory.
  init() throws(Failure) {
    guard let configuration = BaseDirectories.configuration, let data = BaseDirectories.data else { throw .noHome }
    (self.configuration, self.data) = (configuration, data)
  }

  var service: UserUnit { UserUnit(Self.unit, configuration: configuration, data: data) }

  /// Whether a session offers passkeys; nil if the user's service manager cannot be asked.
  var isEnabled: Bool? {
    service.isInstalled ? ChosenCommand(["systemctl", "--user", "is-enabled", service.name]).isTrue() : nil
  }

  /// The file with the options of the service, whatever its contents.
  var command: MarkedFile { MarkedFile(commandPath, of: .passkey, []) }

  /// The file with the options of the service; nil if it needs none.
  func command(access: AccessControl.Constraint, _ options: ServiceOptions) throws(Failure) -> MarkedFile? {
    guard access != .anyFinger || !options.isEmpty else { return nil }
    guard let command = service.command else { throw Self.missing }
    let rule = access == .anyFinger ? "" : " --access \(access.rawValue)"
    return MarkedFile(
      commandPath, of: .passkey, ["[Service]", "ExecStart=", "ExecStart=\(command)\(rule)\(options.inUnit)"])
  }

  static let missing = Failure(
    .unavailable, "whorl-passkeys.service is not among the units of your service manager",
    advice: "install Whorl with its packages, or 'make install'")

  private var commandPath: String { "\(configuration)/systemd/user/\(Self.unit).d/whorl-options.conf" }
}
