import ArgumentParser
internal import Moving
import OtherStores
internal import PromptTexts
import Wallets
import Whorl

struct SecretServiceStatus: Command {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show which program is the Secret Service.",
    discussion: """
      Which program has that part in this session, whether Whorl is to have it, and the files that say so. Starts no \
      program, and needs no store.

      Examples:
        whorl secret-service status
        whorl secret-service status --json
      """)

  static let spoken = "secret-service status"

  @OptionGroup var options: GlobalOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let files = try SecretServiceFiles()
    // Without a bus nobody has the name.
    let holder = try? await SecretServiceHolderReport.current()
    let chosen = files.writtenOptions
    let wanted = files.wanted(agent: try SecretServiceFiles.agent(), chosen)
    let states = wanted.map { File(path: $0.path, state: $0.state) }
    let report = Report(
      enabled: files.isEnabled, options: chosen.words, holder: holder, unitInstalled: files.unit.isInstalled,
      files: states,
      portalLine: files.portalLine)
    if options.json { return try JSON.print(report) }
    try StandardOutput.line("service  \(Visible.text(holder?.words ?? "no program"))")
    try StandardOutput.line(
      "enabled  \(report.enabled ? "yes" : "no: 'whorl secret-service enable' makes Whorl the service")")
    if !chosen.isEmpty {
      try StandardOutput.line("options  \(Visible.text(chosen.words.joined(separator: " ")))")
    }
    for file in states { try StandardOutput.line("file     \(Visible.text(file.path)): \(file.words)") }
    if report.holder?.own == true, let program = try MissedFiles.changedProgram(session) {
      try StandardOutput.line(
        "missed   \(program) has changed since its passwords were copied: 'whorl secret-service import' brings in what is "
          + "new")
    }
    if report.enabled, let line = report.portalLine {
      try StandardOutput.line("portal   \(Visible.text(files.portalChoice)) does not have the line \(line)")
    }
  }

  private struct File: Encodable {
    var path: String
    var state: MarkedFile.State

    var words: String {
      switch state {
      case .missing: "not there"
      case .current: "Whorl's"
      case .outdated: "Whorl's, of another version: 'whorl secret-service enable' writes it anew"
      case .foreign: "not Whorl's"
      }
    }
  }

  private struct Report: Encodable {
    var enabled: Bool
    /// The options of the service.
    var options: [String]
    var holder: SecretServiceHolderReport?
    var unitInstalled: Bool
    var files: [File]
    var portalLine: String?
  }
}

/// The program that has the name of the Secret Service.
struct SecretServiceHolderReport: Encodable {
  /// The path of its executable, or its name.
  var program: String?
  var process: Int32?
  /// Whether it is Whorl.
  var own: Bool

  /// Nil if nobody has the name.
  ///
  /// - Throws: without a bus.
  static func current() async throws(Failure) -> Self? {
    do throws(ImportError) {
      guard let holder = try await SecretServiceHolder.current(onBus: BaseDirectories.sessionBus) else { return nil }
      return Self(program: holder.program, process: holder.process, own: holder.isOwn)
    } catch {
      throw Failure(error)
    }
  }

  /// Whether Whorl has the name.
  static var isOwn: Bool { get async { (try? await current())?.own == true } }

  /// The owner of the name, started by the bus if there is none.
  ///
  /// - Throws: without a bus.
  static func running() async throws(Failure) -> Self? { try await start() ? try await current() : nil }

  /// Has the bus start a program for the name if nobody owns it. Returns whether it has an owner then.
  ///
  /// - Parameter orKWallet: whether to start KWallet if the bus can start nothing else.
  /// - Throws: without a bus.
  static func start(orKWallet: Bool = false) async throws(Failure) -> Bool {
    do throws(ImportError) {
      return try await SecretServiceHolder.start(
        onBus: BaseDirectories.sessionBus, or: orKWallet ? KWalletDaemon.installed.busName : nil)
    } catch {
      throw Failure(error)
    }
  }

  /// Whether the program that has the name, or would be started for it, may hold items.
  ///
  /// - Throws: without a bus.
  static func mayHoldItems() async throws(Failure) -> Bool {
    do throws(ImportError) {
      return try await SecretServiceHolder.mayHoldItems(onBus: BaseDirectories.sessionBus)
    } catch {
      throw Failure(error)
    }
  }

  private var fileName: String { program.flatMap { $0.split(separator: "/").last }.map(String.init) ?? "" }

  private static let gnomeKeyring = "gnome-keyring-daemon"

  var isGnomeKeyring: Bool { fileName == Self.gnomeKeyring }

  /// Its common name; nil for an unknown program.
  private var knownName: String? {
    own
      ? "Whorl"
      : [
        Self.gnomeKeyring: "GNOME Keyring", "kwalletd5": "KWallet", "kwalletd6": "KWallet", "ksecretd": "KWallet",
        "keepassxc": "KeePassXC", "oo7-daemon": "oo7",
      ][fileName]
  }

  private var path: String { program ?? process.map { "process \($0)" } ?? "an unknown program" }

  /// Its name.
  var name: String { knownName ?? path }

  /// Its name and its path.
  var words: String { own ? name : knownName.map { "\($0) (\(path))" } ?? path }

  /// Advice for a program that Whorl's files cannot prevent from taking the name.
  var advice: String? {
    switch fileName {
    case "kwalletd5", "kwalletd6", "ksecretd":
      "Turn off KWallet's Secret Service, too: apiEnabled=false below [org.freedesktop.secrets] in its kwalletrc."
    case "keepassxc": "Turn off KeePassXC's Secret Service, too: Settings, Secret Service Integration."
    default: nil
    }
  }
}
