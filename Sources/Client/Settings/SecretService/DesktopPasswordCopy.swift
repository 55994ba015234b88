internal import Moving
internal import Primitives
internal import Prompts
package import SecretModel
internal import Whorl

/// Copies what the program has that keeps the desktop's passwords, while Whorl is not the Secret Service, or what came to
/// its files before Whorl became it.
package struct DesktopPasswordCopy: Sendable {
  private let dialogue: any ChangeDialogue
  private var context: any SettingsContext { dialogue.context }
  /// The rule of what is copied; nil: none, or that of its collection.
  package var access: AccessControl.Constraint?
  /// Whether the other program's secret is taken where the store has the item with another one.
  package var replaces = false
  /// Whether nothing is changed.
  package var dryRun = false
  /// Whether the originals are removed that are the same in the store.
  package var removesOriginals = false
  /// Whether the person has agreed to that in advance.
  package var isAgreed = false

  package init(_ dialogue: any ChangeDialogue) { self.dialogue = dialogue }

  package func run() async throws(Failure) -> SecretServiceImportReport {
    // First, so that the other program shows no prompt if there is no store.
    _ = try await context.openStore()
    if !removesOriginals, let holder = try? await SecretServiceHolderReport.current(), holder.own {
      let files = try MissedFiles(of: try LastCopy().program, context)
      if files.areThere { return try await copy(of: MissedPasswords(dialogue, in: files, access: access)) }
    }
    guard try await isThereAService() else {
      dialogue.tell(.done("No program of this desktop has passwords yet: there is nothing to copy."))
      return SecretServiceImportReport(nothing: dryRun)
    }
    let begun = LastCopy.now
    let running = try await SecretServiceHolderReport.running()?.name
    let program = running ?? "the other program"
    let (access, replaces, dryRun) = (access, replaces, dryRun)
    let copy = try await context.request { vault in
      try await SecretServiceCopy(onBus: BaseDirectories.sessionBus, from: program, to: vault, access: access)
    }
    // A locked store is unlocked for the secrets to compare.
    var report = try await dialogue.asking(ChangeAsking()) { _, asking in
      let plan = try await copy.plan(asking)
      guard !dryRun else { return SecretServiceImportReport(plan, replacing: replaces) }
      return SecretServiceImportReport(plan, try await copy.bring(plan, replacing: replaces, asking))
    }
    // Without the note, a takeover takes its own time.
    if !dryRun { try? LastCopy().note(begun, of: running) }
    for each in report.progress { dialogue.tell(each) }
    let originals = try await originals(of: copy, program)
    for each in originals.progress { dialogue.tell(each) }
    report.originals = originals
    return report
  }

  /// What the other program's files have, while Whorl is the service.
  private func copy(of missed: MissedPasswords) async throws(Failure) -> SecretServiceImportReport {
    try await dialogue.openIfWaiting(to: "bring the passwords in")
    let (dialogue, secret) = (dialogue, try await missed.secret())
    let (copied, closed) = try await missed.read(
      openedWith: secret, others: { await dialogue.passwordOfKeyring($0, wrong: $1) }
    ) { copy in
      let plan = try await copy.plan(.nobody)
      guard !dryRun else { return (SecretServiceImportReport(plan, replacing: replaces), copy.locked) }
      let outcome = try await copy.bring(plan, replacing: replaces, .nobody)
      return (SecretServiceImportReport(plan, outcome), copy.locked)
    }
    if !dryRun { try LastCopy().forget() }
    dialogue.tell(
      .hint("Whorl is the service already, so copies of \(missed.files.program)'s files were read."))
    var report = copied
    report.isNaming = true
    for each in report.progress { dialogue.tell(each) }
    if !closed.isEmpty {
      dialogue.tell(
        .hint(
          "Not read, since they have passwords of their own, which were not given: "
            + "\(closed.map(\.label).sorted().joined(separator: ", ")). To read them, run this again."))
    }
    return report
  }

  /// Whether a program is the Secret Service, or can be started as one. Without one, as in the first session of a
  /// desktop that makes its wallet later, there is nothing to copy.
  ///
  /// - Throws: if there are files of passwords that no program can be asked for.
  private func isThereAService() async throws(Failure) -> Bool {
    let wallets = Self.files(in: try context.kwalletPlaces().folder, ".kwl")
    if try await SecretServiceHolderReport.start(orKWallet: !wallets.isEmpty) { return true }
    // The bus has a program for it that does not start: reading from it will say why.
    if try await SecretServiceHolderReport.mayHoldItems() { return true }
    guard let file = (wallets + Self.files(in: try context.keyringPlaces().folder, ".keyring")).first else {
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
    of copy: SecretServiceCopy, _ program: String
  ) async throws(Failure) -> SecretServiceOriginalsReport {
    let there: [SecretServiceCopy.Entry]
    do { there = try await copy.originals() } catch { throw context.explained(error) }
    guard removesOriginals, !there.isEmpty, !dryRun else {
      return SecretServiceOriginalsReport(program, there, wouldRemove: removesOriginals && dryRun)
    }
    if !isAgreed {
      dialogue.tell(
        .problem(
          "\(program) has \(Spoken.plural(there.count, "item")) that Whorl has too. Those whose secret is the same would be "
            + "removed from it."))
      if try !SecretServiceFiles().isEnabled {
        dialogue.tell(
          .problem("Programs find these again when Whorl is the Secret Service: whorl secret-service enable --now"))
      }
      try await dialogue.confirm("Remove them from \(Visible.text(program))?", assent: "--yes")
    }
    var manner = ChangeAsking(
      "compare what was copied, and remove the originals from \(PromptLabel.text(program))")
    manner.keepsEvidence = true
    let removal = try await dialogue.asking(manner) { _, asking in try await copy.removeOriginals(asking) }
    return SecretServiceOriginalsReport(program, removal)
  }
}
