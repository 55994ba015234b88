import Glibc
import SecretModel
import Whorl

/// The user units that run 'whorl sync' by themselves: after a change, at login and by a timer.
struct SyncUnits {
  private static let watching = "whorl-sync.service"
  private static let timed = "whorl-sync-now.service"
  private static let timer = "whorl-sync.timer"

  private let configuration: String
  private let data: String

  /// - Throws: without a home directory.
  init() throws(Failure) {
    guard let configuration = BaseDirectories.configuration, let data = BaseDirectories.data else { throw .noHome }
    (self.configuration, self.data) = (configuration, data)
  }

  private func unit(_ name: String) -> UserUnit { UserUnit(name, configuration: configuration, data: data) }

  var isInstalled: Bool { [Self.watching, Self.timed, Self.timer].allSatisfy { unit($0).isInstalled } }

  /// Whether they run in each session; nil if there are none, or the user's service manager cannot be asked.
  var isEnabled: Bool? {
    isInstalled ? ChosenCommand(["systemctl", "--user", "is-enabled", Self.timer]).isTrue() : nil
  }

  /// The file with the options of a service; without them nil.
  private func file(_ name: String, _ options: ServiceOptions?) -> MarkedFile? {
    let path = "\(configuration)/systemd/user/\(name).d/whorl-options.conf"
    guard let options else { return MarkedFile(path, of: .sync, []) }
    guard !options.isEmpty, let command = unit(name).command else { return nil }
    return MarkedFile(path, of: .sync, ["[Service]", "ExecStart=", "ExecStart=\(command)\(options.inUnit)"])
  }

  /// - Parameter watching: whether the vault tells of changes by other programs. That of a private store does not.
  func enable(_ options: ServiceOptions, watching: Bool, _ manager: ServiceManager) throws(Failure) {
    let files = [Self.watching, Self.timed].compactMap { file($0, options) }
    if files.isEmpty { try removeFiles() }
    _ = try files.write()
    try manager.reload()
    for name in [Self.timer] + (watching ? [Self.watching] : []) { try manager.enable(unit(name)) }
  }

  func disable(_ manager: ServiceManager) throws(Failure) {
    try manager.disable([unit(Self.timer), unit(Self.watching)])
    try removeFiles()
    try manager.reload()
  }

  private func removeFiles() throws(Failure) {
    for name in [Self.watching, Self.timed] { _ = try file(name, nil)?.remove() }
  }
}
