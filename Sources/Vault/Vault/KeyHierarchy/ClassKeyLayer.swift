import Keys
import SecretModel
import SecureMemory

/// Why the items of a class are closed.
enum ClosedClass {
  /// The user's sessions are locked.
  case session
  /// The passcode has not been given since the vault started, or has to be given again.
  case passcode
}

extension Slot {
  /// In place of parameters, where the passcode has a part in the wrapping of a class key.
  fileprivate static let sealed = Array("passcode".utf8)

  /// Whether the passcode has a part in the wrapping of this class key.
  fileprivate var isSealed: Bool { !parameters.isEmpty }
}

extension Moment {
  /// What the first unlock of this store takes. Its class keys themselves say it: by how they are wrapped.
  func firstUnlock() throws -> FirstUnlock {
    if store.classKeys.firstUnlock == .passcode { return .passcode }
    return try slot(.classKey(.afterFirstUnlock))?.isSealed == true ? .passcode : .none
  }

  /// Why items of this class are closed; nil while they are open.
  func closed(_ accessibility: Accessibility) throws -> ClosedClass? {
    guard let slot = try slot(.classKey(accessibility)) else { return nil }
    return closed(slot, accessibility)
  }

  private func closed(_ slot: Slot, _ accessibility: Accessibility) -> ClosedClass? {
    if accessibility != .afterFirstUnlock, store.classKeys.sessionsAreLocked { return .session }
    guard slot.isSealed || store.classKeys.firstUnlock == .passcode else { return nil }
    return firstKey == nil ? .passcode : nil
  }

  private var firstKey: SecretBox? { store.classKeys.key(of: store.keys.databaseID, store.clock) }

  /// The key that items of this class are wrapped under; nil for `passcode-set` while no passcode is set.
  ///
  /// - Throws: `notUnlocked` while the class is closed.
  func classKey(_ accessibility: Accessibility) throws -> SecretBytes? {
    guard let slot = try slot(.classKey(accessibility)) else { return nil }
    guard closed(slot, accessibility) == nil else { throw VaultError.notUnlocked(accessibility) }
    guard slot.isSealed else { return try unwrap(slot, under: store.keys.root) }
    guard let first = firstKey else { throw VaultError.notUnlocked(accessibility) }
    if accessibility == .afterFirstUnlock { return first.secret.copy() }
    return try unwrap(slot, under: encryption(first.secret))
  }

  /// Refuses an item whose class is closed, before anybody is asked. One with no other way in than the passcode opens its
  /// class with it.
  func requireOpen(_ item: WantedItem) throws {
    switch try closed(item.accessibility) {
    case nil: return
    case .passcode where item.requirement.always(.passcode, .passcodeGate): return
    case .passcode, .session: throw VaultError.notUnlocked(item.accessibility)
    }
  }

  /// What class keys are wrapped under where the root key alone does not open them.
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

extension Change {
  /// The key of `after-first-unlock`, which the passcode key opens; nil in a store that is open from the start. Where the
  /// passcode is to have a part in the class keys and has none yet, it gets one.
  func openClassKeys(with passcodeKey: borrowing SecretBytes) throws -> SecretBox? {
    // A row that is damaged says so where an item needs it, and does not stand in the way of the passcode.
    guard !authority.restored, let slot = try? slot(.classKey(.afterFirstUnlock)) else { return nil }
    if slot.isSealed { return SecretBox(try unwrap(slot, under: encryption(passcodeKey))) }
    guard store.classKeys.firstUnlock == .passcode else { return nil }
    let first = SecretBox(try unwrap(slot, under: store.keys.root))
    let id = store.keys.databaseID
    for name in [Slot.Name.classKey(.whenUnlocked), .classKey(.passcodeSet)] {
      guard let slot = try self.slot(name) else { continue }
      let key = try unwrap(slot, under: store.keys.root)
      try put(
        Slot(name, wrapping: key, under: encryption(first.secret), databaseID: id, parameters: Slot.sealed))
    }
    try putFirstKey(first, under: passcodeKey)
    return first
  }

  /// Wraps the key of `after-first-unlock` under another passcode key.
  func putFirstKey(_ first: SecretBox, under passcodeKey: borrowing SecretBytes) throws {
    try put(
      Slot(
        .classKey(.afterFirstUnlock), wrapping: first.secret, under: encryption(passcodeKey),
        databaseID: store.keys.databaseID, parameters: Slot.sealed))
  }
}
