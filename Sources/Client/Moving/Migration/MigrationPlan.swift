package import SecretModel

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
