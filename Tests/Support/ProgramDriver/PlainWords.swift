/// Technical terms that a message's first line must not contain. They belong to `--verbose`, `--json` and the manual
/// pages.
package enum PlainWords {
  /// The technical terms in a text; empty for a plain one.
  package static func foreign(in text: String) -> [String] {
    let patterns: [Regex<Substring>] = [
      /errSec\w*/, /LAError[\w.]*/, /kSec\w*/, /(?i)polkit\w*/, /(?i)\bd-?bus\b/,
      /\b(?:org|net)\.[a-z]+\.[\w.]+/, /\btier\b/, /\b(?:when-unlocked|after-first-unlock|passcode-set|logind)\b/,
      /(?i)\b[0-9a-f]{16,}\b/, /\b0x[0-9a-f]+/, /\b[A-Z][a-z]+[A-Z]\w+\.[a-z]\w+/,
    ]
    return patterns.flatMap { text.matches(of: $0).map { String($0.output) } }
  }
}
