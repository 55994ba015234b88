internal import CLinux
internal import Glibc
internal import Whorl

/// The unit and the file of this user that make whorl-agent the SSH agent of the session.
package struct SSHAgentFiles {
  private static let socketUnit = "whorl-agent.socket"
  private static let serviceUnit = "whorl-agent.service"
  private static let keyringAutostart = HiddenAutostart(
    "gnome-keyring-ssh.desktop", called: "SSH agent of GNOME Keyring")

  private let configuration: String
  private let data: String

  /// - Throws: without a home directory.
  package init() throws(Failure) {
    guard let configuration = BaseDirectories.configuration, let data = BaseDirectories.data else { throw .noHome }
    (self.configuration, self.data) = (configuration, data)
  }

  /// The unit of the socket at which programs find the agent.
  package var socket: UserUnit { UserUnit(Self.socketUnit, configuration: configuration, data: data) }
  package var service: UserUnit { UserUnit(Self.serviceUnit, configuration: configuration, data: data) }

  /// Whether a session starts the agent; nil if the user's service manager cannot be asked.
  package var isEnabled: Bool? {
    socket.isInstalled ? Question.isTrue(["systemctl", "--user", "is-enabled", socket.name]) : nil
  }

  /// When this user's settings for the SSH agent were last changed, in seconds since 1970; 0 if they never were. A desktop
  /// that began before keeps its agent until the next login.
  package var changed: Int {
    let files = [
      "systemd/user/sockets.target.wants/\(Self.socketUnit)", "xfce4/xfconf/xfce-perchannel-xml/xfce4-session.xml",
    ]
    return files.map { file in
      var status = stat()
      guard lstat("\(configuration)/\(file)", &status) == 0 else { return 0 }
      // Its first member, since release builds do not find the name `tv_sec`.
      return withUnsafeBytes(of: status.st_mtim) { $0.load(as: time_t.self) }
    }.max() ?? 0
  }

  /// The file with the options of the agent, whatever its contents.
  package var command: MarkedFile { MarkedFile(commandPath, of: .ssh, []) }

  /// The file with the options of the agent; nil if it needs none.
  ///
  /// - Parameters:
  ///   - otherAgent: the socket of the agent for other keys.
  ///   - options: further ones.
  package func command(otherAgent: String?, _ options: ServiceOptions) throws(Failure) -> MarkedFile? {
    guard otherAgent != nil || !options.isEmpty else { return nil }
    guard let command = service.command else { throw Self.missing }
    let upstream = otherAgent.map { " --upstream \(UnitWord.quoted($0))" } ?? ""
    return MarkedFile(
      commandPath, of: .ssh, ["[Service]", "ExecStart=", "ExecStart=\(command)\(upstream)\(options.inUnit)"])
  }

  /// The socket of the other agent in the file; nil if it has none, or is not Whorl's.
  package var namedOtherAgent: String? {
    let command = self.command.ownLines?.last { $0.hasPrefix("ExecStart=") }?.dropFirst("ExecStart=".count)
    let words = command.map { UnitWord.words(of: $0) } ?? []
    return words.firstIndex(of: "--upstream").flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil }
  }

  /// The file that prevents GNOME Keyring from starting its SSH agent, which would set its own socket in the desktop;
  /// nil if that is not installed.
  package var keyring: MarkedFile? { Self.keyringAutostart.isInstalled ? keyringFile : nil }

  private var keyringFile: MarkedFile { Self.keyringAutostart.file(in: configuration, of: .ssh) }

  /// Every file that may have been written, whatever is installed now. The contents given here do not matter.
  package var all: [MarkedFile] { [command, keyringFile] }

  /// Whether the agent at this socket is GNOME Keyring's, which the next session does not have.
  package static func isKeyrings(_ path: String) -> Bool {
    environment("XDG_RUNTIME_DIR").map { "\($0)/keyring/ssh" } == path
  }

  package static let missing = Failure(
    .unavailable, "whorl-agent.socket is not among the units of your service manager",
    advice: "'whorl-agent --socket PATH' is the agent without systemd")

  // Not `whorl.conf`: that would hide a file of this name that a package installs.
  private var commandPath: String { "\(configuration)/systemd/user/\(Self.serviceUnit).d/whorl-other-agent.conf" }

  /// The socket of the agent that programs of this session use now, if it is another agent and will exist in the next
  /// session as well: its path is in the runtime folder, not in a temporary one.
  package static var usualOtherAgent: String? {
    guard let path = environment("SSH_AUTH_SOCK"), let folder = environment("XDG_RUNTIME_DIR"),
      path.hasPrefix("\(folder)/"), path != "\(folder)/whorl-agent", UnitWord.isLine(path)
    else { return nil }
    return path
  }

  private static func environment(_ name: String) -> String? {
    // Borrowed until the environment changes; copied at once.
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }
}
