internal import Moving
internal import Prompts
internal import SecretModel

/// What was given back to the program that is the Secret Service again, or would be.
package struct SecretServiceReturnReport: Encodable {
  private struct Entry: Encodable {
    var collection: String
    var label: String

    init(_ entry: SecretServiceReturn.Entry) { (collection, label) = (entry.collection, entry.label) }
  }

  private struct Left: Encodable {
    var item: String
    var reason: String
  }

  let dryRun: Bool
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
  package var isWhole: Bool {
    guard let outcome else { return unread.isEmpty }
    return outcome.left.isEmpty && outcome.refusal == nil
  }

  /// What a person should know where not everything was copied back, which the report lists.
  package var failure: Failure? {
    guard !dryRun, !isWhole else { return nil }
    return Failure(
      .incomplete, "not everything was copied back: the rest is listed above, and is still in Whorl",
      advice:
        "correct that and run 'whorl secret-service disable' again: nothing is copied twice. What stayed locked opens "
        + "when you log in to the desktop with its password")
  }

  private enum CodingKeys: String, CodingKey {
    case dryRun, removed, kwallet, program, copied, changed, same, gated, staying, onlyThere, refusal, unread, obstacle
  }

  package func encode(to encoder: any Encoder) throws {
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

  /// Which files are removed, for people.
  var progressOfFiles: [ChangeProgress] {
    (removed.isEmpty
      ? [.done("There is no file of Whorl's to remove.")]
      : removed.map { .done("\(dryRun ? "Would remove" : "Removed") \($0)") })
      + (kwallet ? [.done("KWallet has a service of its own again, from the next login on.")] : [])
  }

  /// What becomes of the items, for people.
  package var progress: [ChangeProgress] {
    guard let outcome else { return unread.isEmpty ? progressOfNothing : progressOfUnread }
    let program = self.program ?? "the other program"
    var said: [ChangeProgress] = []
    func say(_ head: String, _ lines: [String], _ end: String? = nil) {
      if let each = Self.counted(head, lines, end) { said.append(each) }
    }
    if !dryRun, !removed.isEmpty { said.append(.done("\(program) keeps the secrets of your programs again.")) }
    say(dryRun ? "Would copy" : "Copied", outcome.new.map(words), "that \(program) did not have")
    say(
      dryRun ? "Would change" : "Changed", outcome.changed.map(words), "in \(program) that had another secret or name")
    if outcome.same > 0 {
      said.append(
        .done("\(Spoken.plural(outcome.same, "item")) \(outcome.same == 1 ? "is" : "are") there already."))
    }
    if let refusal = outcome.refusal {
      say("Not copied, as \(Failure(refusal).words):", outcome.gated.map(words))
    } else {
      say("After your finger or passcode, would compare and copy", outcome.gated.map(words))
    }
    say("Not copied:", outcome.left.map { "\($0.called): it \($0.reason.words)" })
    say("Only \(program) has, and keeps,", outcome.onlyThere.map(words))
    if outcome.same + outcome.new.count + outcome.changed.count > 0, !dryRun {
      said.append(.done("Whorl keeps its own copies."))
    }
    return said
  }

  private var progressOfNothing: [ChangeProgress] {
    removed.isEmpty ? [] : [.done("Programs have stored nothing in Whorl that would have to be copied back.")]
  }

  private var progressOfUnread: [ChangeProgress] {
    let items = unread.map { "\($0.collection): \($0.label)" }
    if dryRun {
      return [Self.counted("Whorl has", items, nil)].compactMap(\.self) + [
        .hint(
          "The other program cannot be read before it is the Secret Service again. Then items that it does not have are "
            + "copied, and those that it has are compared.")
      ]
    }
    guard let obstacle else {
      return [
        .hint("No other program is the Secret Service now. Only Whorl has:", items),
        .hint("Log out and in, then copy them back with: whorl secret-service disable"),
      ]
    }
    return [.hint("Copying to \(program ?? "the other program") ended: \(obstacle.words)")]
      + [obstacle.advice.map { .hint($0) }].compactMap(\.self) + [.hint("Perhaps only Whorl has:", items)]
  }

  private func words(_ entry: SecretServiceReturn.Entry) -> String { "\(entry.collection): \(entry.label)" }

  /// A sentence with the number of items, and the items; nil if there are none.
  private static func counted(_ head: String, _ items: [String], _ end: String?) -> ChangeProgress? {
    guard !items.isEmpty else { return nil }
    return .done("\(head) \(Spoken.plural(items.count, "item"))\(end.map { " \($0)" } ?? ""):", items)
  }
}
