package import Fingerprint

/// Values in words.
package enum Spoken {
  /// "45 seconds", "3 minutes".
  package static func duration(_ seconds: Int) -> String {
    switch seconds {
    case 1: "1 second"
    case ..<120: "\(seconds) seconds"
    case ..<7_200: "\((seconds + 59) / 60) minutes"
    default: "\((seconds + 3_599) / 3_600) hours"
    }
  }

  /// "the left thumb", "the right index finger".
  package static func finger(_ finger: Finger) -> String {
    "the \(finger.spokenName)\(finger == .leftThumb || finger == .rightThumb ? "" : " finger")"
  }

  /// "the left thumb, the right index finger".
  package static func fingers(_ fingers: [Finger]) -> String { fingers.map(finger).joined(separator: ", ") }
}
