internal import Moving
internal import Prompts
internal import SecretModel

/// What was copied from the program that keeps the desktop's passwords, or would be.
package struct SecretServiceImportReport: Encodable {
  struct Entry: Encodable {
    var collection: String
    var label: String
    /// The sandboxed program whose secret it is.
    var application: String?

    init(_ entry: SecretServiceCopy.Entry) {
      (collection, label, application) = (entry.collection, entry.label, entry.application)
    }

    var words: String { "\(collection): \(label)\(application.map { ", the secret of \($0)" } ?? "")" }
  }

  struct Staying: Encodable {
    var item: String
    var reason: String
  }

  var dryRun: Bool
  /// The collections that are new to the store.
  var collections: [String]
  var brought: [Entry]
  /// Existing items that got, or would get, the other program's secret.
  var replaced: [Entry]
  /// Existing items that are not changed.
  var alreadyThere: [Entry]
  /// Of these: the ones with another secret.
  var differing: [Entry]
  /// Of these: the ones that were not compared.
  var uncompared: [Entry]
  var staying: [Staying]
  /// The other program's originals of items in the store; nil in a plan that removes nothing.
  var originals: SecretServiceOriginalsReport?
  /// Whether those who see it have not seen a plan, so that what was copied is named.
  var isNaming = false

  private enum CodingKeys: String, CodingKey {
    case dryRun, collections, brought, replaced, alreadyThere, differing, uncompared, staying, originals
  }

  /// Nothing was there.
  init(nothing dryRun: Bool) {
    self.dryRun = dryRun
    (collections, brought, replaced, alreadyThere) = ([], [], [], [])
    (differing, uncompared, staying) = ([], [], [])
  }

  /// What would be done.
  init(_ plan: SecretServiceCopy.Plan, replacing: Bool) {
    self.init(
      plan, dryRun: true, plan.coming, replaced: replacing ? plan.differing + plan.uncompared : [], plan.unusable)
  }

  /// What was done.
  init(_ plan: SecretServiceCopy.Plan, _ outcome: SecretServiceCopy.Outcome) {
    self.init(plan, dryRun: false, outcome.brought, replaced: outcome.replaced, outcome.unusable)
  }

  private init(
    _ plan: SecretServiceCopy.Plan, dryRun: Bool, _ brought: [SecretServiceCopy.Entry],
    replaced: [SecretServiceCopy.Entry], _ unusable: [UnusableEntry]
  ) {
    let gone = Set(replaced)
    func kept(_ entries: [SecretServiceCopy.Entry]) -> [Entry] { entries.filter { !gone.contains($0) }.map(Entry.init) }
    self.dryRun = dryRun
    collections = plan.collections.map(\.name)
    self.brought = brought.map(Entry.init)
    self.replaced = replaced.map(Entry.init)
    (alreadyThere, differing) = (kept(plan.alreadyThere), kept(plan.differing))
    uncompared = kept(plan.uncompared)
    staying = unusable.map { Staying(item: $0.called, reason: $0.reason.words) }
  }

  /// For people.
  var progress: [ChangeProgress] {
    let isListed = dryRun || isNaming
    var said: [ChangeProgress] = [
      .done(
        "\(dryRun ? "Would copy" : "Copied") \(Spoken.plural(brought.count, "item"))"
          + (isListed && !brought.isEmpty ? ":" : "."), isListed ? brought.map(\.words) : [])
    ]
    if !replaced.isEmpty {
      said.append(
        .done(
          "\(dryRun ? "Would replace" : "Replaced") the secret of \(Spoken.plural(replaced.count, "item")):",
          replaced.map(\.words)))
    }
    if !alreadyThere.isEmpty {
      let are = alreadyThere.count == 1 ? "is" : "are"
      said.append(
        .done("\(Spoken.plural(alreadyThere.count, "item")) of it \(are) in the store already, unchanged."))
    }
    if !differing.isEmpty {
      said.append(
        .hint(
          "\(differing.count) of these \(differing.count == 1 ? "has" : "have") another secret here; --replace takes the "
            + "other program's:", differing.map(\.words)))
    }
    if !uncompared.isEmpty {
      said.append(
        .hint(
          "\(uncompared.count) of these \(uncompared.count == 1 ? "was" : "were") not compared, because of a rule here "
            + "or since the other program does not give it out."))
    }
    if !staying.isEmpty {
      said.append(
        .hint(
          "\(Spoken.plural(staying.count, "item")) \(dryRun ? "would stay" : "stayed") where it is:",
          staying.map { "\($0.item): it \($0.reason)" }))
    }
    return said
  }
}
