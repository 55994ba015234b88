import Fingerprint

/// The question one scan is armed for: who asks, for what, against which set. It lives while the
/// scan is armed and answers to its nonce alone.
struct Challenge: ~Copyable {
  /// What a match will permit.
  enum Scope: Equatable, Sendable {
    /// Each item by id and revision: a touch for one revision opens no other.
    case items([ItemReference])
    /// Whatever a touch satisfies in this context, until it is invalidated or the set changes: Apple's rule.
    case context
  }

  /// The user the fingers belong to.
  let owner: UInt32
  let scope: Scope
  /// The digest of the enrolment set when the scan was armed.
  let setDigest: [UInt8]
  let generation: [UInt8]
  /// The gallery that was offered: a match is one of these.
  let gallery: [EnrolledPrint]
  let nonce: ScanNonce
  /// When the scan was armed, by `ScanClock`.
  let armedAt: UInt64
}

/// One revision of one item.
struct ItemReference: Hashable, Sendable {
  var id: [UInt8]
  var revision: Int64
}
