// The names of fingers, and what an enrolled finger leaves: a template, which is opaque, or the name of fprintd's print.

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

/// A print as libfprint serialises it (`fp_print_serialize`), opaque and parsed in the reader process alone; or for
/// fprintd's readers an encoded ``FprintdPrint``.
package struct Template: Sendable, Hashable {
  package var bytes: [UInt8]

  package init(bytes: [UInt8]) {
    self.bytes = bytes
  }
}

/// Identifies one enrolment of one finger. It is random and never reused: a finger enrolled again gets another one.
package struct EnrolmentID: Sendable, Hashable {
  /// 16 random bytes.
  package var bytes: [UInt8]

  package init(bytes: [UInt8]) {
    self.bytes = bytes
  }
}

/// A template and the id that the vault gave it.
package struct EnrolledPrint: Sendable, Hashable {
  package var id: EnrolmentID
  package var template: Template

  package init(id: EnrolmentID, template: Template) {
    self.id = id
    self.template = template
  }
}

/// A print that fprintd keeps: the content of a ``Template`` for fprintd's readers.
///
/// fprintd does not hand out templates. A print is identified by the finger's name and, if this process may read
/// fprintd's files, by the digest of the finger's file, which changes when the finger is enrolled again.
package struct FprintdPrint: Sendable, Hashable {
  package var finger: Finger
  /// SHA-256 over fprintd's template files of the finger; nil if they cannot be read.
  package var digest: [UInt8]?

  package init(finger: Finger, digest: [UInt8]?) {
    self.finger = finger
    self.digest = digest
  }

  // Templates of libfprint begin with "FP3".
  private static let prefix = "fprintd 1 "

  /// Nil for a template of any other kind.
  package init?(_ template: Template) {
    guard template.bytes.count <= 200 else { return nil }
    let words = String(decoding: template.bytes, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 4, let finger = Finger(rawValue: String(words[2])) else { return nil }
    var digest: [UInt8]?
    if words[3] != "-" {
      digest = Hexadecimal.bytes(in: words[3])
      guard digest?.count == 32 else { return nil }
    }
    self.init(finger: finger, digest: digest)
    // Accept only the exact encoding.
    guard self.template == template else { return nil }
  }

  package var template: Template {
    let text = digest.map { Hexadecimal.text(of: $0) }
    return Template(bytes: Array("\(Self.prefix)\(finger.rawValue) \(text ?? "-")".utf8))
  }

  /// Whether this is still the print `wanted`: the same finger and, if `wanted` has a digest, the same digest.
  package func isStill(_ wanted: FprintdPrint) -> Bool {
    finger == wanted.finger && (wanted.digest == nil || wanted.digest == digest)
  }
}
