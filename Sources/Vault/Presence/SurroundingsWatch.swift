import Executors
package import SecretModel
import VaultStore

/// Waits for changes that affect how the owner of a store can authenticate. Polls nothing, and watches the devices only
/// while it is referenced.
package final class SurroundingsWatch: Sendable {
  private let classKeys: ClassKeys
  private let devices: RunningDeviceWatch
  private let gate: any SessionGate

  init(_ readers: ReaderAccess) {
    classKeys = readers.store.classKeys
    devices = readers.desk.devices.start()
    gate = readers.gate
  }

  /// The surroundings, as soon as they differ from the known ones.
  package func surroundings(
    otherThan known: Surroundings?, for caller: Caller
  ) async throws(VaultError) -> Surroundings {
    while true {
      guard !Task.isCancelled else { throw .cancelled }
      let (changes, plugs, locks) = (classKeys.changes.value, devices.count.value, classKeys.closings)
      let refusal = await gate.sessionRefusal(for: caller, at: .underLid)
      let now = Surroundings(changes: changes + plugs, locks: locks, refusal: refusal)
      guard now == known else { return now }
      await withTaskGroup { [classKeys, devices, gate] group in
        group.addTask { await classKeys.changes.reaches(changes + 1) }
        group.addTask { await devices.count.reaches(plugs + 1) }
        group.addTask { await gate.sessionChange(from: refusal, for: caller) }
        await group.next()
        group.cancelAll()
      }
    }
  }
}
