internal import Executors
internal import Fingerprint
internal import Glibc
internal import Presence
internal import Processes
internal import SecretModel
internal import SystemPolicy
internal import Vault
internal import VaultBus
internal import VaultHost
internal import VaultStore

/// The vaults of all users of the machine, as a service that systemd starts for its socket.
enum SystemService {
  private static let socket = "/run/whorl/bus"
  private static let stores = "/var/lib/whorl"
  private static let settingsFile = "/etc/whorl/whorld.conf"

  static func run() -> Never {
    guard geteuid() != 0 else { Usage.fail("--system runs as a user of its own, and never as root") }
    guard let activation = Activation.takeSocket(at: socket) else {
      Usage.fail("--system is started by systemd, with the socket \(socket); 'whorld --help' explains")
    }
    ServiceHardening.apply()
    // By default the TPM's library would log each refused command, and other values of this variable would make it log
    // more.
    setenv("TSS2_LOG", "all+NONE", 1)
    let endings = HeldEndingSignals()
    let settings: ServiceSettings
    let credentials: ServiceCredentials
    do throws(ServiceSettingsError) {
      settings = try ServiceSettings.read(settingsFile)
      credentials = try ServiceCredentials(in: activation.credentials)
    } catch {
      Usage.fail(error.words, status: 78)
    }
    let polkit = Polkit()
    var configuration = SystemVaultsConfiguration(
      folder: stores, reader: ServiceReader(settings.reader), accountName: { Account.name(of: $0) },
      authorizeOwner: { caller, change throws(VaultError) in try await polkit.authorizeOwner(caller, change) },
      authorizeFingers: { caller throws(VaultError) in try await polkit.authorizeFingers(caller) },
      authorizeTest: { caller throws(VaultError) in try await polkit.authorizeTest(caller) })
    let sessions = LoginSessions(polkit: polkit)
    configuration.sessions = sessions
    configuration.programPaths = ProgramPaths()
    configuration.authorizeEnrolment = { caller throws(VaultError) in
      try await polkit.authorizeEnrolment(caller, by: settings.enrollers)
    }
    configuration.shortestPasscode = settings.shortestPasscode
    configuration.firstUnlock = settings.firstUnlock
    configuration.storage = settings.storage(of: stores, credentials)
    let vaults = SystemVaults(configuration)
    let logins = Logins(
      vaults, isLocalLogin: { session, user in await sessions.isLocalLogin(session, of: user) },
      log: { Usage.line($0) })
    let listener: VaultBusListener
    do throws(VaultError) {
      listener = try VaultBusListener(
        socket: activation.socket, logins: { LoginObject(serving: logins, to: $0, log: { Usage.line($0) }) }
      ) { vaults.connection(for: $0) }
    } catch {
      Usage.fail("cannot serve: \(error)")
    }
    activation.notify("READY=1")
    Vault.prepare()
    RestingMemory.begin()
    endings.wait()
    activation.notify("STOPPING=1")
    // Without this, the task would have the main thread's priority, which is higher than the service may set, and
    // libdispatch would log the refusal.
    Task(executorPreference: BackgroundThread.shared, priority: .medium) {
      await listener.close()
      await vaults.close()
      exit(0)
    }
    while true { pause() }
  }
}
