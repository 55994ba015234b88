internal import Executors
internal import SDBus

/// The bus loop as the thread that the code of vaults runs on, for a process that serves one client: its calls come on
/// the loop, and their answers leave from there.
package final class VaultsOnBusLoop: LentThread {
  /// From now on, what is asked of a vault on the bus loop runs there.
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
