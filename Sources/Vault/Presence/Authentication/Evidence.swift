package import SecureMemory
import VaultStore

/// What the person has shown so far: a finger, the passcode, or both.
package struct ShownFactors {
  var grant: PresenceGrant?
  package internal(set) var passcode: ProvenPasscode?

  /// Nothing was shown.
  package init() {}

  init(grant: PresenceGrant? = nil, passcode: ProvenPasscode? = nil) {
    self.grant = grant
    self.passcode = passcode
  }
}

/// What the person has shown for one call, and the reader that the call has meanwhile. It is consumed by what it permits.
///
/// Only this module makes evidence of a finger or a passcode, from what the person has shown.
package struct Evidence: ~Copyable {
  private let shown: ShownFactors
  /// The application passwords that were given and nobody has checked yet, one for each need; nil for a need that wants
  /// none.
  package let passwords: [SharedSecret?]
  private var reader: HeldReader?
  /// The context of the call; nil for a call that asks for nothing.
  private let context: Context?

  /// Evidence for items that ask for nothing.
  package init() {
    shown = ShownFactors()
    passwords = []
    reader = nil
    context = nil
  }

  init(
    _ shown: ShownFactors, in context: Context, passwords: [SharedSecret?] = [], reader: consuming HeldReader? = nil
  ) {
    self.shown = shown
    self.passwords = passwords
    self.reader = reader
    self.context = context
  }

  /// What was shown, for use at this moment.
  ///
  /// - Throws: the reason where the call was cancelled, or its context was closed, since.
  package func current() throws(VaultError) -> ShownFactors {
    try context?.requireRunning()
    return shown
  }

  /// Gives the reader back after what was wanted was done. Destroying the evidence otherwise counts as a failure.
  package consuming func succeed() { giveReaderBack() }

  /// Lets others have the reader while what was shown is checked further, which may take long.
  package mutating func giveReaderBack() {
    if let held = reader.take() { held.succeed() }
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

/// What must still be asked for before items are released together, or a policy is satisfied.
struct AuthenticationPlan {
  private let open: [Requirement]

  /// - Parameter requirements: those that the evidence does not satisfy yet.
  init(_ requirements: [Requirement]) { open = requirements }

  var isSatisfied: Bool { open.isEmpty }
  /// Whether the passcode is needed in any case.
  var needsPasscode: Bool { open.contains { $0.always(.passcode, .passcodeGate) } }
  /// Whether the passcode alone is enough for all of them.
  var passcodeSuffices: Bool {
    open.allSatisfy { $0.alternatives.contains { $0.isSubset(of: [.passcode, .passcodeGate]) } }
  }
}

extension Moment {
  /// The set that a touch was given for; nil where it has changed since, or may not be used.
  func set(of grant: PresenceGrant) throws -> StoredSet? {
    try sets().first { $0.digest == grant.setDigest && $0.set.counts }
  }

  /// Refuses what was shown where the set or the passcode has changed since.
  package func requireCurrent(_ shown: ShownFactors) throws {
    if let grant = shown.grant {
      guard try set(of: grant) != nil else { throw VaultError.setChanged }
    }
    try shown.passcode?.requireCurrent(self)
  }
}
