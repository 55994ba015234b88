internal import Fingerprint

/// The names of fprintd's D-Bus interfaces, methods and properties.
enum FprintdNames {
  static let service = "net.reactivated.Fprint"
  static let managerPath = "/net/reactivated/Fprint/Manager"
  static let manager = "net.reactivated.Fprint.Manager"
  static let device = "net.reactivated.Fprint.Device"
  static let properties = "org.freedesktop.DBus.Properties"
  static let error = "net.reactivated.Fprint.Error."
  /// Properties of a reader, which an older fprintd does not have.
  static let fingerNeeded = "finger-needed"
  static let fingerPresent = "finger-present"
  /// What fprintd sends if it names no finger.
  static let anyFinger = "any"
}

extension Finger {
  /// fprintd's name for the finger: "right-index-finger", but "right-thumb".
  var fprintdName: String {
    switch self {
    case .leftThumb, .rightThumb: rawValue
    default: "\(rawValue)-finger"
    }
  }

  init?(fprintdName name: String) {
    guard let finger = Finger.allCases.first(where: { $0.fprintdName == name }) else { return nil }
    self = finger
  }

  /// The name of the finger's file among fprintd's templates: libfprint's number of it in one hexadecimal digit.
  var fprintdFile: String {
    switch self {
    case .leftThumb: "1"
    case .leftIndex: "2"
    case .leftMiddle: "3"
    case .leftRing: "4"
    case .leftLittle: "5"
    case .rightThumb: "6"
    case .rightIndex: "7"
    case .rightMiddle: "8"
    case .rightRing: "9"
    case .rightLittle: "a"
    }
  }
}

/// The word after the dash in `verify-…` and `enroll-…`.
enum FprintdStatus: Sendable {
  case match
  case noMatch
  case retry(RetryReason)
  case stagePassed
  case completed
  case failed(ReaderError)

  init(verify word: String) {
    switch word {
    case "verify-match": self = .match
    case "verify-no-match": self = .noMatch
    default: self = Self.common(word, prefix: "verify-")
    }
  }

  init(enroll word: String) {
    switch word {
    case "enroll-completed": self = .completed
    case "enroll-stage-passed": self = .stagePassed
    case "enroll-data-full": self = .failed(.storageFull)
    case "enroll-duplicate": self = .failed(.duplicate)
    case "enroll-failed": self = .failed(.device("fprintd could not enrol the finger"))
    default: self = Self.common(word, prefix: "enroll-")
    }
  }

  /// An unknown status counts as a failure, never as a match.
  private static func common(_ word: String, prefix: String) -> FprintdStatus {
    guard word.hasPrefix(prefix) else {
      return .failed(.device("fprintd gave an answer that does not fit the request"))
    }
    switch word.dropFirst(prefix.count) {
    case "retry-scan": return .retry(.general)
    case "swipe-too-short": return .retry(.tooShort)
    case "finger-not-centered": return .retry(.centerFinger)
    case "remove-and-retry": return .retry(.removeFinger)
    case "too-fast": return .retry(.tooFast)
    case "disconnected": return .failed(.removed)
    case "unknown-error": return .failed(.device("fprintd reports an unknown error of the driver"))
    default: return .failed(.device("fprintd reports \(word.prefix(60))"))
    }
  }
}
