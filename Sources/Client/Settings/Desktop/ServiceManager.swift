internal import Moving
internal import Whorl

/// Makes the user's service manager, message bus and KWallet take changed settings.
package struct ServiceManager: Sendable {
  /// Runs a command where the person sees what it says, and returns its exit status.
  private let run: @Sendable ([String]) -> Int32

  package init(running run: @escaping @Sendable ([String]) -> Int32) { self.run = run }

  /// Reloads all units.
  package func reload() throws(Failure) { try systemctl("daemon-reload") }

  /// Restarts a unit if it runs.
  package func restart(_ unit: UserUnit) throws(Failure) { try systemctl("try-restart", unit.name) }

  /// Starts a unit now and with every session.
  package func enable(_ unit: UserUnit) throws(Failure) { try systemctl("enable", "--now", unit.name) }

  /// Stops units, and disables their start with a session.
  package func disable(_ units: [UserUnit]) throws(Failure) { try systemctl(["disable", "--now"] + units.map(\.name)) }

  func start(_ unit: UserUnit) throws(Failure) { try systemctl("start", unit.name) }

  func stop(_ unit: UserUnit) throws(Failure) { try systemctl("stop", unit.name) }

  /// Sets an environment variable for programs that the service manager starts from now on.
  package func setEnvironment(_ name: String, to value: String) throws(Failure) {
    try systemctl("set-environment", "\(name)=\(value)")
  }

  /// Makes the bus reload its service files.
  package func reloadBus() async throws(Failure) {
    do throws(ImportError) {
      try await SecretServiceHolder.rereadServices(onBus: BaseDirectories.sessionBus)
    } catch {
      throw Failure(error)
    }
  }

  /// Changes KWallet's settings by KDE's own program for settings.
  func changeKWallet(by commands: [[String]]) throws(Failure) {
    for command in commands {
      let status = run(command)
      guard status == 0 else {
        throw Failure(
          .unavailable, "KWallet's settings were not changed: '\(ShellLine.text(command))' ended with status \(status)",
          advice: "kwriteconfig6 comes with KDE (on Debian in libkf6config-bin); install it, and run this again")
      }
    }
  }

  private func systemctl(_ words: String...) throws(Failure) { try systemctl(words) }

  private func systemctl(_ words: [String]) throws(Failure) {
    let command = ["systemctl", "--user"] + words
    let status = run(command)
    guard status == 0 else {
      throw Failure(
        .unavailable, "'\(command.joined(separator: " "))' ended with status \(status)",
        advice: "the files are as they should be; the change counts from your next login on")
    }
  }
}

extension SyncUnits {
  /// Has a store sync by itself from now on.
  ///
  /// - Returns: false where the units are not installed, so that nothing does.
  package static func enable(
    for context: any SettingsContext, _ manager: ServiceManager
  ) throws(Failure) -> Bool {
    let units = try SyncUnits()
    guard units.isInstalled else { return false }
    try units.enable(try ServiceOptions(context.named), watching: try context.isStoreOfService, manager)
    return true
  }

  /// - Parameter watching: see ``started(watching:)``.
  private func enable(_ options: ServiceOptions, watching: Bool, _ manager: ServiceManager) throws(Failure) {
    try write(options)
    try manager.reload()
    for unit in started(watching: watching) { try manager.enable(unit) }
  }

  package func disable(_ manager: ServiceManager) throws(Failure) {
    try manager.disable(started(watching: true))
    try removeFiles()
    try manager.reload()
  }
}
