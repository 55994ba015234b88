package import Primitives
package import VaultStore

/// A touch for one challenge, as reported by the reader process that the vault started.
struct Touch {
  let answer: ScanAnswer
}

/// Proof that an enrolled finger was touched for one challenge. It cannot be copied, is made only by the initializer
/// below, and is consumed when a key is unwrapped.
struct VerifiedPresence: ~Copyable {
  /// How old a match may be when the vault learns of it, in nanoseconds.
  static let lifetime: UInt64 = 2_000_000_000
  /// How old a match may be when it is used, in nanoseconds. Before that, the vault records the match on the disk, and
  /// a slow disk can take seconds.
  static let longestUse: UInt64 = 10_000_000_000

  let owner: UInt32
  let scope: Challenge.Scope
  let setDigest: [UInt8]
  let generation: [UInt8]
  /// The enrolment that matched.
  let enrolment: EnrolmentID
  private let finishedAt: UInt64

  /// The only way to make a presence. Consumes the challenge, so that one challenge accepts one answer.
  ///
  /// Refuses an answer with another nonce, one that is not a match, a match with a print that was not offered, and one
  /// from before the scan was armed or older than ``lifetime``.
  ///
  /// - Parameter now: the current time of `ScanClock`.
  init(
    verifying touch: Touch, for challenge: consuming Challenge, now: UInt64
  ) throws(VaultError) {
    guard touch.answer.nonce == challenge.nonce else { throw .touchRefused }
    guard case .match(let enrolment) = touch.answer.outcome else { throw .touchRefused }
    guard challenge.gallery.contains(where: { $0.id == enrolment }) else { throw .touchRefused }
    guard touch.answer.finishedAt >= challenge.armedAt, touch.answer.finishedAt <= now,
      now - touch.answer.finishedAt <= Self.lifetime
    else { throw .touchRefused }
    owner = challenge.owner
    scope = challenge.scope
    setDigest = challenge.setDigest
    generation = challenge.generation
    finishedAt = touch.answer.finishedAt
    self.enrolment = enrolment
  }

  /// Whether an answer is refused only because it took longer than ``lifetime`` to arrive: the machine slept or was
  /// very busy.
  static func isLate(_ answer: ScanAnswer, for challenge: borrowing Challenge, now: UInt64) -> Bool {
    answer.finishedAt >= challenge.armedAt && now > answer.finishedAt && now - answer.finishedAt > lifetime
  }

  /// Whether the match may still be used.
  func isFresh(now: UInt64) -> Bool {
    now >= finishedAt && now - finishedAt <= Self.longestUse
  }
}

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

/// The passcode key, and the slot that it came from.
package struct ProvenPasscode {
  package let key: SharedSecret
  /// The digest of the passcode's slot.
  let slot: [UInt8]

  /// Throws if the passcode was changed or removed since.
  package func requireCurrent(_ snapshot: StoreSnapshot) throws {
    guard try snapshot.slot(.passcode)?.digest() == slot else {
      throw VaultError.busy("the passcode was changed meanwhile")
    }
  }
}

/// The key of the recovery slot, and that slot.
package struct ProvenRecoveryKey {
  package let key: SharedSecret
  /// The digest of the recovery slot.
  let slot: [UInt8]

  /// Throws if the recovery key was replaced since.
  package func requireCurrent(_ snapshot: StoreSnapshot) throws {
    guard try snapshot.slot(.recovery)?.digest() == slot else {
      throw VaultError.busy("the recovery key was replaced meanwhile")
    }
  }

  /// Throws also if a passcode was set since, because the recovery key alone is then not enough.
  func requireCurrentAlone(_ snapshot: StoreSnapshot) throws {
    try requireCurrent(snapshot)
    guard try snapshot.slot(.passcode) == nil else { throw VaultError.busy("a passcode was set meanwhile") }
  }
}

/// The user, purpose and set of one armed scan. Accepts only an answer with its nonce.
struct Challenge: ~Copyable {
  /// What a match permits.
  enum Scope: Equatable, Sendable {
    /// These items, by id and revision: a touch for one revision opens no other.
    case items([ItemReference])
    /// Everything that a touch can open in this context, until it is invalidated or the set changes. This is Apple's
    /// rule.
    case context
  }

  /// The user the fingers belong to.
  let owner: UInt32
  let scope: Scope
  /// The digest of the enrolment set when the scan was armed.
  let setDigest: [UInt8]
  let generation: [UInt8]
  /// The prints to compare with. A match must be one of these.
  let gallery: [EnrolledPrint]
  let nonce: ScanNonce
  /// When the scan was armed, by `ScanClock`.
  let armedAt: UInt64
}
