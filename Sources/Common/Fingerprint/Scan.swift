/// Why a touch could not be used (`FpDeviceRetry`). It does not count as a failure.
public enum RetryReason: String, Sendable, Codable {
  case general
  /// The swipe or touch was too short.
  case tooShort = "too-short"
  /// The finger was off centre.
  case centerFinger = "center-finger"
  /// The finger must be lifted and presented again.
  case removeFinger = "remove-finger"
  /// The touch was too fast for the driver to read (newer libfprint).
  case tooFast = "too-fast"
}

/// The events of an armed scan.
package enum ScanEvent: Sendable, Hashable {
  /// The reader is armed and waits for a finger.
  case fingerNeeded
  /// This reader reports no fingers: one may be on the sensor from now on.
  case fingerPossible
  /// A finger is on the sensor.
  case fingerPresent
  /// The finger has left the sensor.
  case fingerLifted
  /// One enrolment stage is done.
  case stage(completed: Int, of: Int)
  /// The last touch could not be used; the scan continues (enrolment) or ends (identification).
  case retry(RetryReason)
}

/// Receives events in order, on an executor that the reader chooses. It must not block.
package typealias ScanObserver = @Sendable (ScanEvent) -> Void

/// How a finished scan ended.
package enum ScanOutcome: Sendable, Hashable {
  case match(EnrolmentID)
  case noMatch
  case retry(RetryReason)
}

/// Sixteen random bytes that bind an answer to its question.
package struct ScanNonce: Sendable, Hashable {
  package var bytes: [UInt8]

  package init(bytes: [UInt8]) {
    self.bytes = bytes
  }
}

/// The reader's answer to one identification or verification.
package struct ScanAnswer: Sendable, Hashable {
  /// The nonce of the question.
  package var nonce: ScanNonce
  package var outcome: ScanOutcome
  /// When libfprint's result arrived, by ``ScanClock``.
  package var finishedAt: UInt64

  package init(nonce: ScanNonce, outcome: ScanOutcome, finishedAt: UInt64) {
    self.nonce = nonce
    self.outcome = outcome
    self.finishedAt = finishedAt
  }
}
