import CommandBase
internal import Moving
internal import Prompts
import SecretModel
import Settings

/// The report of `whorl import`: its plan or its result.
struct ImportReport: Encodable {
  struct Staying: Encodable {
    var entry: String
    /// The field because of which it was not imported; nil if it is not a single field.
    var field: String?
    var reason: String

    init(_ entry: UnusableEntry) {
      self.entry = entry.called
      reason = entry.reason.words
      if case .field(let name, _) = entry.reason { field = name }
    }

    var words: String { "\(entry): \(field.map { "its \($0)" } ?? "it") \(reason)" }
  }

  /// The listed names, and the number of the others.
  private struct Names {
    var first: [String]
    var more = 0

    init(_ names: [ItemName]) { first = names.map(\.description) }

    init(_ names: Listing<ItemName>) {
      self.init(names.first)
      more = names.count - first.count
    }

    var count: Int { first.count + more }
  }

  /// Whether nothing was imported yet.
  private var isPlan: Bool
  /// The items that were imported, or the entries that would be.
  private var brought: Names
  private var alreadyThere: Names
  private var duplicates: Names
  private var staying: [Staying]
  private var stayingMore = 0
  /// The fields that are left out of all entries.
  private var leftOut: [String] = []
  /// The items that a touch would bind to fingers. Only items of an export can be bound.
  private var binding: Names?

  init(_ plan: ImportPlan) {
    self.init(
      isPlan: true, Names(plan.coming.map(\.name)), Names(plan.alreadyThere), Names(plan.duplicates), plan.unusable)
    leftOut = plan.leftOut
  }

  init(_ outcome: ImportOutcome) {
    self.init(
      isPlan: false, Names(outcome.brought), Names(outcome.alreadyThere), Names(outcome.duplicates), outcome.unusable)
    leftOut = outcome.leftOut
  }

  init(_ plan: ItemFilePlan) {
    self.init(
      isPlan: true, Names(plan.coming), Names(plan.alreadyThere), Names(plan.duplicates), plan.unusable.first)
    stayingMore = plan.unusable.count - staying.count
    if plan.binding.count > 0 { binding = Names(plan.binding) }
  }

  init(_ outcome: ItemFileOutcome) {
    self.init(
      isPlan: false, Names(outcome.brought), Names(outcome.alreadyThere), Names(outcome.duplicates),
      outcome.unusable.first)
    stayingMore = outcome.unusable.count - staying.count
  }

  private init(
    isPlan: Bool, _ brought: Names, _ alreadyThere: Names, _ duplicates: Names, _ unusable: [UnusableEntry]
  ) {
    self.isPlan = isPlan
    self.brought = brought
    self.alreadyThere = alreadyThere
    self.duplicates = duplicates
    staying = unusable.map(Staying.init)
  }

  private enum CodingKeys: String, CodingKey {
    case isPlan = "dryRun"
    case brought, alreadyThere, duplicates, staying, binding, leftOut, more
  }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(isPlan, forKey: .isPlan)
    try values.encode(brought.first, forKey: .brought)
    try values.encode(alreadyThere.first, forKey: .alreadyThere)
    try values.encode(duplicates.first, forKey: .duplicates)
    try values.encode(staying, forKey: .staying)
    try values.encodeIfPresent(binding?.first, forKey: .binding)
    if !leftOut.isEmpty { try values.encode(leftOut, forKey: .leftOut) }
    let more = [
      "brought": brought.more, "alreadyThere": alreadyThere.more, "duplicates": duplicates.more,
      "staying": stayingMore, "binding": binding?.more ?? 0,
    ].filter { $0.value > 0 }
    if !more.isEmpty { try values.encode(more, forKey: .more) }
  }

  /// Whether to carry out the plan. Prints it for --dry-run, and asks.
  func isWanted(dryRun: Bool, yes: Bool, _ session: Session) throws(Failure) -> Bool {
    guard !dryRun else {
      try print(json: session.options.json)
      return false
    }
    if brought.count > 0, !yes {
      tell()
      try session.answers().confirm("Go on?", assent: "--yes")
    }
    return true
  }

  func print(json: Bool) throws(Failure) {
    if json { return try JSON.print(self) }
    tell()
  }

  /// Prints the report as text on standard error.
  func tell() {
    if isPlan {
      say("Would bring in \(Spoken.plural(brought.count, "entry", "entries"))", brought.first, brought.more)
    } else {
      say("Brought in \(Spoken.plural(brought.count, "item"))", brought.first, brought.more)
    }
    if let binding {
      say("One touch would bind \(binding.count) of them to the fingers enrolled here", binding.first, binding.more)
    }
    if alreadyThere.count > 0 {
      say(
        "\(Spoken.plural(alreadyThere.count, "item")) of it \(alreadyThere.count == 1 ? "is" : "are") in the store already, "
          + "unchanged",
        alreadyThere.first, alreadyThere.more)
    }
    if duplicates.count > 0 {
      say(
        "\(Spoken.plural(duplicates.count, "entry", "entries")) with the name of an earlier one: rename one of them, and "
          + "import again", duplicates.first, duplicates.more)
    }
    if !staying.isEmpty {
      say(
        "Not imported completely: \(Spoken.plural(staying.count + stayingMore, "entry", "entries"))",
        staying.map(\.words), stayingMore)
    }
    for words in leftOut { StandardError.line("Left out: \(Visible.text(words)).") }
  }

  private func say(_ head: String, _ lines: [String], _ more: Int) {
    StandardError.line(head + (lines.isEmpty ? "." : ":"))
    for line in lines { StandardError.line("  \(Visible.text(line))") }
    if more > 0 { StandardError.line("  and \(more) more") }
  }
}

extension MoveObstacle {
  /// Where items are copied to.
  enum Destination {
    /// The store in the system service (`whorl migrate`).
    case service
    /// An encrypted file (`whorl export`).
    case export
    /// The user's store, from the copy of another store (`whorl restore`).
    case storeOfRestore
  }

  /// Why the item is not copied, and what can be done.
  func words(_ destination: Destination) -> String {
    switch self {
    case .dead: "the fingers or the passcode that it was bound to are gone"
    case .damaged: "it is damaged"
    case .neverLeaves:
      switch destination {
      case .service: "it is a key that never leaves its store: make another in the service"
      case .storeOfRestore: "it is a key that never leaves its store: make another here"
      case .export: "it is a key that never leaves its store: make another on the other machine"
      }
    case .applicationPassword:
      switch destination {
      case .service: "it has a password of its own: read it with 'whorl get --store' and store it with 'whorl set'"
      case .export: "it has a password of its own: read it with 'whorl get' and store it there with 'whorl set'"
      case .storeOfRestore:
        "it has a password of its own: 'whorl restore --store' with a new directory makes a store where 'whorl get' reads it"
      }
    case .noFinger:
      switch destination {
      case .service, .export: "it needs a finger, and the service has none: 'whorl migrate --enroll FINGER'"
      case .storeOfRestore: "it needs a finger, and your store has none: 'whorl enroll' first"
      }
    case .fingerThere:
      "it needs a finger of that other store: 'whorl restore --store' with a new directory makes a store where one can be used"
    case .changedSince:
      "it was changed after the service got an item of that name: compare the two, and remove one with 'whorl rm'"
    case .ofThisMachine:
      switch destination {
      case .service, .export: "it is an entry of 'whorl login' on this machine: make it there with 'whorl login'"
      case .storeOfRestore: "it is an entry of 'whorl login' of that other store: make your own with 'whorl login'"
      }
    case .unreadable(let error): Failure(error).what
    }
  }
}

extension Failure {
  /// A part of a source was not imported, as the report has listed.
  ///
  /// - Parameter isTold: whether the report was for a program, which reads the status.
  static func incomplete(isTold: Bool) -> Failure {
    Failure(
      .incomplete, "not everything was imported: the rest is listed above, with the reasons",
      advice: "correct that and import again: nothing is imported twice", isTold: isTold)
  }
}
