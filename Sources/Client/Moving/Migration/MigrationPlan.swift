package import SecretModel

/// What can be copied from one store into another.
package struct MigrationPlan: Sendable {
  package var movable: [Item] = []
  package var alreadyThere: [Item] = []
  package var staying: [StayingItem] = []

  package init() {}
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
