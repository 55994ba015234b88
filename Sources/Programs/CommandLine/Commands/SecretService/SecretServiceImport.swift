import ArgumentParser
import OtherStores
import SecretModel
import Whorl

struct SecretServiceImport: Command {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Copy what the desktop's Secret Service has.",
    discussion: """
      Copies every collection of the program that is the Secret Service now (GNOME Keyring, KWallet, KeePassXC), with \
      labels, attributes, content types and secrets, so that programs find their passwords when Whorl has taken over. \
      The default collection becomes 'login'. The collection of items that end with the session is left out. The other \
      program may ask for its password, and keeps what it has.

      What is copied opens with the session, as before, unless --access says otherwise or its collection has a rule \
      here. What is there stays as it is: an import can be run again.

      Examples:
        whorl secret-service import --dry-run
        whorl secret-service import
      """)

  static let spoken = "secret-service import"

  @OptionGroup var options: GlobalOptions

  @Option(help: "What releases the secrets.")
  var access: AccessControl.Constraint?

  @Flag(help: "Only tell what would be copied.")
  var dryRun = false

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    // Open the store first, so that the other program asks nobody if there is no store.
    let store = try await session.store()
    do {
      let copy = try await SecretServiceCopy(onBus: BaseDirectories.sessionBus, to: store, access: access)
      let plan = try await copy.plan()
      let report =
        dryRun ? SecretServiceImportReport(plan) : SecretServiceImportReport(plan, try await copy.bring(plan))
      try report.print(json: options.json)
    } catch {
      throw session.explained(error)
    }
  }
}

/// The report of `whorl secret-service import`: its plan or its result.
private struct SecretServiceImportReport: Encodable {
  struct Entry: Encodable {
    var collection: String
    var label: String

    init(_ entry: SecretServiceCopy.Entry) { (collection, label) = (entry.collection, entry.label) }
  }

  struct Staying: Encodable {
    var item: String
    var reason: String
  }

  /// The most items that are listed for people.
  private static let listed = 20

  var dryRun: Bool
  /// The collections that are new to the store.
  var collections: [String]
  var brought: [Entry]
  var alreadyThere: [Entry]
  var staying: [Staying]

  /// What would be done.
  init(_ plan: SecretServiceCopy.Plan) {
    dryRun = true
    collections = plan.collections.map(\.name)
    (brought, alreadyThere) = (plan.coming.map(Entry.init), plan.alreadyThere.map(Entry.init))
    staying = plan.unusable.map { Staying(item: $0.called, reason: $0.reason.words) }
  }

  /// What was done.
  init(_ plan: SecretServiceCopy.Plan, _ outcome: SecretServiceCopy.Outcome) {
    dryRun = false
    collections = plan.collections.map(\.name)
    (brought, alreadyThere) = (outcome.brought.map(Entry.init), outcome.alreadyThere.map(Entry.init))
    staying = outcome.unusable.map { Staying(item: $0.called, reason: $0.reason.words) }
  }

  func print(json: Bool) throws(Failure) {
    if json { return try JSON.print(self) }
    let end = dryRun && !brought.isEmpty ? ":" : "."
    StandardError.line("\(dryRun ? "Would copy" : "Copied") \(Spoken.plural(brought.count, "item"))\(end)")
    if dryRun { list(brought.map { "\($0.collection): \($0.label)" }) }
    if !alreadyThere.isEmpty {
      StandardError.line(
        "\(Spoken.plural(alreadyThere.count, "item")) of it the store has already, and keeps as it is.")
    }
    if !staying.isEmpty {
      StandardError.line("\(Spoken.plural(staying.count, "item")) \(dryRun ? "would stay" : "stayed") where it is:")
      list(staying.map { "\($0.item): it \($0.reason)" })
    }
  }

  private func list(_ lines: [String]) {
    for line in lines.prefix(Self.listed) { StandardError.line("  \(Visible.text(line))") }
    if lines.count > Self.listed { StandardError.line("  and \(lines.count - Self.listed) more") }
  }
}
