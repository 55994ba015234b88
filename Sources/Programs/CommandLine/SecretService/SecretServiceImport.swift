import ArgumentParser
internal import Moving
import OtherStores
import Primitives
internal import PromptTexts
import SecretModel
import SecretServiceItems
import SecureMemory
import Settings
import Wallets
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
      here. What is there stays as it is: an import can be run again. It compares the secrets of items without a rule, \
      and tells which are others here, such as one that a sandboxed program was given anew and cannot open its files \
      with. --replace takes the other program's secret for these, and for items with a rule, which keep it.

      What programs stored between the copy and the moment when Whorl took over is brought in by itself, and named in a \
      notification, where Whorl can open the other program's files ('whorl login enable gnome-keyring' or 'kwallet'). \
      Elsewhere run this again: while Whorl is the service, it asks for the password of the login keyring or of \
      KWallet, and reads copies of the files. It asks for the passwords of other keyrings, too, unless the login keyring \
      has them; with nothing typed such a keyring is left out.

      The originals stay readable in the other program, for every program of yours and without a finger, also where the \
      copies are gated here. --remove-old copies what is missing, and then removes the originals whose secrets are the \
      same here, after it has asked: each is compared immediately before. Items with a rule ask for a touch. Programs \
      find what was removed when Whorl is the service ('whorl secret-service enable --now'); \
      'whorl secret-service disable' copies it back.

      Examples:
        whorl secret-service import --dry-run
        whorl secret-service import
        whorl secret-service import --replace --dry-run
        whorl secret-service import --remove-old
      """)

  static let spoken = "secret-service import"

  @OptionGroup var options: GlobalOptions

  @Option(help: "What releases the secrets.")
  var access: AccessControl.Constraint?

  @Flag(help: "Take the other program's secret where the store has the item with another one.")
  var replace = false

  @Flag(help: "Show what would be copied and removed, and change nothing.")
  var dryRun = false

  @Flag(help: "Remove the originals that are the same in Whorl from the other program.")
  var removeOld = false

  @Flag(name: .shortAndLong, help: "Do not ask whether to remove the originals.")
  var yes = false

  @Option(
    help: ArgumentHelp(
      "Read passwords from this descriptor, where Whorl is the service already: that of the login keyring or of KWallet, and "
        + "then a line for each keyring with a password of its own.", valueName: "n"),
    transform: GivenDescriptors.number)
  var passwordFd: Int32?

  // For whorl-agent: brings in what came after the last copy, and asks nobody.
  @Flag(help: .hidden)
  var missed = false

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    // Open the store first, so that the other program shows no prompt if there is no store.
    if missed {
      let copied = try LastCopy()
      guard copied.time != nil else { return }
      return try await MissedPasswords(
        session: session, store: try await session.store(), files: try MissedFiles(of: copied.program, session),
        access: nil
      ).bringByItself(since: copied)
    }
    let store = try await session.store()
    if !removeOld, let holder = try? await SecretServiceHolderReport.current(), holder.own {
      let files = try MissedFiles(of: try LastCopy().program, session)
      let missed = MissedPasswords(session: session, store: store, files: files, access: access)
      if files.areThere { return try await bring(missed, into: store, session) }
    }
    guard try await isThereAService(session) else {
      let report = SecretServiceImportReport(nothing: dryRun)
      if options.json { return try JSON.print(report) }
      return StandardError.line("No program of this desktop has passwords yet: there is nothing to copy.")
    }
    let begun = LastCopy.now
    do {
      let running = try await SecretServiceHolderReport.running()?.name
      let program = running ?? "the other program"
      let copy = try await SecretServiceCopy(
        onBus: BaseDirectories.sessionBus, from: program, to: store, access: access)
      // A locked store is unlocked for the secrets to compare.
      var report = try await session.asking(store, session.answers()) { asking in
        let plan = try await copy.plan(asking)
        guard !dryRun else { return SecretServiceImportReport(plan, replacing: replace) }
        return SecretServiceImportReport(plan, try await copy.bring(plan, replacing: replace, asking))
      }
      // Without the note, 'enable' takes its own time.
      if !dryRun { try? LastCopy().note(begun, of: running) }
      if !options.json { report.tell() }
      let originals = try await originals(of: copy, program, in: store, session)
      if !options.json { return originals.tell() }
      report.originals = originals
      try JSON.print(report)
    } catch {
      throw session.explained(error)
    }
  }

  /// Brings in what the other program's files have, while Whorl is the service.
  private func bring(
    _ missed: MissedPasswords, into store: any VaultService, _ session: Session
  ) async throws(Failure) {
    try await session.openIfWaiting(store, session.answers(), to: "bring the passwords in")
    let passwords = WalletPasswords(answers: session.answers(), descriptor: passwordFd)
    let secret: SharedSecret
    if let own = try await missed.ownSecret() { secret = own } else { secret = try await missed.typedSecret(passwords) }
    let (report, closed) = try await missed.read(
      openedWith: secret, others: { passwords.ofKeyring($0, wrong: $1) }
    ) { copy in
      let plan = try await copy.plan(.nobody)
      guard !dryRun else { return (SecretServiceImportReport(plan, replacing: replace), copy.locked) }
      return (
        SecretServiceImportReport(plan, try await copy.bring(plan, replacing: replace, .nobody)), copy.locked
      )
    }
    if !dryRun { try LastCopy().forget() }
    if options.json { return try JSON.print(report) }
    StandardError.line("Whorl is the service already, so copies of \(missed.files.program)'s files were read.")
    report.tell(naming: true)
    if !closed.isEmpty {
      StandardError.line(
        Visible.text(
          "Not read, since they have passwords of their own, which were not given: "
            + "\(closed.map(\.label).sorted().joined(separator: ", ")). To read them, run this again."))
    }
  }

  /// Whether a program is the Secret Service, or can be started as one. Without one, as in the first session of a
  /// desktop that makes its wallet later, there is nothing to copy.
  ///
  /// - Throws: if there are files of passwords that no program can be asked for.
  private func isThereAService(_ session: Session) async throws(Failure) -> Bool {
    let wallets = Self.files(in: try session.kwalletPlaces().folder, ".kwl")
    if try await SecretServiceHolderReport.start(orKWallet: !wallets.isEmpty) { return true }
    // The bus has a program for it that does not start: reading from it will say why.
    if try await SecretServiceHolderReport.mayHoldItems() { return true }
    guard let file = (wallets + Self.files(in: try session.keyringPlaces().folder, ".keyring")).first else {
      return false
    }
    throw Failure(
      .unavailable, "there are passwords in \(file), and the program that keeps them does not run",
      name: "errSecNotAvailable", advice: "start it (KWallet or GNOME Keyring), and then run this again")
  }

  private static func files(in folder: String, _ ending: String) -> [String] {
    (Folder.names(in: folder) ?? []).filter { $0.hasSuffix(ending) }.sorted().map { "\(folder)/\($0)" }
  }

  /// The originals of items that the store has, which are removed on request.
  private func originals(
    of copy: SecretServiceCopy, _ program: String, in store: any VaultService, _ session: Session
  ) async throws -> SecretServiceOriginalsReport {
    let there = try await copy.originals()
    guard removeOld, !there.isEmpty, !dryRun else {
      return SecretServiceOriginalsReport(program, there, wouldRemove: removeOld && dryRun)
    }
    if !yes {
      StandardError.line(
        "\(Visible.text(program)) has \(Spoken.plural(there.count, "item")) that Whorl has too. Those whose secret is the "
          + "same would be removed from it.")
      if try !SecretServiceFiles().isEnabled {
        StandardError.line(
          "Programs find these again when Whorl is the Secret Service: whorl secret-service enable --now")
      }
      try session.answers().confirm("Remove them from \(Visible.text(program))?", assent: "--yes")
    }
    var context = session.contextOptions
    // One touch and one passcode serve all items.
    context.keepsEvidence = true
    let removal = try await session.asking(
      store, session.answers(), options: context,
      reason: "compare what was copied, and remove the originals from \(PromptLabel.text(program))"
    ) { try await copy.removeOriginals($0) }
    return SecretServiceOriginalsReport(program, removal)
  }
}

/// The report of `whorl secret-service import`: its plan or its result.
private struct SecretServiceImportReport: Encodable {
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

  /// The most items that are listed for people.
  private static let listed = 20

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

  /// Prints for people, on standard error, what is imported.
  ///
  /// - Parameter naming: whether to list what was copied, as for a plan.
  func tell(naming: Bool = false) {
    let isListed = (dryRun || naming) && !brought.isEmpty
    StandardError.line(
      "\(dryRun ? "Would copy" : "Copied") \(Spoken.plural(brought.count, "item"))\(isListed ? ":" : ".")")
    if isListed { list(brought.map(\.words)) }
    if !replaced.isEmpty {
      StandardError.line(
        "\(dryRun ? "Would replace" : "Replaced") the secret of \(Spoken.plural(replaced.count, "item")):")
      list(replaced.map(\.words))
    }
    if !alreadyThere.isEmpty {
      StandardError.line(
        "\(Spoken.plural(alreadyThere.count, "item")) of it \(alreadyThere.count == 1 ? "is" : "are") in the store already, unchanged."
      )
    }
    if !differing.isEmpty {
      StandardError.line(
        "\(differing.count) of these \(differing.count == 1 ? "has" : "have") another secret here; --replace takes the "
          + "other program's:")
      list(differing.map(\.words))
    }
    if !uncompared.isEmpty {
      StandardError.line(
        "\(uncompared.count) of these \(uncompared.count == 1 ? "was" : "were") not compared, because of a rule here "
          + "or since the other program does not give it out.")
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
