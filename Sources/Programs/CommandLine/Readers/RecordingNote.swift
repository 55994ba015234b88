import Fingerprint
import FoundationEssentials
import Primitives

/// `reader.json` of a recording: the reader, and the steps that it can answer, in order.
struct RecordingNote: Codable {
  static let file = "reader.json"

  var name: String
  var driver: String
  /// Four hexadecimal digits each.
  var vendor: String?
  var product: String?
  var scanType: ReaderDescription.ScanType
  var enrollStages: Int
  var features: [String]
  /// Whether the recording contains pictures of a finger.
  var holdsFingerprint: Bool
  var steps: [String]
  var suspendDuring: String?
  /// The version that made it.
  var whorl: String

  init(
    _ reader: ReaderDescription, _ steps: [ReaderTestStep], suspendDuring: ReaderTestStep?, holdsFingerprint: Bool
  ) {
    name = reader.name
    driver = reader.identity.driver
    vendor = reader.identity.vendor.map { Hexadecimal.text(of: $0) }
    product = reader.identity.product.map { Hexadecimal.text(of: $0) }
    scanType = reader.scanType
    enrollStages = reader.enrollStages
    features = reader.features.map(\.rawValue).sorted()
    self.holdsFingerprint = holdsFingerprint
    self.steps = steps.map(\.rawValue)
    self.suspendDuring = suspendDuring?.rawValue
    whorl = Version.text
  }

  /// Nil if the folder has none, as in libfprint's own recordings.
  static func read(in folder: String) throws(Failure) -> RecordingNote? {
    let path = "\(folder)/\(file)"
    guard let bytes = try? SmallFile.read(path, limit: 64 << 10) else { return nil }
    guard let note = try? JSONDecoder().decode(RecordingNote.self, from: Data(bytes)) else {
      throw Failure(.damaged, "\(path) is no note of a recording", advice: "name the steps with --steps")
    }
    return note
  }

  /// The steps to run.
  func plan(_ form: ReaderTestReport.Form, in folder: String) throws(Failure) -> ReaderTestPlan {
    let known = steps.compactMap(ReaderTestStep.init(rawValue:))
    let suspended = suspendDuring.flatMap(ReaderTestStep.init(rawValue:))
    guard known.count == steps.count, (suspended == nil) == (suspendDuring == nil) else {
      throw Failure(
        .damaged, "\(folder)/\(Self.file) names unknown steps", advice: "name the steps with --steps")
    }
    return ReaderTestPlan(steps: known, suspendDuring: suspended, form: form)
  }
}
