import SecretModel
import Whorl

/// What `whorl import` tells of what it would do, or has done.
struct ImportReport: Encodable {
  struct Staying: Encodable {
    var entry: String
    var reason: String
  }

  /// Whether nothing was brought in yet.
  private var isPlan: Bool
  /// The items that were brought in, or the entries that would be.
  private var brought: [String]
  private var alreadyThere: [String]
  private var duplicates: [String]
  private var staying: [Staying]
  /// The items that a touch would bind to fingers. Only items of an export can be bound.
  private var binding: [String]?

  private enum CodingKeys: String, CodingKey {
    case isPlan = "dryRun"
    case brought, alreadyThere, duplicates, staying, binding
  }

  init(_ plan: ImportPlan) {
    self.init(isPlan: true, plan.coming.map(\.name), plan.alreadyThere, plan.duplicates, plan.unusable)
    if !plan.binding.isEmpty { binding = plan.binding.map(\.description) }
  }

  init(_ outcome: ImportOutcome) {
    self.init(isPlan: false, outcome.brought, outcome.alreadyThere, outcome.duplicates, outcome.unusable)
  }

  private init(
    isPlan: Bool, _ brought: [ItemName], _ alreadyThere: [ItemName], _ duplicates: [ItemName],
    _ unusable: [UnusableEntry]
  ) {
    self.isPlan = isPlan
    self.brought = brought.map(\.description)
    self.alreadyThere = alreadyThere.map(\.description)
    self.duplicates = duplicates.map(\.description)
    staying = unusable.map { Staying(entry: $0.called, reason: $0.reason.words) }
  }

  func print(json: Bool) throws(Failure) {
    if json { return try JSON.print(self) }
    tell()
  }

  /// On standard error, for people.
  func tell() {
    if isPlan {
      say("Would bring in \(Spoken.plural(brought.count, "entry", "entries"))", brought)
    } else {
      say("Brought in \(Spoken.plural(brought.count, "item"))", brought)
    }
    if let binding { say("One touch would bind \(binding.count) of them to the fingers enrolled here", binding) }
    if !alreadyThere.isEmpty {
      say("\(Spoken.plural(alreadyThere.count, "name")) of it the store has already, and keeps as it is", alreadyThere)
    }
    if !duplicates.isEmpty {
      say(
        "\(Spoken.plural(duplicates.count, "entry", "entries")) of a name that an earlier entry has: rename one of them, "
          + "and import again", duplicates)
    }
    if !staying.isEmpty {
      say(
        "\(Spoken.plural(staying.count, "entry", "entries")) \(isPlan ? "would stay" : "stayed"), wholly or in part",
        staying.map { "\($0.entry): it \($0.reason)" })
    }
  }

  private func say(_ head: String, _ lines: [String]) {
    StandardError.line(head + (lines.isEmpty ? "." : ":"))
    for line in lines { StandardError.line("  \(Visible.text(line))") }
  }
}

extension UnusableEntry.Reason {
  fileprivate var words: String {
    switch self {
    case .source(let words): words
    case .refused(let error): "is not taken by the store: \(Failure(error).words)"
    }
  }
}
