internal import Primitives

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
