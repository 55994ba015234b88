import ArgumentParser
import OtherStores
internal import PromptTexts
import SecretModel
import Settings

struct SecretServiceEnable: Command {
  static let configuration = CommandConfiguration(
    commandName: "enable",
    abstract: "Make Whorl the Secret Service of your desktop.",
    discussion: """
      Tells which program has that part now, and writes the files of this user with which whorl-agent takes it over at \
      the next login: the bus starts it when a program asks for a secret, and GNOME Keyring starts without its Secret \
      Service. Files that are not Whorl's are never overwritten. Run 'whorl secret-service import' before that login: \
      it copies what the other program has, which keeps it. What programs store there until then is brought in afterwards. --now takes over at once; a daemon of GNOME Keyring is \
      restarted for it. The service gets the --store, --reader and --config of this command.

      --kwallet also has KWallet of KDE Frameworks 6.14 and later keep in Whorl what KDE's programs store, from the next \
      login on, in place of a service of its own. They find there what 'whorl secret-service import' has copied. \
      'whorl secret-service disable' takes that back, too.

      Examples:
        whorl secret-service enable --dry-run
        whorl secret-service enable --now
        whorl secret-service enable --kwallet
      """)

  static let spoken = "secret-service enable"

  @OptionGroup var options: GlobalOptions

  @Flag(help: "Take over at once, not at the next login.")
  var now = false

  @Flag(help: "Have KWallet use Whorl, too.")
  var kwallet = false

  @Flag(help: "Show what would be done, and change nothing.")
  var dryRun = false

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    // Without a store the service would have nothing to serve.
    _ = try await session.store()
    let files = try SecretServiceFiles()
    let settings = try kwallet ? kwalletSettings() : nil
    let wanted = files.wanted(agent: try SecretServiceFiles.agent(), try ServiceOptions(session.named))
    // Without a bus nobody has the name. With --now, a missing bus is an error.
    let before = now ? try await SecretServiceHolderReport.current() : try? await SecretServiceHolderReport.current()
    for file in wanted { try file.requireOwn() }
    let missing = wanted.filter { $0.state != .current }.map(\.path)
    let obsolete = files.obsolete(beside: wanted)
    if !dryRun {
      noteTime(before)
      _ = try wanted.write()
      _ = try obsolete?.remove()
      if let settings { _ = try KWalletChange(hardening: hardening).use(settings) }
    }
    let portal = files.portalLine
    let report = Report(
      dryRun: dryRun, holder: before, written: missing, removed: obsolete.map { [$0.path] } ?? [], portalLine: portal,
      now: now && !dryRun, kwallet: settings != nil)
    if !options.json { tell(report, files) }
    if now, !dryRun { try await takeOver(files, ServiceManager(hardening: hardening)) }
    if options.json { try JSON.print(report) }
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
      StandardError.line(error.line(command: Self.spoken))
      StandardError.line(
        "After the next login, 'whorl secret-service import' brings in what programs store until then.")
    }
  }

  private func takeOver(_ files: SecretServiceFiles, _ manager: ServiceManager) async throws(Failure) {
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

  private func tell(_ report: Report, _ files: SecretServiceFiles) {
    switch report.holder {
    case nil: StandardError.line("No program is the Secret Service of this session now.")
    case let holder? where holder.own: StandardError.line("Whorl is the Secret Service of this session.")
    case let holder?:
      StandardError.line("The Secret Service of this session is \(Visible.text(holder.words)) now.")
      StandardError.line("'whorl secret-service import' copies what it has; run it before Whorl takes over.")
      if let advice = holder.advice { StandardError.line(advice) }
    }
    for path in report.written { StandardError.line("\(dryRun ? "Would write" : "Wrote") \(Visible.text(path))") }
    for path in report.removed { StandardError.line("\(dryRun ? "Would remove" : "Removed") \(Visible.text(path))") }
    if report.written.isEmpty, report.removed.isEmpty { StandardError.line("All files are in place already.") }
    if let line = report.portalLine {
      StandardError.line(
        "For sandboxed programs (Flatpak), this line belongs into \(files.portalChoice), below [preferred]:")
      StandardError.line("  \(line)")
    }
    if report.kwallet {
      StandardError.line(
        "KWallet \(dryRun ? "would keep" : "keeps") what KDE's programs store in Whorl, from the next login on.")
    }
    if !dryRun, !now {
      StandardError.line("Whorl takes over at your next login. 'whorl secret-service disable' takes it back.")
    }
  }

  private struct Report: Encodable {
    var dryRun: Bool
    /// The program that had the name before.
    var holder: SecretServiceHolderReport?
    /// The files that were written, or would be.
    var written: [String]
    /// The files of an earlier `enable` that were removed, or would be.
    var removed: [String]
    var portalLine: String?
    var now: Bool
    /// Whether KWallet uses Whorl from the next login on, or would.
    var kwallet: Bool
  }
}
