internal import Executors
internal import Fingerprint
internal import Glibc
internal import Presence
internal import Primitives
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
  /// The unit's folder in `/run`, which stays while systemd restarts the service.
  private static let earlierStarts = EarlierStarts(in: "/run/whorld")

  static func run() -> Never {
    guard geteuid() != 0 else { Usage.fail("--system runs as a user of its own, and never as root") }
    guard let activation = Activation.takeSocket(at: socket) else {
      Usage.fail("--system is started by systemd, with the socket \(socket); 'whorld --help' explains")
    }
    ServiceHardening.apply()
    // By default the TPM's library would log each refused command, and other values of this variable would make it log
    // more.
    setenv("TSS2_LOG", "all+NONE", 1)
    let wait = earlierStarts.note(at: SystemClock.sinceBoot.nanoseconds)
    let settings: ServiceSettings
    let credentials: ServiceCredentials
    do throws(ServiceSettingsError) {
      settings = try ServiceSettings.read(settingsFile)
      credentials = try ServiceCredentials(in: activation.credentials)
    } catch {
      Usage.line(error.words)
      // systemd starts the service again, with the settings of then.
      activation.refuse(for: wait)
      exit(78)
    }
    if wait > .zero {
      let seconds = wait.components.seconds
      Usage.line("it has ended by itself several times in the last minutes, and serves in \(seconds) s")
      activation.notify("STATUS=Waiting \(seconds) s: it has ended by itself several times in the last minutes")
      // A signal that ends the service ends this, too. Nobody is served yet.
      sleep(UInt32(seconds))
      activation.notify("STATUS=")
    }
    // Before the first thread.
    let endings = HeldEndingSignals()
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
    earlierStarts.forget()
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
