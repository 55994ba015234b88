internal import Primitives
internal import Prompts

/// The checked ID of a relying party: a domain, or for programs without a domain another text, such as `ssh:`.
package struct RelyingPartyID: Sendable, Hashable {
  /// The maximum length of a domain in DNS, in bytes.
  package static let limit = 253

  package let text: String

  /// Nil for a text that is empty or too long, or has control characters or line ends.
  package init?(_ text: String) {
    guard (1...Self.limit).contains(text.utf8.count),
      text.unicodeScalars.allSatisfy({
        switch $0.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: false
        default: true
        }
      })
    else { return nil }
    self.text = text
  }

  /// Whether it looks like a domain in lower case, or is `localhost`: labels of letters, digits and hyphens. Browsers
  /// send only such domains; they convert other scripts to Punycode.
  package var isDomain: Bool {
    text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
      (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
        && label.utf8.allSatisfy {
          switch $0 {
          case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
          default: false
          }
        }
    }
  }

  /// Whether it is the application of a key of `ssh-keygen`, which is always `ssh:` or begins with it. No site has such an
  /// ID.
  var isOfSSH: Bool { text.hasPrefix("ssh:") }

  /// As prompts show it: a domain unchanged, any other ID in quotation marks and made safe to show.
  package var shown: String {
    isDomain ? PromptLabel.text(text) : PromptLabel.names([text], unnamed: Text.of("a site without a name"))
  }

  /// The same for the ID in a store, which another program may have written.
  static func shown(_ text: String) -> String {
    RelyingPartyID(text)?.shown ?? PromptLabel.names([text], unnamed: Text.of("a site without a name"))
  }
}
