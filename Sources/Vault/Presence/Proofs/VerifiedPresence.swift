import Fingerprint
import VaultStore

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
