package import VaultStore

/// What the person has shown so far: a finger, the passcode, or both.
package struct ShownFactors {
  var grant: PresenceGrant?
  package internal(set) var passcode: ProvenPasscode?

  /// Nothing was shown.
  package init() {}

  /// Whether a person was there: a finger that was not shown for something else, or the passcode.
  package var showPerson: Bool { grant.map { !$0.isReused } ?? false || passcode != nil }

  init(grant: PresenceGrant? = nil, passcode: ProvenPasscode? = nil) {
    self.grant = grant
    self.passcode = passcode
  }
}

extension StoreSnapshot {
  /// Refuses what was shown where the set or the passcode has changed since.
  package func requireCurrent(_ shown: ShownFactors) throws {
    if let grant = shown.grant {
      guard try set(of: grant) != nil else { throw VaultError.setChanged }
    }
    try shown.passcode?.requireCurrent(self)
  }

  /// The set of the finger that was touched; nil where none was.
  package func touchedSet(_ shown: ShownFactors) throws -> StoredSet? { try shown.grant.flatMap { try set(of: $0) } }
}
