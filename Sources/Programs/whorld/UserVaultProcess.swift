internal import CLinux
internal import Glibc
internal import Keys
internal import Presence
internal import Primitives
internal import Processes
internal import SDBus
internal import SecretModel
internal import Vault
internal import VaultBus
internal import VaultHost
internal import VaultStore

/// Where the system service has its files. Its process passes them to the vault processes that it starts.
struct ServicePlaces {
  /// The folder of all stores.
  var stores = "/var/lib/whorl"
  var settings = "/etc/whorl/whorld.conf"
  /// The unit's folder in `/run`, which stays while systemd restarts the service.
  var runtime = "/run/whorld"

  /// The arguments of the vault process of a user.
  func arguments(of user: UInt32) -> [String] { ["whorld", "--of", "\(user)", stores, settings, runtime] }
}

/// The vault of one user of the machine, as a process that the system service starts (``VaultBroker``).
///
/// It ends by itself when it has no connection, no open store and no key for some time.
enum UserVaultProcess {
  /// With the folder of the credentials, as systemd sets it for the service.
  private static let credentials = "CREDENTIALS_DIRECTORY"
  /// How often it looks whether it is needed.
  private static let look = Duration.seconds(600)

  /// The environment of vault processes.
  ///
  /// - Parameter folder: that of the credentials; nil without any.
  static func environment(credentials folder: String?) -> [String] {
    // No crash report, as in the unit: it would contain registers and start another program.
    ["SWIFT_BACKTRACE=enable=no"] + (folder.map { ["\(credentials)=\($0)"] } ?? [])
  }

  static func run(of user: UInt32, at places: ServicePlaces) -> Never {
    let credentialFolder = getenv(credentials).map { String(cString: $0) }
    clearenv()
    ServiceHardening.apply()
    LibraryContext.skipOldNames()
    // Separate heaps for threads take memory and time, and the threads of one user rarely allocate at the same time.
    whorl_use_one_heap()
    // By default the TPM's library would log each refused command, and other values of this variable would make it log
    // more.
    setenv("TSS2_LOG", "all+NONE", 1)
    guard let socket = StarterSocket(), socket.starter() != nil else {
      Usage.fail("--of is started by whorld --system; 'whorld --help' explains")
    }
    let settings: ServiceSettings
    let storage: RootStorage
    let own = OwnStore(of: user, in: places.stores)
    do throws(ServiceSettingsError) {
      settings = try ServiceSettings.read(places.settings)
      storage = settings.storage(of: places.stores, try ServiceCredentials(in: credentialFolder))
    } catch {
      Usage.line(error.words)
      exit(78)
    }
    own.confine(locks: places.runtime, settings)
    // Before the first thread.
    let endings = HeldEndingSignals()
    let polkit = Polkit()
    var configuration = SystemVaultsConfiguration(
      folder: places.stores, locks: places.runtime, reader: ServiceReader(settings.reader),
      // No other user's store is opened here, whoever asks.
      accountName: { $0 == user ? own.accountName() : nil },
      authorizeOwner: { caller, change throws(VaultError) in try await polkit.authorizeOwner(caller, change) },
      authorizeFingers: { caller throws(VaultError) in try await polkit.authorizeFingers(caller) },
      authorizeTest: { caller throws(VaultError) in try await polkit.authorizeTest(caller) })
    configuration.otherStore = { _, place in own.other(than: place) }
    let sessions = LoginSessions(polkit: polkit)
    configuration.sessions = sessions
    configuration.programPaths = ProgramPaths()
    configuration.authorizeEnrolment = { caller throws(VaultError) in
      try await polkit.authorizeEnrolment(caller, by: settings.enrollers)
    }
    configuration.shortestPasscode = settings.shortestPasscode
    configuration.firstUnlock = settings.firstUnlock
    configuration.storage = storage
    let vaults = SystemVaults(configuration)
    let logins = Logins(
      vaults, isLocalLogin: { session, user in await sessions.isLocalLogin(session, of: user) },
      log: { Usage.line($0) })
    let listener: VaultBusListener
    do throws(VaultError) {
      listener = try VaultBusListener(
        socket: socket.descriptor,
        passing: .init(
          // Ends this process where it can no longer reach the user's store. The next one then takes the connection.
          willTake: { _ = own.accountName() },
          // The service ends, or this process is not needed. The main thread waits for the signal.
          ended: { kill(getpid(), SIGTERM) }),
        logins: { LoginObject(serving: logins, to: $0, log: { Usage.line($0) }) }
      ) { vaults.connection(for: $0) }
    } catch {
      Usage.fail("cannot serve: \(error)")
    }
    watch(vaults, listener)
    Vault.prepare()
    RestingMemory.begin()
    endings.wait()
    // Without this, the task would have the main thread's priority, which is higher than the service may set, and
    // libdispatch would log the refusal.
    Task(executorPreference: BackgroundThread.shared, priority: .medium) {
      await listener.close()
      await vaults.close()
      exit(0)
    }
    while true { pause() }
  }

  /// Says again and again to the service whether the process is unused. The service ends it then.
  private static func watch(_ vaults: SystemVaults, _ listener: VaultBusListener) {
    _ = LoopTimer(after: look) {
      Task(executorPreference: BackgroundThread.shared) {
        if await vaults.areUnused() { listener.sayIfUnused() }
        watch(vaults, listener)
      }
    }
  }
}
