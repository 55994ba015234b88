import ArgumentParser
import Glibc
import OtherStores
import Processes
internal import PromptTexts
import SecretModel
import Settings
import Wallets
import Whorl

struct SecretServiceDisable: Command {
  static let configuration = CommandConfiguration(
    commandName: "disable",
    abstract: "Give the Secret Service back to the program that had it.",
    discussion: """
      Removes the files that 'whorl secret-service enable' has written, and no others, and lets the program from before \
      take over at once. What programs have stored or changed in Whorl meanwhile is copied there: items without a rule \
      as they are, and items with one after the finger or the passcode that they ask for. Each is read again and \
      compared. What cannot be copied is named, with the exit status 79. Whorl keeps all of it, and nothing is removed \
      there. Where this was interrupted, run it again: what is there is not copied twice. A login keyring whose password \
      only Whorl knows is opened for it.

      The other program may ask for its password. --dry-run shows what would be done; while Whorl is the service, the \
      other program cannot be read, and what Whorl has is listed.

      Examples:
        whorl secret-service disable --dry-run
        whorl secret-service disable
      """)

  static let spoken = "secret-service disable"

  @OptionGroup var options: GlobalOptions

  @Flag(help: "Show what would be done, and change nothing.")
  var dryRun = false

  // Ignored, since disabling always happens at once: later items could not be copied. Kept for scripts.
  @Flag(help: .hidden)
  var now = false

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let files = try SecretServiceFiles()
    var report = SecretServiceReturnReport(dryRun: dryRun)
    if dryRun {
      report.removed = files.all.filter { $0.ownLines != nil }.map(\.path)
    } else {
      for file in files.all where try file.remove() { report.removed.append(file.path) }
      try LastCopy().forget()
      if let settings = try KWalletSettings.here() {
        report.kwallet = try KWalletChange(hardening: hardening).takeBack(settings)
      }
    }
    if !options.json { report.tellFiles() }
    if !dryRun { try await giveBack(files, ServiceManager(hardening: hardening), hadFiles: !report.removed.isEmpty) }
    if let store = try await storeWithItems(session) { try await copy(from: store, &report, session) }
    try report.print(json: options.json)
    if !dryRun, !report.isWhole { throw .notAllCopiedBack(isTold: options.json) }
  }

  /// The store, if it is there and has items of the Secret Service.
  private func storeWithItems(_ session: Session) async throws(Failure) -> (any VaultService)? {
    let store: any VaultService
    do throws(Failure) {
      store = try await session.store()
    } catch {
      guard error.status == .notFound else { throw error }
      return nil
    }
    let items = try await session.explained { () async throws(VaultError) in
      try await SecretServiceReturn.items(of: store)
    }
    return items.isEmpty ? nil : store
  }

  /// Ends Whorl's service, so that the bus starts the other program's.
  private func giveBack(
    _ files: SecretServiceFiles, _ manager: ServiceManager, hadFiles: Bool
  ) async throws(Failure) {
    let holder: SecretServiceHolderReport?
    // Without a bus there is no other program.
    do { holder = try await SecretServiceHolderReport.current() } catch { return }
    guard hadFiles || holder?.own == true else { return }
    // Report errors here and continue; the copy then reports which program is the Secret Service.
    func attempt(_ step: () async throws(Failure) -> Void) async {
      do throws(Failure) { try await step() } catch { StandardError.line(error.line(command: Self.spoken)) }
    }
    if files.unit.isInstalled || files.keyring.isInstalled {
      await attempt { () async throws(Failure) in try manager.reload() }
    }
    await attempt { () async throws(Failure) in try await manager.reloadBus() }
    if files.unit.isInstalled { await attempt { () async throws(Failure) in try manager.stop(files.unit) } }
    // Without the unit, the bus has started the program itself.
    if let now = try await SecretServiceHolderReport.current(), now.own, let process = now.process,
      let running = ProcessHandle(process)
    {
      running.signal(SIGTERM)
      await running.ended(within: .seconds(10))
    }
    // A running GNOME Keyring daemon takes over when the bus starts the name, and its keyrings stay open. One that the
    // bus cannot start is restarted.
    if files.keyring.isInstalled, try await !SecretServiceHolderReport.start() {
      await attempt { () async throws(Failure) in try manager.restart(files.keyring) }
    }
  }

  private func copy(
    from store: any VaultService, _ report: inout SecretServiceReturnReport, _ session: Session
  ) async throws(Failure) {
    let items = try await session.explained { () async throws(VaultError) in
      try await SecretServiceReturn.items(of: store)
    }
    guard let holder = try await other() else {
      report.unread = items
      return
    }
    report.program = holder.name
    do {
      if !dryRun { try await openKeyring(for: holder, store, session) }
      let copy = try await SecretServiceReturn(onBus: BaseDirectories.sessionBus, from: store)
      var context = session.contextOptions
      // One touch and one passcode serve all items.
      context.keepsEvidence = true
      let dryRun = dryRun
      report.outcome = try await session.asking(
        store, session.answers(), options: context,
        reason: "copy what programs have stored in Whorl back into \(PromptLabel.text(holder.name))"
      ) { asking in
        dryRun ? try await copy.plan(asking) : try await copy.copy(asking)
      }
    } catch {
      let failure = session.explained(error)
      // What is only in Whorl is named, whatever the reason.
      guard !dryRun, failure.name != Failure.cancelled.name else { throw failure }
      (report.unread, report.obstacle) = (items, failure)
    }
  }

  /// Opens a login keyring whose password only Whorl knows. GNOME would ask for it, and nobody could answer.
  private func openKeyring(
    for holder: SecretServiceHolderReport, _ store: any VaultService, _ session: Session
  ) async throws {
    guard holder.isGnomeKeyring else { return }
    let entries = LoginEntries(in: store)
    guard try await entries.has(KeyringRekeying.entry) else { return }
    try await session.openIfWaiting(store, session.answers(), to: "open the login keyring")
    guard let secret = try await entries.secret(of: KeyringRekeying.entry) else { return }
    try KeyringOpening(try session.keyringPlaces()).open(with: secret.bytes)
  }

  /// The program that is the Secret Service instead of Whorl, started by the bus if possible; nil if there is none.
  private func other() async throws(Failure) -> SecretServiceHolderReport? {
    // Without a bus there is none. A dry run starts no program.
    let found = dryRun ? try? await SecretServiceHolderReport.current() : try? await SecretServiceHolderReport.running()
    guard let holder = found else { return nil }
    return holder.own ? nil : holder
  }
}

extension Failure {
  /// Not everything could be copied to the program that is the Secret Service again. The report lists what.
  fileprivate static func notAllCopiedBack(isTold: Bool) -> Failure {
    Failure(
      .incomplete, "not everything was copied back: the rest is listed above, and is still in Whorl",
      advice:
        "correct that and run 'whorl secret-service disable' again: nothing is copied twice. What stayed locked opens "
        + "when you log in to the desktop with its password",
      isTold: isTold)
  }
}
