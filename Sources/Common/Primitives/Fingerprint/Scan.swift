// What a scan reports: its events, its answer with the time, and pictures of the finger with what is wrong with them.

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

/// The clock for the times of scans, in the reader process and in the vault.
package enum ScanClock {
  /// Nanoseconds since the machine started. The clock includes sleep, so that a touch expires meanwhile.
  package static func now() -> UInt64 { SystemClock.sinceBoot.nanoseconds }
}

/// Measurements of the picture of a finger, and the picture itself if it was asked for.
package struct FingerPicture: Sendable {
  /// In pixels.
  package var width: Int
  /// In pixels.
  package var height: Int
  /// Pixels per metre; nil if the driver does not report it, like most. 19685 (500 per inch) is usual.
  package var resolution: Int?
  /// The number of ridge endings and forks that libfprint found, which its matcher compares.
  package var minutiae: Int
  /// From 0 to 255: the difference between the 95th and the 5th percentile of the grey values.
  package var contrast: Int
  /// The picture itself; nil if it was not asked for.
  package var file: PictureFile?

  package init(width: Int, height: Int, resolution: Int?, minutiae: Int, contrast: Int, file: PictureFile?) {
    self.width = width
    self.height = height
    self.resolution = resolution
    self.minutiae = minutiae
    self.contrast = contrast
    self.file = file
  }

  /// Pixels per inch; nil if the driver does not report it.
  package var dotsPerInch: Int? { resolution.map { ($0 * 254 + 5_000) / 10_000 } }
}

/// The picture of a finger as a PNG file. It is a fingerprint, so it is kept like a secret.
package final class PictureFile: Sendable {
  package let sealed: SealedFile

  package init(_ sealed: consuming SealedFile) {
    self.sealed = sealed
  }
}

/// How a capture ended.
package enum CaptureOutcome: Sendable {
  case picture(FingerPicture)
  /// The touch gave no picture, or one without minutiae.
  case retry(RetryReason)
}

/// What is wrong with the picture of a finger.
package enum PictureFlaw: String, Sendable, CaseIterable, Codable {
  /// Fewer than ten minutiae: libfprint's matcher, NIST's bozorth3, computes no score for such a print
  /// (`MIN_COMPUTABLE_BOZORTH_MINUTIAE`).
  case tooFewMinutiae = "too-few-minutiae"
  /// Fewer than twenty minutiae: two touches of a finger rarely share enough of them.
  case fewMinutiae = "few-minutiae"
  /// More than 150 minutiae, the most that bozorth3 compares by default (`DEFAULT_BOZORTH_MINUTIAE`). A finger on a
  /// reader has fewer: most of these are noise, or dirt on the glass.
  case noise
  /// A contrast of less than 64: ridges and valleys are hard to tell apart.
  case lowContrast = "low-contrast"
}

/// A verdict on the picture of a finger.
package enum PictureQuality: String, Sendable, Codable {
  /// No flaw was found.
  case good
  /// It has flaws, but can be matched.
  case fair
  /// It cannot be matched.
  case poor
}

extension FingerPicture {
  package var flaws: [PictureFlaw] {
    var flaws: [PictureFlaw] = []
    if minutiae < 10 { flaws.append(.tooFewMinutiae) } else if minutiae < 20 { flaws.append(.fewMinutiae) }
    if minutiae > 150 { flaws.append(.noise) }
    if contrast < 64 { flaws.append(.lowContrast) }
    return flaws
  }

  package var quality: PictureQuality {
    let flaws = flaws
    return flaws.isEmpty ? .good : flaws.contains(.tooFewMinutiae) ? .poor : .fair
  }
}
