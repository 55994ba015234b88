import Executors
import Keys
import SecretModel
package import SecureMemory

/// Why the items of a class are closed.
package enum ClosedClass {
  /// The user's sessions are locked.
  case session
  /// The passcode has not been given since the vault started, or must be given again.
  case passcode
}

extension Slot {
  /// The slot's parameters if the class key is wrapped with the passcode's key.
  fileprivate static let sealed = Array("passcode".utf8)

  /// Whether this class key is wrapped with the passcode's key.
  fileprivate var isSealed: Bool { !parameters.isEmpty }
}

extension StoreSnapshot {
  /// What the first unlock of this store requires, as the wrapping of its class keys shows.
  package func firstUnlock() throws -> FirstUnlock {
    if try store.classKeys.firstUnlock != .passcode && slot(.loginKey) != nil { return .login }
    if store.classKeys.firstUnlock != .none { return .passcode }
    return try slot(.classKey(.afterFirstUnlock))?.isSealed == true ? .passcode : .none
  }

  /// Why items of this class are closed; nil while they are open.
  package func closed(_ accessibility: Accessibility) throws -> ClosedClass? {
    guard let slot = try slot(.classKey(accessibility)) else { return nil }
    return closed(slot, accessibility)
  }

  /// The classes that have a key and are open.
  package func openClasses() throws -> [Accessibility] {
    try Accessibility.allCases.filter { accessibility in
      guard let slot = try slot(.classKey(accessibility)) else { return false }
      return closed(slot, accessibility) == nil
    }
  }

  private func closed(_ slot: Slot, _ accessibility: Accessibility) -> ClosedClass? {
    if accessibility != .afterFirstUnlock, store.classKeys.sessionsAreLocked { return .session }
    guard slot.isSealed || store.classKeys.firstUnlock != .none else { return nil }
    return firstKey == nil ? .passcode : nil
  }

  private var firstKey: SharedSecret? { store.classKeys.key(of: store.keys.databaseID, store.clock) }

  /// The key under which items of this class are wrapped; nil for `passcode-set` while no passcode is set.
  ///
  /// - Throws: `notUnlocked` while the class is closed.
  package func classKey(_ accessibility: Accessibility) throws -> SecretBytes? {
    guard let slot = try slot(.classKey(accessibility)) else { return nil }
    guard closed(slot, accessibility) == nil else { throw VaultError.notUnlocked(accessibility) }
    guard slot.isSealed else { return try unwrap(slot, under: store.keys.root) }
    guard let first = firstKey else { throw VaultError.notUnlocked(accessibility) }
    if accessibility == .afterFirstUnlock { return first.bytes.copy() }
    return try unwrap(slot, under: encryption(first.bytes))
  }

  /// Refuses an item whose class is closed, before anybody is asked. An item that always needs the passcode is allowed:
  /// the passcode opens its class.
  package func requireOpen(_ accessibility: Accessibility, _ requirement: Requirement) throws {
    switch try closed(accessibility) {
    case nil: return
    case .passcode where requirement.always(.passcode, .passcodeGate): return
    case .passcode, .session: throw VaultError.notUnlocked(accessibility)
    }
  }

  /// The key that wraps class keys, derived from the root key and another key.
  fileprivate func encryption(_ key: borrowing SecretBytes) throws(VaultError) -> SecretBytes {
    var parts = SecretConcatenation()
    parts.append(tag: 1, try store.keys.derive("class keys"))
    parts.append(tag: 2, key)
    do {
      return try KDF.wrappingKey(from: parts, info: Array("whorl class key".utf8))
    } catch {
      throw VaultError(keys: error)
    }
  }

  fileprivate func unwrap(_ slot: Slot, under key: borrowing SecretBytes) throws(VaultError) -> SecretBytes {
    do {
      return try slot.unwrap(under: key, databaseID: store.keys.databaseID)
    } catch {
      throw VaultError(keys: error)
    }
  }
}

extension StoreTransaction {
  /// The key of `after-first-unlock`, unwrapped with the passcode key; nil in a store that is open from the start. If
  /// the class keys are to be wrapped with the passcode's key and are not yet, wraps them.
  package func openClassKeys(with passcodeKey: borrowing SecretBytes) throws -> SharedSecret? {
    // A damaged row must not prevent use of the passcode. An item that needs it reports the damage.
    guard !authority.restored, let slot = try? slot(.classKey(.afterFirstUnlock)) else { return nil }
    if slot.isSealed { return SharedSecret(try unwrap(slot, under: encryption(passcodeKey))) }
    guard store.classKeys.firstUnlock != .none else { return nil }
    let first = SharedSecret(try unwrap(slot, under: store.keys.root))
    let id = store.keys.databaseID
    for name in [Slot.Name.classKey(.whenUnlocked), .classKey(.passcodeSet)] {
      guard let slot = try self.slot(name) else { continue }
      let key = try unwrap(slot, under: store.keys.root)
      try put(
        Slot(name, wrapping: key, under: encryption(first.bytes), databaseID: id, parameters: Slot.sealed))
    }
    try putFirstKey(first, under: passcodeKey)
    return first
  }

  /// Wraps the key of `after-first-unlock` under another passcode key.
  package func putFirstKey(_ first: SharedSecret, under passcodeKey: borrowing SecretBytes) throws {
    try put(
      Slot(
        .classKey(.afterFirstUnlock), wrapping: first.bytes, under: encryption(passcodeKey),
        databaseID: store.keys.databaseID, parameters: Slot.sealed))
  }
}

extension Store {
  /// Waits until the class `after-first-unlock` is opened or closed, and returns whether it is open.
  package func unlockChange(from isOpen: Bool) async throws(VaultError) -> Bool {
    while true {
      let changes = classKeys.changes.value
      guard !Task.isCancelled else { throw .cancelled }
      let isOpenNow = try read { snapshot in try snapshot.closed(.afterFirstUnlock) == nil }
      guard isOpenNow == isOpen else { return isOpenNow }
      await classKeys.changes.reaches(changes + 1)
    }
  }
}
