import Fingerprint
import VaultStore

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
