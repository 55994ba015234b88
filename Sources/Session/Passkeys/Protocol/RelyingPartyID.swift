internal import PromptTexts

/// The ID of a relying party, checked: a domain, or what programs without a domain use, such as `ssh:`.
package struct RelyingPartyID: Sendable, Hashable {
  /// The longest domain of the DNS.
  package static let limit = 253

  package let text: String

  /// Nil for an empty or long text, and for one with control characters or line ends.
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

  /// Whether it looks like a domain in lower case, or is `localhost`: labels of letters, digits and hyphens. A browser
  /// sends no others; names of other scripts are in Punycode there.
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

  /// As prompts show it: a domain as it is, every other ID between quotation marks and safe to show.
  package var shown: String {
    isDomain ? PromptLabel.text(text) : PromptLabel.names([text], unnamed: "a site without a name")
  }
}
