internal import Fingerprint
internal import Glibc
internal import Processes
internal import SecretModel
internal import SystemPolicy
internal import Vault
internal import VaultBus
internal import VaultHost

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
    Hardening.apply()
    let endings = EndingSignals()
    let settings: ServiceSettings
    do throws(ServiceSettingsError) {
      settings = try ServiceSettings.read(settingsFile)
    } catch {
      Usage.fail(error.words, status: 78)
    }
    let polkit = Polkit()
    var configuration = SystemVaults.Configuration(
      folder: stores, reader: .child(settings.reader), accountName: { Account.name(of: $0) },
      authorizeOwner: { caller throws(VaultError) in try await polkit.authorizeOwner(caller) })
    configuration.gate = LoginSessions(polkit: polkit)
    let vaults = SystemVaults(configuration)
    let listener: VaultBusListener
    do throws(VaultError) {
      listener = try VaultBusListener(socket: activation.socket) { vaults.connection(for: $0) }
    } catch {
      Usage.fail("cannot serve: \(error)")
    }
    activation.notify("READY=1")
    Vault.prepare()
    endings.wait()
    activation.notify("STOPPING=1")
    Task {
      await listener.close()
      await vaults.close()
      exit(0)
    }
    while true { pause() }
  }
}
