package import VaultStore

/// The proofs given so far: a finger, the passcode, or both.
package struct ShownFactors {
  var grant: PresenceGrant?
  package internal(set) var passcode: ProvenPasscode?

  /// No proofs.
  package init() {}

  /// Whether a person was present: by a touch in this context, or the passcode.
  package var showPerson: Bool { grant.map { !$0.isReused } ?? false || passcode != nil }

  init(grant: PresenceGrant? = nil, passcode: ProvenPasscode? = nil) {
    self.grant = grant
    self.passcode = passcode
  }
}

extension StoreSnapshot {
  /// Throws if the set or the passcode has changed since the proofs were given.
  package func requireCurrent(_ shown: ShownFactors) throws {
    if let grant = shown.grant {
      guard try set(of: grant) != nil else { throw VaultError.setChanged }
    }
    try shown.passcode?.requireCurrent(self)
  }

  /// The set of the finger that was touched; nil if none was.
  package func touchedSet(_ shown: ShownFactors) throws -> StoredSet? { try shown.grant.flatMap { try set(of: $0) } }
}
