internal import CLinux
internal import Glibc
internal import Keys
internal import Presence
internal import Processes
internal import SecretModel
internal import Vault
internal import VaultBus
internal import VaultHost
internal import VaultStore

/// The vault: keys, stores and policy, served to the one client that started this process, or to all users of the machine,
/// each in a process of its own.
@main
enum Whorld {
  static func main() {
    let words = Array(CommandLine.arguments.dropFirst())
    switch words {
    case ["--private"]: serveStarter()
    case ["--system"]: SystemService.run()
    case ["--help"]: print(Usage.help)
    case _ where words.count == 5 && words[0] == "--of":
      guard let user = UInt32(words[1]) else { Usage.fail("'\(words[1])' is no user id") }
      UserVaultProcess.run(of: user, at: ServicePlaces(stores: words[2], settings: words[3], runtime: words[4]))
    default: Usage.fail("takes --private, --system or --help; 'whorld --help' explains")
    }
  }

  private static func serveStarter() -> Never {
    clearenv()
    ServiceHardening.apply()
    LibraryContext.skipOldNames()
    // Separate heaps for threads take memory and time, and the threads rarely allocate at the same time.
    whorl_use_one_heap()
    let endings = HeldEndingSignals()
    guard let socket = StarterSocket() else { Usage.fail("descriptor 0 is no socket; 'whorld --help' explains") }
    guard let starter = socket.starter() else {
      Usage.fail("the program that started it has ended, or is not the one that made the socket")
    }
    VaultsOnBusLoop.begin()
    let server: VaultBusServer
    do throws(VaultError) {
      server = try VaultBusServer(
        socket: socket.descriptor, connection: LocalVaultConnection(), onClosed: { _exit(0) })
    } catch {
      Usage.fail("cannot serve its client: \(error)")
    }
    // The connection may outlive the starter, since another process may hold a copy of its socket.
    starter.onEnd { server.close() }
    // Takes two milliseconds, while the client's first call is being sent.
    Vault.prepare()
    RestingMemory.begin()
    endings.wait()
    server.close()
    // The server ends the process when it has finished.
    while true { pause() }
  }
}
