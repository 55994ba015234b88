import Fingerprint

/// A finger presented to the reader for one challenge, as the reader process the vault started reports it.
struct Touch {
  let answer: ScanAnswer
}

/// Proof that an enrolled finger was touched for exactly this. It cannot be copied, is made in one place, and is used
/// up by unwrapping.
struct VerifiedPresence: ~Copyable {
  /// How long a touch is good for.
  static let lifetime: UInt64 = 2_000_000_000

  let owner: UInt32
  let scope: Challenge.Scope
  let setDigest: [UInt8]
  let generation: [UInt8]
  /// The enrolment that matched.
  let enrolment: EnrolmentID
  private let finishedAt: UInt64

  /// The only way to a presence: consumes the challenge, so that one question has one answer.
  ///
  /// Refuses an answer with another nonce, one that is not a match, a match with a print that was not offered, and one
  /// from before the scan was armed or older than ``lifetime``.
  ///
  /// - Parameter now: this moment by `ScanClock`.
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

  /// Whether the touch is still good at this moment of `ScanClock`.
  func isFresh(now: UInt64) -> Bool {
    now >= finishedAt && now - finishedAt <= Self.lifetime
  }
}
