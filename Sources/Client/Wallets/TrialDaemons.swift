internal import Glibc
internal import Primitives
internal import Processes
internal import Synchronization

/// The daemons that this program runs on copies of a wallet. They have their own sessions and get no Ctrl-C, so a
/// program that a signal ends has to end them.
package enum TrialDaemons {
  private static let running = Mutex<[(daemon: ChildProcess, folder: String)]>([])

  static func add(_ daemon: ChildProcess, in folder: String) { running.withLock { $0.append((daemon, folder)) } }

  static func remove(_ daemon: ChildProcess) { running.withLock { $0.removeAll { $0.daemon === daemon } } }

  /// Kills them and removes their copies. Call it when this program ends.
  package static func end() {
    for (daemon, folder) in running.withLock({ $0 }) {
      daemon.kill()
      try? Folder.remove(folder)
    }
  }
}
