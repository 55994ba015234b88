internal import Glibc
internal import Primitives
internal import Processes
internal import VaultHost

/// The service for all users of the machine, which systemd starts for its socket. It starts a vault process for each user
/// who connects, and holds no key itself.
enum SystemService {
  private static let socket = "/run/whorl/bus"
  private static let places = ServicePlaces()
  private static let earlierStarts = EarlierStarts(in: places.runtime)

  static func run() -> Never {
    guard geteuid() != 0 else { Usage.fail("--system runs as a user of its own, and never as root") }
    guard let activation = Activation.takeSocket(at: socket) else {
      Usage.fail("--system is started by systemd, with the socket \(socket); 'whorld --help' explains")
    }
    ServiceHardening.apply()
    let wait = earlierStarts.note(at: SystemClock.sinceBoot.nanoseconds)
    do throws(ServiceSettingsError) {
      // Each vault process reads them for itself. The service does not start if they are wrong.
      _ = try ServiceSettings.read(places.settings)
      _ = try ServiceCredentials(in: activation.credentials)
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
    let broker: VaultBroker
    do {
      // Opened now, so that an upgrade in the meantime starts no other version.
      let program = try HelperProgram(
        at: HelperPlaces.vault.locateWithExecutable() ?? HelperPlaces.vault.installed[0])
      broker = try VaultBroker(
        socket: activation.socket, program: program, arguments: { places.arguments(of: $0) },
        environment: UserVaultProcess.environment(credentials: activation.credentials),
        hasAccount: { Account.name(of: $0) != nil },
        afterEnd: { StoreNames(in: places.stores).removeEmpty(of: $0) }, log: { Usage.line($0) })
    } catch let error as HelperProgramError {
      Usage.fail("cannot serve: \(error.words)")
    } catch {
      Usage.fail("cannot serve: \(error)")
    }
    if !VaultConfinement.isPossible {
      Usage.line("the vaults of users are not confined: a kernel with Landlock can do that (Linux 5.19)")
    }
    activation.notify("READY=1")
    RestingMemory.begin()
    endings.wait()
    earlierStarts.forget()
    activation.notify("STOPPING=1")
    // Without this, the task would have the main thread's priority, which is higher than the service may set, and
    // libdispatch would log the refusal.
    Task(executorPreference: BackgroundThread.shared, priority: .medium) {
      await broker.close()
      exit(0)
    }
    while true { pause() }
  }
}
