import GRDB
import Presence
import VaultItems
import VaultStore

/// The state of a store, for its owner.
struct StoreReport {
  let presence: OwnerPresence

  private var store: Store { presence.passcodes.store }

  func status() throws(VaultError) -> VaultStatus {
    try store.read { snapshot in
      guard try snapshot.slot(.device) != nil else { throw VaultError.deviceKeyMissing }
      return VaultStatus(
        directory: store.directory.path, tier: store.seal.tier,
        passcodeSet: try snapshot.slot(.passcode) != nil,
        failures: Int(snapshot.authority.lockout.failures), lockedOut: snapshot.authority.lockout.lockedOut,
        passcodeDelay: snapshot.authority.lockout.passcode.remainingDelay(store.clock),
        restore: snapshot.authority.restored ? try RestoredCopy(snapshot: snapshot).acceptance() : nil,
        items: try Int.fetchOne(snapshot.db, sql: "SELECT count(*) FROM item WHERE owner = ?", arguments: [store.owner])
          ?? 0,
        sets: try snapshot.setStatuses(), damagedSets: try snapshot.damagedSets(),
        adapter: snapshot.authority.adapter, firstUnlock: try snapshot.firstUnlock(),
        openClasses: try snapshot.openClasses(),
        passcodeDeadline: store.classKeys.expire(store.clock).map { Int($0 / 1_000_000_000) },
        registers: store.seal.tpm?.registers.numbers ?? [])
    }
  }

  /// The problems of the store as a whole; empty when there are none.
  func problems() throws(VaultError) -> [VaultError] {
    var problems = try store.database.integrityProblems()
    let damaged = try store.read { snapshot in try ItemSearcher(snapshot).damagedItems() }
    if damaged > 0 { problems.append("\(damaged) item rows do not verify") }
    let status = try self.status()
    if status.damagedSets > 0 {
      problems.append("\(status.damagedSets) enrolment sets do not verify: 'whorl unenroll --all' drops them")
    }
    for set in try presence.sets.verified() where try presence.sets.prints(of: set).count < set.set.enrolments.count {
      problems.append("fingerprint templates do not verify: enrol those fingers again")
    }
    return problems.map { .storeDamaged($0) } + restoreProblem(status)
  }

  private func restoreProblem(_ status: VaultStatus) -> [VaultError] {
    switch status.restore {
    case nil: []
    case .passcode, .recoveryKey: [.restoreDetected]
    case .recoveryKeyAndNewPasscode: [.recoveryKeyRequired]
    }
  }
}
