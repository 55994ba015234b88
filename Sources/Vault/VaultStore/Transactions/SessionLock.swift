import SecretModel

/// Updates whether the user's login sessions are locked, for the classes of items that depend on it.
package struct SessionLock {
  let gate: any SessionGate
  let store: Store

  package init(gate: any SessionGate, store: Store) {
    self.gate = gate
    self.store = store
  }

  /// Asks the gate for the state of the sessions. Call it before items are read.
  package func follow() async {
    let locks = store.classKeys.locks
    let unlocked = await gate.isUnlocked(store.owner)
    store.classKeys.note(sessionsUnlocked: unlocked, asOf: locks)
  }
}
