import ArgumentParser
import CommandBase
internal import Moving
import Primitives
internal import Prompts
import SecretModel
import Settings
import Whorl

struct Export: Command {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write items into an encrypted file, for another machine.",
    discussion: """
      Writes all items, or the named ones, with their secrets, attributes, rules and classes into a new file. It is in \
      the format of age (age-encryption.org/v1), and encrypted under a passphrase, or with --to so that the other machine \
      alone opens it: 'whorl key' there tells its public key. 'whorl import' reads the file.

      One touch, or the passcode where an item needs it, releases all secrets at once; the prompt says what for.

      Keys that never leave their store, items with an application password, dead items and the entries of \
      'whorl login' stay, and are listed. Passkeys go with the others; 'whorl passkey export' writes them for other \
      programs.

      Whoever has the file can try passphrases as fast as their machines allow: choose a long one, or use --to.

      Examples:
        whorl export ~/moving.age
        whorl export keys.age mail/alice forge/token
        whorl export all.age --passphrase-fd 3 3<passphrase
        whorl export desk.age --to "$(cat desk.key)"
      """)

  @OptionGroup var options: GlobalOptions
  @OptionGroup var choice: ItemOptions

  @Argument(help: "The file to write.", completion: .file())
  var file: String

  @Argument(help: ArgumentHelp("The items' names; all items without one.", valueName: "name"), completion: .itemNames)
  var names: [String] = []

  @OptionGroup var export: ExportOptions
  @OptionGroup var progress: QuietOption

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let output = try NewFile(file, replacing: export.replace)
    let bar = ProgressBar("Exporting", progress, options)
    let work = try await session.request { ItemExport(from: $0) { bar?.show($0, of: $1) } }
    var search = choice.search
    if !names.isEmpty {
      search.ids = try await ItemChoice(options: choice, purpose: .reading, session: session).readable(
        named: names)
    }
    let plan = try await session.explained { [search] () async throws(VaultError) in try await work.plan(search) }
    guard plan.count > 0 else { throw .nothingToExport(plan) }
    let answers = session.answers()
    let recipient = try export.recipient(answers)
    let what = "\(isEverything ? "ALL " : "")\(Spoken.plural(plan.count, "item"))"
    let outcome = try await session.withPrivateVault { vault throws(Failure) in
      try await session.asking(
        answers, options: session.fileContext, reason: "export \(what) to \(Visible.text(file))"
      ) { _, asking in
        // Prompt before the file is made, so that there is no file if the person does not give what the items require.
        try await work.ask(plan, asking)
        defer { bar?.end() }
        return try await output.write { descriptor throws(Failure) in
          try await session.explained { () async throws(VaultError) in
            try await work.write(plan, to: descriptor, for: recipient, by: vault, asking)
          }
        }
      }
    }
    try ExportReport(file: file, outcome).print(json: options.json)
  }

  private var isEverything: Bool { names.isEmpty && !choice.narrows }
}

extension Session {
  /// The context for writing or opening a file: one touch and one passcode serve all items.
  var fileContext: ContextOptions {
    var context = contextOptions
    context.keepsEvidence = true
    return context
  }
}

extension Failure {
  fileprivate static func nothingToExport(_ plan: ItemExport.Plan) -> Failure {
    guard let first = plan.staying.first else {
      return Failure(
        .notFound, "there are no items to export", name: "errSecItemNotFound", advice: "'whorl set' stores one")
    }
    let others = plan.staying.count - 1
    let more = others > 0 ? ", and \(Spoken.plural(others, "other"))" : ""
    return Failure(
      .refused, "nothing can be exported: \(first.item.called): \(first.obstacle.words(.export))\(more)",
      name: "errSecInteractionNotAllowed", advice: "'whorl export --help' lists what cannot be exported")
  }
}

/// The recipient of an exported file, and whether the file may replace another one.
struct ExportOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Encrypt to this public key.", discussion: "'whorl key' shows that of a store.", valueName: "key"))
  var to: AgePublicKey?

  @OptionGroup var passphrase: PassphraseOption

  @Flag(help: "Overwrite a file of that name.")
  var replace = false

  func validate() throws {
    if to != nil, passphrase.passphraseFd != nil {
      throw ValidationError("--to and --passphrase-fd exclude each other.")
    }
  }

  /// Asks for a passphrase if no key is given.
  func recipient(_ answers: Answers) throws(Failure) -> EncryptedFile.Recipient {
    if let to { .publicKey(to) } else { .passphrase(try passphrase.new(answers)) }
  }
}

/// The report of `whorl export`.
struct ExportReport: Encodable {
  private var file: String
  private var exported: Int
  private var staying: [MigrationReport.Staying]

  init(file: String, _ outcome: ItemExport.Outcome) {
    self.file = file
    exported = outcome.count
    staying = outcome.staying.map { MigrationReport.Staying(item: $0.item.called, reason: $0.obstacle.words(.export)) }
  }

  func print(json: Bool) throws(Failure) {
    if json { return try JSON.print(self) }
    StandardError.line("Exported \(Spoken.plural(exported, "item")) to \(Visible.text(file)).")
    guard !staying.isEmpty else { return }
    StandardError.line("Not exported: \(Spoken.plural(staying.count, "item")):")
    for item in staying { StandardError.line("  \(Visible.text("\(item.item): \(item.reason)"))") }
  }
}
