package import SecretModel
internal import Whorl

/// The unit and the file of this user that offer passkeys to the programs of the session.
package struct PasskeyFiles {
  /// The socket of the service that makes the security key.
  package static let deviceSocket = "/run/whorl-fido/socket"

  private static let unit = "whorl-passkeys.service"

  private let configuration: String
  private let data: String

  /// - Throws: without a home directory.
  package init() throws(Failure) {
    guard let configuration = BaseDirectories.configuration, let data = BaseDirectories.data else { throw .noHome }
    (self.configuration, self.data) = (configuration, data)
  }

  package var service: UserUnit { UserUnit(Self.unit, configuration: configuration, data: data) }

  /// Whether a session offers passkeys; nil if the user's service manager cannot be asked.
  package var isEnabled: Bool? {
    service.isInstalled ? Question.isTrue(["systemctl", "--user", "is-enabled", service.name]) : nil
  }

  /// The file with the options of the service, whatever its contents.
  package var command: MarkedFile { MarkedFile(commandPath, of: .passkey, []) }

  /// The file with the options of the service; nil if it needs none.
  package func command(access: AccessControl.Constraint, _ options: ServiceOptions) throws(Failure) -> MarkedFile? {
    guard access != .anyFinger || !options.isEmpty else { return nil }
    guard let command = service.command else { throw Self.missing }
    let rule = access == .anyFinger ? "" : " --access \(access.rawValue)"
    return MarkedFile(
      commandPath, of: .passkey, ["[Service]", "ExecStart=", "ExecStart=\(command)\(rule)\(options.inUnit)"])
  }

  package static let missing = Failure(
    .unavailable, "whorl-passkeys.service is not among the units of your service manager",
    advice: "install Whorl with its packages, or 'make install'")

  private var commandPath: String { "\(configuration)/systemd/user/\(Self.unit).d/whorl-options.conf" }
}
