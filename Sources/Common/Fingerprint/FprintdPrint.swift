internal import Primitives

/// A finger that fprintd keeps the print of: what a ``Template`` holds where fprintd drives the reader.
///
/// fprintd gives no template away. What stands for one is the finger's name and, where this process may read fprintd's
/// own file, the digest of that: a finger enrolled anew under the same name has another.
package struct FprintdPrint: Sendable, Hashable {
  package var finger: Finger
  /// SHA-256, as fprintd's template files say; nil where they cannot be read.
  package var digest: [UInt8]?

  package init(finger: Finger, digest: [UInt8]?) {
    self.finger = finger
    self.digest = digest
  }

  // No template of libfprint begins like this: those begin with "FP3".
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
    // One spelling for each.
    guard self.template == template else { return nil }
  }

  package var template: Template {
    let text = digest.map { Hexadecimal.text(of: $0) }
    return Template(bytes: Array("\(Self.prefix)\(finger.rawValue) \(text ?? "-")".utf8))
  }

  /// Whether fprintd still has the print that `wanted` stands for: of that finger and, where it has a digest, with it.
  package func isStill(_ wanted: FprintdPrint) -> Bool {
    finger == wanted.finger && (wanted.digest == nil || wanted.digest == digest)
  }
}
