import VaultStore

/// What a verified touch permits, after the presence was consumed.
struct PresenceGrant: Sendable {
  let setDigest: [UInt8]
  let generation: [UInt8]
  private var scope: Challenge.Scope
  /// Whether it is from another context, accepted because it is recent. Such a grant opens no item that is bound to a
  /// set.
  private(set) var isReused = false

  /// Refuses a touch that is too old, or of another user.
  ///
  /// - Parameter now: the current time of `ScanClock`.
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

  /// Whether the touch was given for this item, or for everything in a context.
  func covers(_ item: ItemReference) -> Bool {
    switch scope {
    case .items(let items): items.contains(item)
    case .context: true
    }
  }
}

extension StoreSnapshot {
  /// The set that a touch was given for; nil if it has changed since, or may not be used.
  func set(of grant: PresenceGrant) throws -> StoredSet? {
    try sets().first { $0.digest == grant.setDigest && $0.set.counts }
  }
}
