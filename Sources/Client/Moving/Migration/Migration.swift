internal import Primitives
package import SecretModel

/// Copies the items of one store into another, such as a private store into the service's. The client opens both, so
/// that the service opens no folder of a user.
///
/// The old store is not changed. Items that the new store has already are not copied again.
package struct Migration: Sendable {
  private let old: any VaultService
  private let new: any VaultService

  package init(from old: any VaultService, to new: any VaultService) { (self.old, self.new) = (old, new) }

  /// Determines which items can be copied. Shows no prompt.
  package func plan() async throws(VaultError) -> MigrationPlan {
    var there: [Likeness: Item] = [:]
    for item in try await new.allItems(.everything) { if let likeness = Likeness(item) { there[likeness] = item } }
    let hasFingers = try await new.hasFingers()
    var plan = MigrationPlan()
    for item in try await old.allItems(.everything) {
      if let likeness = Likeness(item), let copy = there[likeness] {
        // Its secret may have changed. Secrets are not compared, since that would require a finger.
        if item.modified > copy.created {
          plan.staying.append(StayingItem(item: item, obstacle: .changedSince))
        } else {
          plan.alreadyThere.append(item)
        }
      } else if let obstacle = MoveObstacle(in: item) {
        plan.staying.append(StayingItem(item: item, obstacle: obstacle))
      } else if item.access.needsFinger, !hasFingers {
        plan.staying.append(StayingItem(item: item, obstacle: .noFinger))
      } else {
        plan.movable.append(item)
      }
    }
    return plan
  }

  /// Copies the items of the plan with the same access control and class. An item bound to an enrolment set is bound to
  /// the new store's set.
  ///
  /// - Parameters:
  ///   - accessibility: returns the class of an item in the new store.
  ///   - asking: how to authenticate in the old store: with at most one touch and one passcode, if the context keeps
  ///     evidence.
  /// - Returns: the items that were copied, and the others.
  /// - Throws: errors of an authentication in the old store, and errors of the new store that concern every item. Items
  ///   copied before stay copied.
  package func move(
    _ plan: MigrationPlan, _ asking: Asking,
    accessibility: (Item) -> Accessibility = { $0.accessibility }
  ) async throws(VaultError) -> MigrationOutcome {
    var outcome = MigrationOutcome(alreadyThere: plan.alreadyThere, staying: plan.staying)
    let silent = plan.movable.filter { !$0.access.asks }
    let asked = plan.movable.filter(\.access.asks)
    let passkeys = asked.filter { $0.itemClass == .passkey }
    let others = asked.filter { $0.itemClass != .passkey }
    for (items, asking) in [(silent, Asking.nobody), (others, asking)] {
      try await ReleasesInChunks(store: old, asking: asking).read(items.map(\.id)) {
        (index, released) async throws(VaultError) in
        try await move(items[index], released, accessibility, &outcome)
      }
    }
    for passkey in passkeys { try await move(passkey, old.export(passkey, asking), accessibility, &outcome) }
    return outcome
  }

  private func move(
    _ item: Item, _ released: Result<ReleasedItem, VaultError>, _ accessibility: (Item) -> Accessibility,
    _ outcome: inout MigrationOutcome
  ) async throws(VaultError) {
    let secret: SecretBytes
    switch released {
    case .success(let released): secret = released.secret.copy()
    case .failure(let error): return outcome.staying.append(StayingItem(item: item, obstacle: .unreadable(error)))
    }
    guard let itemClass = item.itemClass else { return }
    let copy = NewItem(itemClass, item.attributes, access: item.access, accessibility: accessibility(item))
    do throws(VaultError) {
      switch try await new.bringIn(copy, secret: secret) {
      case .added: outcome.moved.append(item)
      case .alreadyThere: outcome.alreadyThere.append(item)
      }
    } catch .notEnrolled {
      outcome.staying.append(StayingItem(item: item, obstacle: .noFinger))
    }
  }
}

extension VaultService {
  /// Whether items can be bound to enrolled fingers.
  func hasFingers() async throws(VaultError) -> Bool {
    if try await status().sets.contains(where: { !$0.fingers.isEmpty }) { return true }
    return try await biometry().state != nil
  }
}

/// The values that identify the same item in both stores.
private struct Likeness: Hashable {
  let itemClass: ItemClass
  let attributes: [AttributeName: AttributeValue]

  /// Nil for an item that can no longer be read.
  init?(_ item: Item) {
    guard item.state == .living, let itemClass = item.itemClass else { return nil }
    self.itemClass = itemClass
    attributes = item.attributes
  }
}

extension AccessControl {
  /// Whether the secret requires authentication.
  fileprivate var asks: Bool { self != .none }

  /// Whether it requires an enrolled finger.
  var needsFinger: Bool {
    guard !flags.isDisjoint(with: [.biometryAny, .biometryCurrentSet]) else { return false }
    return flags.contains(.biometryCurrentSet) || !flags.isSuperset(of: [.or, .devicePasscode])
  }
}

/// What can be copied from one store into another.
package struct MigrationPlan: Sendable {
  package var movable: [Item] = []
  package var alreadyThere: [Item] = []
  package var staying: [StayingItem] = []

  package init() {}

  /// Leaves out what only a finger opens in the old store, where nobody can touch a reader for it.
  package mutating func leaveWhatNeedsFinger() {
    staying += movable.filter(\.access.needsFinger).map { StayingItem(item: $0, obstacle: .fingerThere) }
    movable.removeAll(where: \.access.needsFinger)
  }

  /// Leaves out the items of Whorl's internal groups, as an import from a file does.
  package mutating func leaveInternalGroups() {
    var others: [Item] = []
    for item in movable {
      if let obstacle = MoveObstacle(ofGroup: item.attributes) {
        staying.append(StayingItem(item: item, obstacle: obstacle))
      } else {
        others.append(item)
      }
    }
    movable = others
  }
}

/// The result of a migration.
package struct MigrationOutcome: Sendable {
  package var moved: [Item] = []
  package var alreadyThere: [Item]
  package var staying: [StayingItem]
}

extension Item {
  /// Whether the service opens the item only while a session of its user is unlocked. A private store ignores sessions.
  package var followsSession: Bool { accessibility == .whenUnlocked }
}
