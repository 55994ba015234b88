internal import Moving
internal import PromptTexts
import SecretModel

/// The report of `whorl migrate`: its plan or its result.
struct MigrationReport: Encodable {
  struct Staying: Encodable {
    var item: String
    var reason: String
  }

  /// Whether this is a plan and nothing was copied yet.
  private var isPlan: Bool
  /// The items that were copied, or would be.
  private var moved: [String]
  private var alreadyThere: [String]
  private var staying: [Staying]
  /// The copied items that are open only while a session of the user is unlocked.
  private var followingSession: [String]

  /// Whether everything that can be read is in the service, so that the private store may be removed.
  private var isDone: Bool

  private enum CodingKeys: String, CodingKey {
    case isPlan = "dryRun"
    case moved, alreadyThere, staying, followingSession
  }

  init(_ plan: MigrationPlan, afterFirstUnlock: Bool) {
    self.init(
      isPlan: true, plan.movable, plan.alreadyThere, plan.staying, afterFirstUnlock: afterFirstUnlock)
  }

  init(_ outcome: MigrationOutcome, afterFirstUnlock: Bool) {
    self.init(
      isPlan: false, outcome.moved, outcome.alreadyThere, outcome.staying, afterFirstUnlock: afterFirstUnlock)
  }

  private init(
    isPlan: Bool, _ moved: [Item], _ alreadyThere: [Item], _ staying: [StayingItem], afterFirstUnlock: Bool
  ) {
    self.isPlan = isPlan
    isDone = staying.allSatisfy { $0.item.state != .living }
    self.moved = moved.map(\.called)
    self.alreadyThere = alreadyThere.map(\.called)
    self.staying = staying.map { Staying(item: $0.item.called, reason: $0.obstacle.words(.service)) }
    followingSession =
      afterFirstUnlock ? [] : moved.filter(\.followsSession).map(\.called)
  }

  /// - Parameter source: the `--from` of the command.
  func print(json: Bool, from source: String?) throws(Failure) {
    if json { return try JSON.print(self) }
    let there =
      alreadyThere.isEmpty ? "" : "; \(Spoken.plural(alreadyThere.count, "item")) of it \(are(alreadyThere)) there"
    StandardError.line("\(isPlan ? "Would copy" : "Copied") \(Spoken.plural(moved.count, "item"))\(there).")
    if isPlan { list(moved) }
    if !staying.isEmpty {
      StandardError.line("\(Spoken.plural(staying.count, "item")) \(isPlan ? "would stay" : "stayed"):")
      list(staying.map { "\($0.item): \($0.reason)" })
    }
    if !followingSession.isEmpty {
      StandardError.line(
        "Open only while a session of yours is unlocked (--after-first-unlock copies them to be open from the first "
          + "unlock on):")
      list(followingSession)
    }
    if !isPlan {
      let command = ["whorl", "migrate", "--remove-old"] + (source.map { ["--from", $0] } ?? [])
      StandardError.line(
        isDone
          ? "The private store was not changed; '\(Visible.text(ShellLine.text(command)))' removes it."
          : "The private store was not changed. It keeps what stayed, so that it has to stay as well.")
    }
  }

  private func are(_ items: [String]) -> String { items.count == 1 ? "is" : "are" }

  private func list(_ lines: [String]) {
    for line in lines { StandardError.line("  \(Visible.text(line))") }
  }
}

extension Item {
  /// Its name, or its id if it has none.
  var called: String { title ?? id.spoken }
}
