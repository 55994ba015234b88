import ArgumentParser
import CommandBase
internal import Moving
import Primitives
internal import Prompts
import SecretModel
import Settings

struct PasskeyExportCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write passkeys into an encrypted file, for another program.",
    discussion: """
      Writes all passkeys, or the named ones, with their private keys into a new file, in FIDO's Credential Exchange \
      Format 1.0. The file is encrypted in the format of age, under a passphrase, or with --to under the key of who is to \
      open it. One touch, or the passcode where a passkey takes it, releases all of them.

      'whorl passkey import' reads it. For a program that reads no age, decrypt it there: 'age --decrypt' shows it. The \
      passkeys stay here as well. For another machine with Whorl, 'whorl export' takes them with all else.

      Examples:
        whorl passkey export passkeys.age
        whorl passkey export one.age example.com/alice
        whorl passkey export desk.age --to "$(cat desk.key)"
      """)

  static let spoken = "passkey export"

  @OptionGroup var options: GlobalOptions

  @Argument(help: "The file to write.", completion: .file())
  var file: String

  @Argument(
    help: ArgumentHelp(
      "The passkeys: SITE, SITE/ACCOUNT or their ids; all without one.", valueName: "passkey"),
    completion: .passkeyNames)
  var names: [String] = []

  @OptionGroup var export: ExportOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let output = try NewFile(file, replacing: export.replace)
    let stored = StoredPasskeys(in: try await session.openStore())
    let passkeys = names.isEmpty ? try await stored.all() : try await stored.named(names)
    guard !passkeys.isEmpty else {
      throw Failure(
        .notFound, "there are no passkeys to export", name: "errSecItemNotFound",
        advice: "a site makes one, after 'whorl passkey enable'")
    }
    let search = ItemSearch(groups: .all, ids: passkeys.map(\.id), synchronizable: .any)
    let items = try await session.request { try await $0.allItems(search) }
    let answers = session.answers()
    let recipient = try export.recipient(answers)
    let what = "\(names.isEmpty ? "ALL " : "")\(Spoken.plural(passkeys.count, "passkey"))"
    let count = try await session.withPrivateVault { vault throws(Failure) in
      try await session.asking(
        answers, options: session.fileContext, reason: "export \(what) to \(Visible.text(file))"
      ) { store, asking in
        let work = PasskeyExport(items, from: store)
        // Ask before the file is made, so that there is none if the user refuses.
        try await work.ask(asking)
        return try await output.write { descriptor throws(Failure) in
          try await session.explained { () async throws(VaultError) in
            try await work.write(to: descriptor, for: recipient, by: vault, asking)
          }
        }
      }
    }
    if options.json { return try JSON.print(Report(file: file, exported: count)) }
    StandardError.line("Exported \(Spoken.plural(count, "passkey")) to \(Visible.text(file)).")
  }

  private struct Report: Encodable {
    var file: String
    var exported: Int
  }
}

struct PasskeyImportCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Bring in passkeys that another program has exported.",
    discussion: """
      Reads a file in FIDO's Credential Exchange Format 1.0, as 'whorl passkey export' and other programs write it, or a \
      passkey file of KeePassXC. A file in the format of age is decrypted, with its passphrase or this store's key. Any \
      other file is not encrypted: whoever can read it can sign in as you, so remove it when the passkeys are in.

      It shows what it will do and asks first; then one touch brings all of them in. Passkeys that are here already stay as \
      they are. The other program keeps its own, and both sign in from then on.

      Examples:
        whorl passkey import passkeys.age
        whorl passkey import example.passkey --dry-run
        whorl passkey import vault.json --access presence
      """)

  static let spoken = "passkey import"

  @OptionGroup var options: GlobalOptions

  @Argument(help: "The file to read.", completion: .file())
  var file: String

  @OptionGroup var passphrase: PassphraseOption

  @Option(
    help: ArgumentHelp("The rule of the passkeys here: any-finger, current-set or presence.", valueName: "rule"))
  var access = AccessControl.Constraint.anyFinger

  @Flag(help: "Show what would be imported, and change nothing.")
  var dryRun = false

  @Flag(name: .shortAndLong, help: "Do not ask whether to go on.")
  var yes = false

  func validate() throws {
    guard Passkey.accessControls.contains(AccessControl(access)) else {
      throw ValidationError("--access is any-finger, current-set or presence: a passkey always needs a person.")
    }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    // Without a store no passphrase is asked for.
    _ = try await session.openStore()
    let exported = try ExportedFile(file)
    let contents = try await contents(of: exported, session)
    let read: PasskeyFile
    do throws(ImportError) { read = try PasskeyFile(contents) } catch { throw Failure(error) }
    let access = AccessControl(access)
    let plan = try await session.request { try await PasskeyImport(read, into: $0, access: access).plan() }
    if !options.json, !exported.isEncrypted {
      StandardError.line("\(Visible.text(file)) is not encrypted: whoever can read it can sign in as you.")
    }
    if !options.json, read.others > 0 {
      StandardError.line("Left out: \(Spoken.plural(read.others, "other entry", "other entries")), not passkeys.")
    }
    if !options.json, read.partial > 0 {
      StandardError.line(
        "Some data that sites keep with \(Spoken.plural(read.partial, "passkey")) cannot be stored here, and is left out."
      )
    }
    guard try ImportReport(plan).isWanted(dryRun: dryRun, yes: yes, session) else { return }
    let outcome: ItemFileOutcome
    if plan.coming.count == 0 {
      outcome = ItemFileOutcome(nothingOf: plan)
    } else {
      let what = Spoken.plural(plan.coming.count, "passkey")
      outcome = try await session.asking(
        session.answers(), reason: "import \(what) from \(Visible.text(file))"
      ) { try await PasskeyImport(read, into: $0, access: access).bring(plan, $1) }
    }
    try ImportReport(outcome).print(json: options.json)
    guard outcome.isWhole else { throw .incomplete(isTold: options.json) }
  }

  private func contents(of exported: ExportedFile, _ session: Session) async throws(Failure) -> SharedSecret {
    guard !exported.isEncrypted else {
      return try await session.withPrivateVault { vault async throws(Failure) in
        let key = try await exported.key(passphrase, by: vault, session)
        return try await session.explained { () async throws(VaultError) in
          try await PasskeyFile.contents(of: exported.descriptor, key: key, by: vault)
        }
      }
    }
    do throws(ReadError) {
      return SharedSecret(try SecretBytes.read(from: exported.descriptor, limit: PasskeyFile.limit))
    } catch {
      guard case .tooLong = error else { throw .usage("\(file): \(error)", advice: "name a file of passkeys") }
      throw Failure(ImportError.malformed("\(file) is too large for a file of passkeys"))
    }
  }
}
