internal import Moving
import OtherStores
import Settings
import Whorl

/// Makes the user's service manager and message bus read changed files.
struct ServiceManager {
  let hardening: Hardening

  /// Reloads all units.
  func reload() throws(Failure) { try systemctl("daemon-reload") }

  /// Restarts a unit if it runs.
  func restart(_ unit: UserUnit) throws(Failure) { try systemctl("try-restart", unit.name) }

  /// Starts a unit now and with every session.
  func enable(_ unit: UserUnit) throws(Failure) { try systemctl("enable", "--now", unit.name) }

  /// Stops units, and disables their start with a session.
  func disable(_ units: [UserUnit]) throws(Failure) { try systemctl(["disable", "--now"] + units.map(\.name)) }

  func start(_ unit: UserUnit) throws(Failure) { try systemctl("start", unit.name) }

  func stop(_ unit: UserUnit) throws(Failure) { try systemctl("stop", unit.name) }

  /// Sets an environment variable for programs that the service manager starts from now on.
  func setEnvironment(_ name: String, to value: String) throws(Failure) {
    try systemctl("set-environment", "\(name)=\(value)")
  }

  /// Makes the bus reload its service files.
  func reloadBus() async throws(Failure) {
    do throws(ImportError) {
      try await SecretServiceHolder.rereadServices(onBus: BaseDirectories.sessionBus)
    } catch {
      throw Failure(error)
    }
  }

  private func systemctl(_ words: String...) throws(Failure) { try systemctl(words) }

  private func systemctl(_ words: [String]) throws(Failure) {
    let command = ["systemctl", "--user"] + words
    let status = ChosenCommand(command).run(hardening)
    guard status == 0 else {
      throw Failure(
        .unavailable, "'\(command.joined(separator: " "))' ended with status \(status)",
        advice: "the files are as they should be; the change counts from your next login on")
    }
  }
}

extension SyncUnits {
  /// - Parameter watching: see ``started(watching:)``.
  func enable(_ options: ServiceOptions, watching: Bool, _ manager: ServiceManager) throws(Failure) {
    try write(options)
    try manager.reload()
    for unit in started(watching: watching) { try manager.enable(unit) }
  }

  func disable(_ manager: ServiceManager) throws(Failure) {
    try manager.disable(started(watching: true))
    try removeFiles()
    try manager.reload()
  }
}
