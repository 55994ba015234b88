internal import Primitives
internal import SDBus

/// Runs vaults on the bus loop's thread, for a process with one client: its calls arrive on that thread and are
/// answered from it.
package final class VaultsOnBusLoop: LentThread {
  /// From now on, vaults called on the bus loop run there.
  package static func begin() { VaultsOnBusLoop().lend() }

  private func lend() { BusLoop.shared.post { CurrentThread.lend(self) } }

  package func adopt(_ body: @escaping @Sendable () -> Void) { BusLoop.shared.post(body) }

  package var isTakenBack: Bool { !BusLoop.shared.isCurrent }

  package func willWait() {
    guard BusLoop.shared.isCurrent else { return }
    BusLoop.shared.waitElsewhere()
    lend()
  }
}
