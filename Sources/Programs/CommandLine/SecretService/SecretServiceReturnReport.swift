import Moving
import OtherStores
internal import PromptTexts
import SecretModel
internal import SecretServiceItems
import Settings

/// The report of `whorl secret-service disable`: its plan or its result.
struct SecretServiceReturnReport: Encodable {
  private struct Entry: Encodable {
    var collection: String
    var label: String

    init(_ entry: SecretServiceReturn.Entry) { (collection, label) = (entry.collection, entry.label) }
  }

  private struct Left: Encodable {
    var item: String
    var reason: String
  }

  /// The most items that are listed for people.
  private static let listed = 20

  var dryRun: Bool
  /// The files that were removed, or would be.
  var removed: [String] = []
  /// Whether KWallet's settings from before were given back.
  var kwallet = false
  /// The program that is the Secret Service again; nil if there is none.
  var program: String?
  /// What was copied to it, or would be; nil if it was not reached.
  var outcome: SecretServiceReturn.Outcome?
  /// The items that were not, or not all, compared.
  var unread: [SecretServiceItem] = []
  /// Why not, if there is another program.
  var obstacle: Failure?

  init(dryRun: Bool) { self.dryRun = dryRun }

  /// Whether all of Whorl's items are in the other program too.
  var isWhole: Bool {
    guard let outcome else { return unread.isEmpty }
    return outcome.left.isEmpty && outcome.refusal == nil
  }

  private enum CodingKeys: String, CodingKey {
    case dryRun, removed, kwallet, program, copied, changed, same, gated, staying, onlyThere, refusal, unread, obstacle
  }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(dryRun, forKey: .dryRun)
    try values.encode(removed, forKey: .removed)
    try values.encode(kwallet, forKey: .kwallet)
    try values.encodeIfPresent(program, forKey: .program)
    if let outcome {
      try values.encode(outcome.new.map(Entry.init), forKey: .copied)
      try values.encode(outcome.changed.map(Entry.init), forKey: .changed)
      try values.encode(outcome.same, forKey: .same)
      try values.encode(outcome.gated.map(Entry.init), forKey: .gated)
      try values.encode(
        outcome.left.map { Left(item: $0.called, reason: $0.reason.words) }, forKey: .staying)
      try values.encode(outcome.onlyThere.map(Entry.init), forKey: .onlyThere)
      try values.encodeIfPresent(outcome.refusal.map { Failure($0).words }, forKey: .refusal)
    }
    if !unread.isEmpty { try values.encode(unread.map(\.label), forKey: .unread) }
    try values.encodeIfPresent(obstacle?.words, forKey: .obstacle)
  }

  func print(json: Bool) throws(Failure) {
    if json { return try JSON.print(self) }
    tell()
  }

  /// Prints on standard error which files are removed.
  func tellFiles() {
    for path in removed { StandardError.line("\(dryRun ? "Would remove" : "Removed") \(Visible.text(path))") }
    if removed.isEmpty { StandardError.line("There is no file of Whorl's to remove.") }
    if kwallet { StandardError.line("KWallet has a service of its own again, from the next login on.") }
  }

  private func tell() {
    guard let outcome else { return tellUnread() }
    let program = Visible.text(self.program ?? "the other program")
    if !dryRun, !removed.isEmpty { StandardError.line("\(program) keeps the secrets of your programs again.") }
    say(dryRun ? "Would copy" : "Copied", outcome.new.map(words), "that \(program) did not have")
    say(
      dryRun ? "Would change" : "Changed", outcome.changed.map(words), "in \(program) that had another secret or name")
    if outcome.same > 0 {
      StandardError.line("\(Spoken.plural(outcome.same, "item")) \(outcome.same == 1 ? "is" : "are") there already.")
    }
    if let refusal = outcome.refusal {
      say("Not copied, as \(Failure(refusal).words):", outcome.gated.map(words), nil)
    } else {
      say("After your finger or passcode, would compare and copy", outcome.gated.map(words), nil)
    }
    say("Not copied:", outcome.left.map { "\($0.called): it \($0.reason.words)" }, nil)
    say("Only \(program) has, and keeps,", outcome.onlyThere.map(words), nil)
    if outcome.same + outcome.new.count + outcome.changed.count > 0, !dryRun {
      StandardError.line("Whorl keeps its own copies.")
    }
  }

  private func tellUnread() {
    guard !unread.isEmpty else {
      if !removed.isEmpty {
        StandardError.line("Programs have stored nothing in Whorl that would have to be copied back.")
      }
      return
    }
    if dryRun {
      say("Whorl has", unread.map { "\($0.collection): \($0.label)" }, nil)
      StandardError.line(
        "The other program cannot be read before it is the Secret Service again. Then items that it does not have are "
          + "copied, and those that it has are compared.")
    } else if let obstacle {
      StandardError.line(
        "Copying to \(Visible.text(program ?? "the other program")) ended: \(Visible.text(obstacle.words))")
      if let advice = obstacle.advice { StandardError.line(Visible.text(advice)) }
      StandardError.line("Perhaps only Whorl has:")
      list(unread.map { "\($0.collection): \($0.label)" })
    } else {
      StandardError.line("No other program is the Secret Service now. Only Whorl has:")
      list(unread.map { "\($0.collection): \($0.label)" })
      StandardError.line("Log out and in, then copy them back with: whorl secret-service disable")
    }
  }

  private func words(_ entry: SecretServiceReturn.Entry) -> String { "\(entry.collection): \(entry.label)" }

  /// One line with the number of items, and the items below it; nothing if there are none.
  private func say(_ head: String, _ lines: [String], _ end: String?) {
    guard !lines.isEmpty else { return }
    StandardError.line("\(head) \(Spoken.plural(lines.count, "item"))\(end.map { " \($0)" } ?? ""):")
    list(lines)
  }

  private func list(_ lines: [String]) {
    for line in lines.prefix(Self.listed) { StandardError.line("  \(Visible.text(line))") }
    if lines.count > Self.listed { StandardError.line("  and \(lines.count - Self.listed) more") }
  }
}
