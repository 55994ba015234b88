package import VaultStore

/// The proofs that are required before one item is released. Contains neither the item's row nor its keys.
package struct Need: Sendable {
  let name: ItemName
  /// The item in its current revision: proofs for another revision do not satisfy this.
  let reference: ItemReference
  /// The generation of the enrolment set that the item is bound to; nil for an item that is bound to none.
  let generation: [UInt8]?
  /// What its access control requires, without the alternatives that can no longer be opened.
  let requirement: Requirement
  /// Whether the application password is required as well.
  let wantsPassword: Bool

  package init(
    _ name: ItemName, _ reference: ItemReference, boundTo generation: [UInt8]?, _ requirement: Requirement,
    wantsPassword: Bool
  ) {
    self.name = name
    self.reference = reference
    self.generation = generation
    self.requirement = requirement
    self.wantsPassword = wantsPassword
  }

  /// The count of wrong application passwords for this item.
  var password: Guessable { .applicationPassword(item: reference.id) }
}

extension Need {
  /// The first alternative that the proofs satisfy; nil if there is none.
  package func satisfied(by proofs: GivenProofs) -> Set<Requirement.Factor>? {
    requirement.satisfied(by: proofs, for: self)
  }
}

extension GivenProofs {
  /// Whether they satisfy an access control, for something that is no item of the store yet.
  package func satisfies(_ access: AccessControl) -> Bool { Requirement(access).satisfied(by: self, for: nil) != nil }
}

extension Requirement {
  /// The first alternative that the proofs satisfy; nil if there is none.
  ///
  /// - Parameter need: the item that the requirement belongs to; nil for a policy or an access control by itself, which
  ///   any touch satisfies that was given in its own context.
  func satisfied(by proofs: GivenProofs, for need: Need?) -> Set<Factor>? {
    alternatives.first { $0.allSatisfy { factor in proofs.satisfies(factor, for: need) } }
  }
}

extension GivenProofs {
  fileprivate func satisfies(_ factor: Requirement.Factor, for need: Need?) -> Bool {
    switch factor {
    case .passcode, .passcodeGate: return passcode != nil
    case .finger, .boundFinger:
      guard let grant else { return false }
      if let need, !grant.covers(need.reference) { return false }
      guard factor == .boundFinger else { return true }
      return !grant.isReused && (need == nil || grant.generation == need?.generation)
    }
  }
}

/// The proofs given so far: a finger, the passcode, or both.
package struct GivenProofs {
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
  package func requireCurrent(_ proofs: GivenProofs) throws {
    if let grant = proofs.grant {
      guard try set(of: grant) != nil else { throw VaultError.setChanged }
    }
    try proofs.passcode?.requireCurrent(self)
  }

  /// The set of the finger that was touched; nil if none was.
  package func touchedSet(_ proofs: GivenProofs) throws -> StoredSet? { try proofs.grant.flatMap { try set(of: $0) } }
}

/// What a touch is asked for.
struct TouchGoal {
  var purpose: TouchRequest.Purpose
  var scope: Challenge.Scope
  /// The needs that a finger of their bound set can satisfy.
  var bound: [Need]
  /// Whether something can be opened in no other way.
  var onlyBound: Bool
}
