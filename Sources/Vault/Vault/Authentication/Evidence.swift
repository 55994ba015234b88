/// What has been shown so far: a finger, the passcode, or both.
struct Evidence {
  var grant: PresenceGrant?
  var passcode: ProvenPasscode?
}

/// What a presence permits once it has been used up.
struct PresenceGrant: Sendable {
  let setDigest: [UInt8]
  let generation: [UInt8]
  private var scope: Challenge.Scope
  /// It was another context's, and is accepted because it is recent. It opens nothing that is bound to a set of fingers.
  private(set) var isReused = false

  /// Refuses a touch that has grown old, and one of another user.
  ///
  /// - Parameter now: this moment by `ScanClock`.
  init(consuming presence: consuming VerifiedPresence, owner: UInt32, now: UInt64) throws(VaultError) {
    guard presence.isFresh(now: now), presence.owner == owner else { throw .touchRefused }
    setDigest = presence.setDigest
    generation = presence.generation
    scope = presence.scope
  }

  /// The same touch for a context that accepts recent matches.
  var forContexts: PresenceGrant {
    var grant = self
    grant.scope = .context
    return grant
  }

  /// The same touch for a context that has not asked for it.
  var reused: PresenceGrant {
    var grant = self
    grant.isReused = true
    return grant
  }

  /// Whether the touch was given for this item, or for a context that serves every item it satisfies.
  func covers(_ item: ItemReference) -> Bool {
    switch scope {
    case .items(let items): items.contains(item)
    case .context: true
    }
  }
}

/// What is still to be asked for before some items are released together, or a policy is satisfied.
struct AuthenticationPlan {
  private let open: [Requirement]

  /// `items` are those that the evidence does not satisfy yet.
  init(_ requirements: [Requirement]) { open = requirements }

  var isSatisfied: Bool { open.isEmpty }
  /// The passcode is needed whatever else is shown.
  var needsPasscode: Bool { open.contains { $0.always(.passcode, .passcodeGate) } }
  /// The passcode alone is enough for all of them.
  var passcodeSuffices: Bool {
    open.allSatisfy { $0.alternatives.contains { $0.isSubset(of: [.passcode, .passcodeGate]) } }
  }
}
