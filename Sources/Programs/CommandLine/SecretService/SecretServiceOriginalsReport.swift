import Moving
import OtherStores
internal import PromptTexts
import SecretModel
import Settings

/// The report of `whorl secret-service import` on the originals: those still in the other program, and those it
/// removed.
struct SecretServiceOriginalsReport: Encodable {
  private struct Kept: Encodable {
    var item: String
    var reason: String
  }

  /// The most items that are listed for people.
  private static let listed = 20

  private var program: String
  /// The originals that are still there because nobody asked for their removal.
  private var there: [String] = []
  private var removed: [String] = []
  /// The originals that could not be removed.
  private var kept: [Kept] = []
  /// Whether this is a plan of a removal.
  private var wouldRemove = false

  private enum CodingKeys: String, CodingKey {
    case program, there, removed, kept
  }

  /// - Parameter wouldRemove: whether they would be removed.
  init(_ program: String, _ there: [SecretServiceCopy.Entry], wouldRemove: Bool) {
    self.program = program
    self.there = there.map(Self.words)
    self.wouldRemove = wouldRemove
  }

  init(_ program: String, _ removal: SecretServiceCopy.Removal) {
    self.program = program
    removed = removal.removed.map(Self.words)
    kept = removal.kept.map { Kept(item: $0.called, reason: $0.reason.words) }
  }

  private static func words(_ entry: SecretServiceCopy.Entry) -> String { "\(entry.collection): \(entry.label)" }

  /// On standard error, for people.
  func tell() {
    let program = Visible.text(program)
    if wouldRemove {
      StandardError.line(
        "Would remove from \(program), where the secret is the same, \(Spoken.plural(there.count, "original"))"
          + (there.isEmpty ? "." : ":"))
      list(there)
    } else if !there.isEmpty {
      StandardError.line(
        "The originals are still in \(program), where every program can read them without a finger. To remove them: "
          + "whorl secret-service import --remove-old")
    }
    if !removed.isEmpty {
      StandardError.line("Removed \(Spoken.plural(removed.count, "original")) from \(program):")
      list(removed)
    }
    if !kept.isEmpty {
      StandardError.line("Still in \(program), where every program can read \(kept.count == 1 ? "it" : "them"):")
      list(kept.map { "\($0.item): it \($0.reason)" })
    }
  }

  private func list(_ lines: [String]) {
    for line in lines.prefix(Self.listed) { StandardError.line("  \(Visible.text(line))") }
    if lines.count > Self.listed { StandardError.line("  and \(lines.count - Self.listed) more") }
  }
}
