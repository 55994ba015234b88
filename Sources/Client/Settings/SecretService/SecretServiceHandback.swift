internal import Glibc
internal import Moving
internal import Processes
internal import Prompts
internal import SecretModel
internal import Whorl

/// Gives the Secret Service back to the program that had it, with what programs have stored in Whorl meanwhile.
package struct SecretServiceHandback {
  private let dialogue: any ChangeDialogue
  private var context: any SettingsContext { dialogue.context }
  private let files: SecretServiceFiles
  private let dryRun: Bool

  /// - Parameter dryRun: whether to change nothing, and only say what would be done.
  package init(_ dialogue: any ChangeDialogue, dryRun: Bool) throws(Failure) {
    (self.dialogue, self.dryRun, files) = (dialogue, dryRun, try SecretServiceFiles())
  }

  package func run(_ manager: ServiceManager) async throws(Failure) -> SecretServiceReturnReport {
    var report = SecretServiceReturnReport(dryRun: dryRun)
    if dryRun {
      report.removed = files.all.filter { $0.ownLines != nil }.map(\.path)
    } else {
      for file in files.all where try file.remove() { report.removed.append(file.path) }
      try LastCopy().forget()
      // What is only in Whorl goes back even where KWallet's settings cannot be changed.
      do throws(Failure) {
        if let settings = try KWalletSettings.here(), !settings.takingBack.isEmpty {
          try manager.changeKWallet(by: settings.takingBack)
          report.kwallet = true
        }
      } catch {
        dialogue.tell(.failed(error))
      }
    }
    for each in report.progressOfFiles { dialogue.tell(each) }
    if !dryRun { try await giveBack(manager, hadFiles: !report.removed.isEmpty) }
    let items = try await items()
    if !items.isEmpty { try await copy(items, &report) }
    return report
  }

  /// The items of the Secret Service in the store; none without a store.
  private func items() async throws(Failure) -> [SecretServiceItem] {
    guard try await context.openStoreIfThere() != nil else { return [] }
    return try await context.request { try await SecretServiceReturn.items(of: $0) }
  }

  /// Ends Whorl's service, so that the bus starts the other program's.
  private func giveBack(_ manager: ServiceManager, hadFiles: Bool) async throws(Failure) {
    let holder: SecretServiceHolderReport?
    // Without a bus there is no other program.
    do { holder = try await SecretServiceHolderReport.current() } catch { return }
    guard hadFiles || holder?.own == true else { return }
    // Report errors here and continue; the copy then reports which program is the Secret Service.
    func attempt(_ step: () async throws(Failure) -> Void) async {
      do throws(Failure) { try await step() } catch { dialogue.tell(.failed(error)) }
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

  private func copy(_ items: [SecretServiceItem], _ report: inout SecretServiceReturnReport) async throws(Failure) {
    guard let holder = await other() else {
      report.unread = items
      return
    }
    report.program = holder.name
    do throws(Failure) {
      if !dryRun { try await openKeyring(for: holder) }
      let dryRun = dryRun
      let copy = try await context.request {
        try await SecretServiceReturn(onBus: BaseDirectories.sessionBus, from: $0)
      }
      var manner = ChangeAsking("copy what programs have stored in Whorl back into \(PromptLabel.text(holder.name))")
      manner.keepsEvidence = true
      report.outcome = try await dialogue.asking(manner) { _, asking in
        dryRun ? try await copy.plan(asking) : try await copy.copy(asking)
      }
    } catch {
      // What is only in Whorl is named, whatever the reason.
      guard !dryRun, error.name != Failure.cancelled.name else { throw error }
      (report.unread, report.obstacle) = (items, error)
    }
  }

  /// Opens a login keyring whose password only Whorl knows. GNOME would ask for it, and nobody could answer.
  private func openKeyring(for holder: SecretServiceHolderReport) async throws(Failure) {
    guard holder.isGnomeKeyring,
      try await context.request({ try await LoginEntries(in: $0).has(KeyringRekeying.entry) })
    else { return }
    try await dialogue.openIfWaiting(to: "open the login keyring")
    guard
      let secret = try await context.request({ try await LoginEntries(in: $0).secret(of: KeyringRekeying.entry) })
    else { return }
    let opening = KeyringOpening(try context.keyringPlaces())
    do { try opening.open(with: secret.bytes) } catch { throw context.explained(error) }
  }

  /// The program that is the Secret Service instead of Whorl, started by the bus if possible; nil if there is none.
  private func other() async -> SecretServiceHolderReport? {
    // Without a bus there is none. A dry run starts no program.
    let found = dryRun ? try? await SecretServiceHolderReport.current() : try? await SecretServiceHolderReport.running()
    guard let holder = found else { return nil }
    return holder.own ? nil : holder
  }
}
