/// Makes Whorl the Secret Service of the user's desktop, or says what that would change.
package struct SecretServiceTakeover {
  /// What was done, or would be.
  package struct Report: Encodable {
    let dryRun: Bool
    /// The program that had the name before.
    let holder: SecretServiceHolderReport?
    /// The files that were written, or would be.
    let written: [String]
    /// The files of an earlier takeover that were removed, or would be.
    let removed: [String]
    let portalLine: String?
    /// Whether Whorl takes over at once, and not at the next login.
    let now: Bool
    /// Whether KWallet uses Whorl from the next login on, or would.
    let kwallet: Bool
  }

  private let dialogue: any ChangeDialogue
  private var context: any SettingsContext { dialogue.context }
  private let files: SecretServiceFiles

  package init(_ dialogue: any ChangeDialogue) throws(Failure) {
    (self.dialogue, files) = (dialogue, try SecretServiceFiles())
  }

  /// - Parameters:
  ///   - isAtOnce: whether to take over now, and not at the next login.
  ///   - withKWallet: whether KWallet is to use Whorl, too.
  ///   - dryRun: whether to change nothing.
  package func run(
    atOnce isAtOnce: Bool, withKWallet: Bool, dryRun: Bool, _ manager: ServiceManager
  ) async throws(Failure) -> Report {
    // Without a store the service would have nothing to serve.
    _ = try await context.openStore()
    let settings = withKWallet ? try kwalletSettings() : nil
    let wanted = files.wanted(agent: try SecretServiceFiles.agent(), try ServiceOptions(context.named))
    // Without a bus nobody has the name. To take over at once needs one.
    let before =
      isAtOnce ? try await SecretServiceHolderReport.current() : try? await SecretServiceHolderReport.current()
    for file in wanted { try file.requireOwn() }
    let missing = wanted.filter { $0.state != .current }.map(\.path)
    let obsolete = files.obsolete(beside: wanted)
    if !dryRun {
      noteTime(before)
      _ = try wanted.write()
      _ = try obsolete?.remove()
      if let settings { try manager.changeKWallet(by: settings.using) }
    }
    let report = Report(
      dryRun: dryRun, holder: before, written: missing, removed: obsolete.map { [$0.path] } ?? [],
      portalLine: files.portalLine, now: isAtOnce && !dryRun, kwallet: settings != nil)
    tell(report)
    if report.now { try await takeOver(manager) }
    return report
  }

  private func kwalletSettings() throws(Failure) -> KWalletSettings {
    guard let settings = try KWalletSettings.here() else {
      throw Failure(
        .unavailable, "the KWallet of this computer has no setting for another Secret Service",
        advice: "KDE Frameworks 6.14 and later have one; without --kwallet, Whorl serves programs of other desktops")
    }
    return settings
  }

  /// Notes that what another program gets from now on is to be brought in when Whorl has taken over.
  private func noteTime(_ holder: SecretServiceHolderReport?) {
    do throws(Failure) {
      let copied = try LastCopy()
      if holder?.own != true, copied.time == nil { try copied.note(LastCopy.now, of: holder?.name) }
    } catch {
      dialogue.tell(.failed(error))
      dialogue.tell(
        .problem("After the next login, 'whorl secret-service import' brings in what programs store until then."))
    }
  }

  private func takeOver(_ manager: ServiceManager) async throws(Failure) {
    try manager.reload()
    // Before GNOME Keyring restarts, so that Whorl answers programs in between.
    try await manager.reloadBus()
    if files.keyring.isInstalled { try manager.restart(files.keyring) }
    if let holder = try await SecretServiceHolderReport.current(), !holder.own {
      throw Failure(
        .tryAgain, "\(holder.words) is still the Secret Service",
        advice: "end it there, or log out and in: Whorl is the Secret Service from then on")
    }
    // Without the unit, the bus starts the service when a program first calls it.
    guard files.unit.isInstalled else { return }
    // It may be running with an earlier command line.
    try manager.restart(files.unit)
    try manager.start(files.unit)
  }

  private func tell(_ report: Report) {
    switch report.holder {
    case nil: dialogue.tell(.hint("No program is the Secret Service of this session now."))
    case let holder? where holder.own: dialogue.tell(.hint("Whorl is the Secret Service of this session."))
    case let holder?:
      dialogue.tell(.hint("The Secret Service of this session is \(holder.words) now."))
      dialogue.tell(.hint("'whorl secret-service import' copies what it has; run it before Whorl takes over."))
      if let advice = holder.advice { dialogue.tell(.hint(advice)) }
    }
    for path in report.written { dialogue.tell(.done("\(report.dryRun ? "Would write" : "Wrote") \(path)")) }
    for path in report.removed { dialogue.tell(.done("\(report.dryRun ? "Would remove" : "Removed") \(path)")) }
    if report.written.isEmpty, report.removed.isEmpty { dialogue.tell(.done("All files are in place already.")) }
    if let line = report.portalLine {
      dialogue.tell(
        .hint(
          "For sandboxed programs (Flatpak), this line belongs into \(files.portalChoice), below [preferred]:", [line]))
    }
    if report.kwallet {
      dialogue.tell(
        .done(
          "KWallet \(report.dryRun ? "would keep" : "keeps") what KDE's programs store in Whorl, from the next login on."
        ))
    }
    if !report.dryRun, !report.now {
      dialogue.tell(.hint("Whorl takes over at your next login. 'whorl secret-service disable' takes it back."))
    }
  }
}
