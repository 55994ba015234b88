import ArgumentParser
import CommandBase
internal import Moving
import Primitives
internal import Prompts
import SecretModel
import Settings
import Whorl

struct Migrate: Command {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Copy a private store into the system service.",
    discussion: """
      Copies every item with its attributes, its rule and its class, from the private store into your store in the \
      service ('whorl init' makes that first). What the private store asks for is asked once: its passcode, and one \
      touch of a finger that is enrolled there. Fingers are not copied: --enroll enrols one in the service first, and \
      items with --access current-set are then bound to the service's fingers. Keys that never leave their store, and \
      items with an application password, stay, and are listed.

      In the service, items with --accessible when-unlocked are open only while a session of yours is unlocked. They are \
      listed; --after-first-unlock copies them as after-first-unlock instead.

      The private store stays as it is. It can be migrated again: what the service has already is not copied twice. When \
      everything is there, --remove-old removes it after a question. What the service does not have is named, and goes only \
      if you type the word for it (a script: --delete-only-copies); so does what nobody can read any more. An item that was \
      changed in the private store after it was copied counts as not there. A script's --passcode-fd has a line for each passcode: the service's \
      where a finger is enrolled or the store is closed, then the private store's where an item asks for it.

      Examples:
        whorl migrate --dry-run
        whorl migrate --enroll right-index
        whorl migrate --from ~/old-store --after-first-unlock
        whorl migrate --remove-old
      """)

  @OptionGroup var options: GlobalOptions

  @Option(
    help: ArgumentHelp(
      "The directory of the private store.",
      discussion: "Default: that of the configuration, else $XDG_DATA_HOME/whorl.", valueName: "dir"),
    completion: .directory)
  var from: String?

  @Flag(help: "Show what would be copied, and change nothing.")
  var dryRun = false

  @Option(help: ArgumentHelp("Enrol this finger in the service first.", valueName: "finger"))
  var enroll: Finger?

  @Flag(help: "Open items of the class when-unlocked from the first unlock on.")
  var afterFirstUnlock = false

  @Flag(help: "Remove the private store, if everything in it is in the service.")
  var removeOld = false

  @OptionGroup var onlyCopies: OnlyCopiesOption

  @Flag(name: .shortAndLong, help: "Do not ask whether to remove the private store, or to change the enrolled fingers.")
  var yes = false

  func validate() throws {
    if options.store != nil { throw ValidationError("Name the private store with --from.") }
    if options.reader != nil {
      throw ValidationError("The private store's reader is that of the configuration; name it there.")
    }
    if removeOld, dryRun || enroll != nil || afterFirstUnlock {
      throw ValidationError("--remove-old goes with --from, --yes and \(OnlyCopiesOption.spoken) alone.")
    }
    if onlyCopies.deleteOnlyCopies, !removeOld {
      throw ValidationError("\(OnlyCopiesOption.spoken) goes with --remove-old.")
    }
    if dryRun, enroll != nil { throw ValidationError("--dry-run enrols no finger; leave --enroll out.") }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    guard case .own = try session.place() else {
      throw Failure(
        .unavailable, "the system service is not installed", name: "errSecNotAvailable",
        advice: "install it first; a private store needs no migration without it")
    }
    let source = try await session.explained { () async throws(VaultError) in
      try StorePlace.privateStore(directory: from, session.configuration)
    }
    _ = try await session.openStore()
    let connection = try await session.explained { () async throws(VaultError) in
      try await VaultConnector.connect(to: source, session.configuration)
    }
    let result: Result<Void, Failure>
    do throws(Failure) {
      let old = try await session.explained { () async throws(VaultError) in
        SecretStore(service: try await connection.open(source))
      }
      result = .success(try await perform(try await session.migration(from: old), old, session))
    } catch {
      result = .failure(error)
    }
    await connection.close()
    try result.get()
    if removeOld, case .folder(let folder) = source { try remove(folder.directory) }
  }

  private func perform(_ migration: Migration, _ old: SecretStore, _ session: Session) async throws(Failure) {
    let answers = session.answers()
    if !dryRun, !removeOld { try await prepare(session, answers) }
    let plan = try await session.explained { () async throws(VaultError) in try await migration.plan() }
    if removeOld {
      let named = try agree(to: plan, answers)
      // An item may have been added or changed during the prompt.
      let now = try await session.explained { () async throws(VaultError) in try await migration.plan() }
      guard now.onlyCopies.isWithin(named) else {
        throw Failure(
          .refused, "the private store was changed meanwhile", name: "errSecParam",
          advice: "run 'whorl migrate --remove-old' again")
      }
      return
    }
    if dryRun {
      return try MigrationReport(plan, afterFirstUnlock: afterFirstUnlock).print(json: options.json, from: from)
    }
    var context = session.contextOptions
    // One touch and one passcode serve all items.
    context.keepsEvidence = true
    let opensLater = afterFirstUnlock
    let outcome = try await session.asking(
      answers, options: context, reason: "read the items of the private store", in: old
    ) { _, asking in
      try await migration.move(plan, asking) { item in
        opensLater && item.accessibility == .whenUnlocked ? .afterFirstUnlock : item.accessibility
      }
    }
    try MigrationReport(outcome, afterFirstUnlock: afterFirstUnlock).print(json: options.json, from: from)
  }

  /// Opens the service's store if it is closed, and enrols a finger if the options say so.
  private func prepare(_ session: Session, _ answers: Answers) async throws(Failure) {
    let status = try await session.request { try await $0.status() }
    if let enroll {
      try await EnrolmentChange.allow(session, answers, yes: yes)
      _ = try await session.withPasswordAgent { () async throws(Failure) in
        try await session.asking(answers) { try await $0.enroll(enroll, $1) }
      }
      StandardError.line("\(Spoken.leadingFinger(enroll)) is enrolled in the service.")
    } else if status.firstUnlock == .passcode, status.openClasses.isEmpty {
      StandardError.line("Your store in the service is locked.")
      try await session.asking(answers, reason: "open your store in the service") {
        try await $0.unlock($1)
      }
    }
  }

  /// Names what would be lost, and asks.
  ///
  /// - Returns: what was named.
  private func agree(to plan: MigrationPlan, _ answers: Answers) throws(Failure) -> OnlyCopies {
    StandardError.line("The service has \(Spoken.plural(plan.alreadyThere.count, "item")) of the private store.")
    let only = plan.onlyCopies
    try only.requireAgreement(to: "the private store", onlyCopies, answers)
    if only.isEmpty, !yes { try answers.confirm("Remove the private store?", assent: "--yes") }
    return only
  }

  private func remove(_ directory: String) throws(Failure) {
    try PrivateStoreFiles.remove(directory)
    if options.json { return try JSON.print(["removed": directory]) }
    StandardError.line("Removed \(Visible.text(directory)).")
  }
}

extension Session {
  /// The copying of another store's items into that of the session.
  func migration(from old: SecretStore) async throws(Failure) -> Migration {
    try await request { new in try await old.call { old throws(VaultError) in Migration(from: old, to: new) } }
  }
}

extension MigrationPlan {
  /// What the service does not have.
  fileprivate var onlyCopies: OnlyCopies { OnlyCopies(of: self) { $0.words(.service) } }
}

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
