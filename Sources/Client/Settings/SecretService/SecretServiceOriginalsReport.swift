internal import Moving
internal import Prompts
internal import SecretModel

/// What became of the originals of items that were copied: those still in the other program, and those removed there.
package struct SecretServiceOriginalsReport: Encodable {
  private struct Kept: Encodable {
    var item: String
    var reason: String
  }

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

  /// For people.
  package var progress: [ChangeProgress] {
    var said: [ChangeProgress] = []
    if wouldRemove {
      said.append(
        .done(
          "Would remove from \(program), where the secret is the same, \(Spoken.plural(there.count, "original"))"
            + (there.isEmpty ? "." : ":"), there))
    } else if !there.isEmpty {
      said.append(
        .hint(
          "The originals are still in \(program), where every program can read them without a finger. To remove them: "
            + "whorl secret-service import --remove-old"))
    }
    if !removed.isEmpty {
      said.append(.done("Removed \(Spoken.plural(removed.count, "original")) from \(program):", removed))
    }
    if !kept.isEmpty {
      said.append(
        .hint(
          "Still in \(program), where every program can read \(kept.count == 1 ? "it" : "them"):",
          kept.map { "\($0.item): it \($0.reason)" }))
    }
    return said
  }
}
