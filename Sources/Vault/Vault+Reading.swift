import GRDB
import Glibc
import SecureMemory

extension Vault {
  /// Releases secrets: one touch, or one passcode, for all of them, or nothing.
  package func read(_ names: [ItemName], reason: String?, in handle: ContextHandle)
    async throws(VaultError) -> [ReleasedItem]
  {
    let store = store
    var wanted: [WantedItem] = try store.read { db, authority in
      try names.map { name in try Self.wanted(name, store, db, authority) }
    }
    let plan = ReadingPlan(wanted)
    if plan.isOpen { return try release(wanted, presence: nil, passcodeKey: nil) }
    return try await asking(in: handle) { context throws(VaultError) in
      for index in wanted.indices {
        guard let derivation = wanted[index].row.derivation else { continue }
        guard let password = try await self.ask(.applicationPassword(wanted[index].name), context) else {
          throw .interactionNotAllowed
        }
        wanted[index].password = try await Self.stretch(password, .init(encoded: derivation), store.floor)
      }
      var passcode: ProvenPasscode?
      if plan.needsPasscode || (context.options.preferPasscode && plan.passcodeSuffices) {
        passcode = try await self.provePasscode(context)
      }
      guard plan.needsFinger || (plan.needsPresence && passcode == nil) else {
        return try self.release(wanted, presence: nil, passcodeKey: passcode?.key)
      }
      if let released = try await self.releaseByTouch(wanted, plan, reason, passcodeKey: passcode?.key, context) {
        return released
      }
      return try self.release(wanted, presence: nil, passcodeKey: try await self.provePasscode(context).key)
    }
  }

  private static func wanted(_ name: ItemName, _ store: Store, _ db: Database, _ authority: Authority) throws
    -> WantedItem
  {
    guard let row = try store.item(name, db) else { throw VaultError.itemNotFound(name) }
    guard !row.dead else { throw VaultError.itemInvalidated(name) }
    guard let access = AccessControl(flags: UInt64(bitPattern: row.access)),
      let accessibility = Accessibility(rawValue: row.accessibility)
    else { throw VaultError.itemDamaged(name) }
    if authority.restored, access != AccessControl(.none) { throw VaultError.restoreDetected }
    if access.constraint == .currentSet {
      guard try store.sets(db, authority).contains(where: { $0.set.generation == row.generation }) else {
        // Only a set that is known to have changed ends an item; one that cannot be read may be this one.
        guard try store.damagedSets(db, authority) == 0 else {
          throw VaultError.storeDamaged("the record of an enrolment set does not verify")
        }
        throw VaultError.itemInvalidated(name)
      }
    }
    return WantedItem(name: name, row: row, access: access, accessibility: accessibility)
  }

  /// The one place where an item's key is unwrapped. It looks at the store anew: row, revision and set must be what
  /// the proof was given for.
  func release(
    _ wanted: [WantedItem], presence: consuming VerifiedPresence?, passcodeKey: SecretBox?
  ) throws(VaultError) -> [ReleasedItem] {
    let store = store
    let grant: PresenceGrant? =
      if let presence { try PresenceGrant(consuming: presence, owner: store.owner) } else { nil }
    return try store.read { db, authority in
      if let grant {
        let now = try store.sets(db, authority).first { $0.set.generation == grant.generation }
        guard let now, now.digest == grant.setDigest, !authority.restored else { throw VaultError.setChanged }
      }
      return try wanted.map { item in
        guard let row = try store.item(item.name, db), row.reference == item.row.reference,
          row.access == item.row.access
        else { throw VaultError.busy("\(item.name) was changed meanwhile") }
        guard let classKey = try store.classKey(item.accessibility, db, authority) else {
          throw VaultError.itemInvalidated(item.name)
        }
        var parts = WrappingParts(classKey: classKey)
        let touched = grant?.covers(row.reference) ?? false
        switch item.access.constraint {
        case .none: break
        case .presence: guard touched || passcodeKey != nil else { throw VaultError.touchRefused }
        case .anyFinger: guard touched else { throw VaultError.touchRefused }
        case .currentSet:
          guard touched, let grant, grant.generation == row.generation,
            let set = try store.sets(db, authority).first(where: { $0.set.generation == row.generation })
          else { throw VaultError.touchRefused }
          parts.add(setKey: try store.setKey(of: set))
        case .passcode:
          guard let passcodeKey else { throw VaultError.touchRefused }
          parts.add(passcodeKey: passcodeKey.secret)
        }
        if let password = item.password { parts.add(applicationPassword: password.secret) }
        let wrong = item.password == nil ? VaultError.itemDamaged(item.name) : .wrongApplicationPassword
        return ReleasedItem(name: item.name, secret: try store.open(row, item.name, under: parts, otherwise: wrong))
      }
    }
  }
}

/// An item about to be read, as it was when the request began.
struct WantedItem {
  var name: ItemName
  var row: ItemRow
  var access: AccessControl
  var accessibility: Accessibility
  /// The application password after scrypt.
  var password: SecretBox?
}

/// What a request for several items needs before they are released together.
struct ReadingPlan {
  let needsFinger: Bool
  let needsPresence: Bool
  let needsPasscode: Bool
  let needsPassword: Bool

  init(_ wanted: [WantedItem]) {
    needsFinger = wanted.contains { [.anyFinger, .currentSet].contains($0.access.constraint) }
    needsPresence = wanted.contains { $0.access.constraint == .presence }
    needsPasscode = wanted.contains { $0.access.constraint == .passcode }
    needsPassword = wanted.contains { $0.access.applicationPassword }
  }

  /// Nothing stands between the request and the secrets.
  var isOpen: Bool { !needsFinger && !needsPresence && !needsPasscode && !needsPassword }

  /// The passcode may stand in for the finger.
  var passcodeSuffices: Bool { needsPresence && !needsFinger }
}

/// What a presence permits once it has been used up.
struct PresenceGrant {
  let setDigest: [UInt8]
  let generation: [UInt8]
  private let scope: Challenge.Scope

  /// Refuses a touch that has grown old, and one of another user.
  init(
    consuming presence: consuming VerifiedPresence, owner: UInt32, now: UInt64 = nanoseconds(of: CLOCK_MONOTONIC)
  ) throws(VaultError) {
    guard presence.isFresh(now: now), presence.operation == .read, presence.owner == owner else { throw .touchRefused }
    setDigest = presence.setDigest
    generation = presence.generation
    scope = presence.scope
  }

  func covers(_ item: ItemReference) -> Bool { scope.items.contains(item) }
}
