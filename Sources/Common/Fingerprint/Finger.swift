/// One of the ten fingers, under the names fprintd's command-line tools use without their `-finger` ending.
///
/// The raw value is used on the command line, in the store and on the bus.
public enum Finger: String, CaseIterable, Sendable, Codable {
  case leftThumb = "left-thumb"
  case leftIndex = "left-index"
  case leftMiddle = "left-middle"
  case leftRing = "left-ring"
  case leftLittle = "left-little"
  case rightThumb = "right-thumb"
  case rightIndex = "right-index"
  case rightMiddle = "right-middle"
  case rightRing = "right-ring"
  case rightLittle = "right-little"

  /// The finger's name for people: "right index".
  public var spokenName: String { String(rawValue.map { $0 == "-" ? " " : $0 }) }
}
