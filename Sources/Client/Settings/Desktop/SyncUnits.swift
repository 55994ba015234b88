internal import Glibc
package import SecretModel
internal import Whorl

/// The user units that run 'whorl sync' by themselves: after a change, at login and by a timer.
package struct SyncUnits {
  private static let watching = "whorl-sync.service"
  private static let timed = "whorl-sync-now.service"
  private static let timer = "whorl-sync.timer"

  private let configuration: String
  private let data: String

  /// - Throws: without a home directory.
  package init() throws(Failure) {
    guard let configuration = BaseDirectories.configuration, let data = BaseDirectories.data else { throw .noHome }
    (self.configuration, self.data) = (configuration, data)
  }

  private func unit(_ name: String) -> UserUnit { UserUnit(name, configuration: configuration, data: data) }

  package var isInstalled: Bool { [Self.watching, Self.timed, Self.timer].allSatisfy { unit($0).isInstalled } }

  /// Whether they run in each session; nil if there are none, or the user's service manager cannot be asked.
  package var isEnabled: Bool? {
    isInstalled ? Question.isTrue(["systemctl", "--user", "is-enabled", Self.timer]) : nil
  }

  /// The file with the options of a service; without them nil.
  private func file(_ name: String, _ options: ServiceOptions?) -> MarkedFile? {
    let path = "\(configuration)/systemd/user/\(name).d/whorl-options.conf"
    guard let options else { return MarkedFile(path, of: .sync, []) }
    guard !options.isEmpty, let command = unit(name).command else { return nil }
    return MarkedFile(path, of: .sync, ["[Service]", "ExecStart=", "ExecStart=\(command)\(options.inUnit)"])
  }

  /// Writes the files that give the services these options, or removes them where there are none.
  package func write(_ options: ServiceOptions) throws(Failure) {
    let files = [Self.watching, Self.timed].compactMap { file($0, options) }
    if files.isEmpty { try removeFiles() }
    _ = try files.write()
  }

  /// What starts with each session.
  ///
  /// - Parameter watching: whether the vault tells of changes by other programs. That of a private store does not.
  package func started(watching: Bool) -> [UserUnit] {
    ([Self.timer] + (watching ? [Self.watching] : [])).map { unit($0) }
  }

  /// Removes the files with options.
  package func removeFiles() throws(Failure) {
    for name in [Self.watching, Self.timed] { _ = try file(name, nil)?.remove() }
  }
}

extension StorePlace {
  /// The folder with the store's copy of the repository that the person's computers share: inside a private store's folder,
  /// or in the user's data for the service's store. Nil without a home directory.
  package var syncFolder: String? {
    switch self {
    case .folder(let folder): "\(folder.directory)/sync"
    case .own: BaseDirectories.data.map { "\($0)/whorl/sync" }
    }
  }
}
