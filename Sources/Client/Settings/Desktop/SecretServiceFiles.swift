internal import Glibc
internal import Primitives
internal import Processes
internal import Whorl

/// The files of this user that make whorl-agent the Secret Service of the session.
package struct SecretServiceFiles {
  private static let serviceUnit = "whorl-secrets.service"
  private static let keyringUnit = "gnome-keyring-daemon.service"
  private static let keyringAutostart = HiddenAutostart(
    "gnome-keyring-secrets.desktop", called: "Secrets of GNOME Keyring")
  private static let component = "secrets"
  private static let option = "--secret-service"

  private let configuration: String
  private let data: String

  /// - Throws: without a home directory.
  package init() throws(Failure) {
    guard let configuration = BaseDirectories.configuration, let data = BaseDirectories.data else { throw .noHome }
    (self.configuration, self.data) = (configuration, data)
  }

  /// The unit of Whorl's service.
  package var unit: UserUnit { UserUnit(Self.serviceUnit, configuration: configuration, data: data) }
  /// The unit of GNOME Keyring.
  package var keyring: UserUnit { UserUnit(Self.keyringUnit, configuration: configuration, data: data) }

  /// The file by which the message bus starts the service.
  private var busPath: String { "\(data)/dbus-1/services/org.freedesktop.secrets.service" }
  private var autostart: MarkedFile { Self.keyringAutostart.file(in: configuration, of: .secretService) }
  // Not `whorl.conf`: that would hide the file of this name that the package installs.
  private var dropInPath: String { "\(configuration)/systemd/user/\(Self.keyringUnit).d/whorl-secrets.conf" }

  private var optionsPath: String { "\(configuration)/systemd/user/\(Self.serviceUnit).d/whorl-options.conf" }

  /// Every file that may have been written, whatever is installed now. The contents given here do not matter.
  package var all: [MarkedFile] {
    [busPath, autostart.path, dropInPath, optionsPath].map { MarkedFile($0, of: .secretService, []) }
  }

  /// The options that the service was enabled with.
  package var writtenOptions: ServiceOptions {
    let command = MarkedFile(busPath, of: .secretService, []).ownLines?.last { $0.hasPrefix("Exec=") }
    let words = command.map { BusWord.words(of: $0) } ?? []
    return ServiceOptions(words: words.firstIndex(of: Self.option).map { Array(words[($0 + 1)...]) } ?? [])
  }

  /// The file with the options of an earlier `enable`; nil if there is none of Whorl's, or it is needed again.
  ///
  /// - Parameter wanted: the files that are needed now.
  package func obsolete(beside wanted: [MarkedFile]) -> MarkedFile? {
    let file = MarkedFile(optionsPath, of: .secretService, [])
    return file.ownLines == nil || wanted.contains { $0.path == optionsPath } ? nil : file
  }

  /// Whether the message bus starts Whorl's service.
  package var isEnabled: Bool { [.current, .outdated].contains(MarkedFile(busPath, of: .secretService, []).state) }

  /// The files that are needed on this machine.
  ///
  /// - Parameters:
  ///   - agent: the path of whorl-agent.
  ///   - options: its options.
  package func wanted(agent: String, _ options: ServiceOptions) -> [MarkedFile] {
    var bus = [
      "[D-BUS Service]", "Name=org.freedesktop.secrets",
      "Exec=\(BusWord.quoted(agent)) \(Self.option)\(options.onBus)",
    ]
    // Without the unit the bus starts the program itself.
    if unit.isInstalled { bus.append("SystemdService=\(Self.serviceUnit)") }
    var files = [MarkedFile(busPath, of: .secretService, bus)]
    // The bus has systemd start the unit, whose command then needs the options.
    if unit.isInstalled, !options.isEmpty {
      let command = unit.command ?? "\(UnitWord.quoted(agent)) \(Self.option)"
      files.append(
        MarkedFile(
          optionsPath, of: .secretService, ["[Service]", "ExecStart=", "ExecStart=\(command)\(options.inUnit)"]))
    }
    if Self.keyringAutostart.isInstalled { files.append(autostart) }
    if let command = keyring.command, let without = Self.withoutSecrets(command) {
      files.append(MarkedFile(dropInPath, of: .secretService, ["[Service]", "ExecStart=", "ExecStart=\(without)"]))
    }
    return files
  }

  /// The command of GNOME Keyring without its Secret Service; nil if it has none.
  static func withoutSecrets(_ command: String) -> String? {
    let option = "--components="
    let quotes: [Character] = ["\"", "'"]
    var words = command.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard let place = words.firstIndex(where: { $0.drop { quotes.contains($0) }.hasPrefix(option) }) else {
      // Without the option the daemon runs all of its components, which are `secrets` and this one.
      return "\(command) \(option)pkcs11"
    }
    let value = words[place].drop { quotes.contains($0) }.dropFirst(option.count).filter { !quotes.contains($0) }
    let components = value.split(separator: ",")
    guard components.contains(where: { $0 == component }) else { return nil }
    words[place] = "\(option)\"\(components.filter { $0 != component }.joined(separator: ","))\""
    return words.joined(separator: " ")
  }

  // MARK: Sandboxed programs

  private static let portals = "/usr/share/xdg-desktop-portal/portals"

  /// The line for `portals.conf` with which the desktop's portal asks the holder of the name for the secrets of
  /// sandboxed programs; nil if the file has such a line, or no portal is installed.
  package var portalLine: String? {
    let key = "org.freedesktop.impl.portal.Secret"
    let names = ["whorl", "gnome-keyring"]
    guard let name = names.first(where: { access("\(Self.portals)/\($0).portal", F_OK) == 0 }) else { return nil }
    let there = (try? SmallFile.read(portalChoice, limit: 64 << 10)) ?? []
    let lines = String(decoding: there, as: UTF8.self).split(separator: "\n")
    return lines.contains { $0.hasPrefix(key) } ? nil : "\(key)=\(name)"
  }

  /// The user's own choice of portals.
  package var portalChoice: String { "\(configuration)/xdg-desktop-portal/portals.conf" }

  /// The path of whorl-agent that is installed with this program.
  package static func agent() throws(Failure) -> String {
    guard let path = HelperPlaces(of: "whorl-agent").locateWithExecutable() else {
      throw Failure(.unavailable, "whorl-agent is not installed beside whorl", advice: "install Whorl again")
    }
    return path
  }
}
