import ArgumentParser
import CommandBase
internal import Moving
internal import Prompts
import SecretModel
import Settings
import Whorl

struct Import: Command {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Bring in an export, or the secrets that another program keeps.",
    discussion: """
      Without --from, FILE is what 'whorl export' has written, here or on another machine: under a passphrase, or to \
      this store's key ('whorl key'), which a touch or the passcode releases. The items come in with their attributes, \
      rules and classes. Those bound to the enrolled fingers of the other machine (current-set) are bound to the fingers \
      enrolled here, by one touch for all of them; --skip-bound leaves them out.

      --from names another program:
        pass            the folder FILE, else pass's own; your gpg decrypts it
        keepassxc       a file that KeePassXC has exported, CSV or XML
        csv             a CSV file of a browser or another password manager
        json            a JSON file of Bitwarden or Proton Pass, or export.data of 1Password's archive (1PUX)
        aegis           a file of one-time codes that Aegis has exported, as JSON without encryption
        secret-service  the collections of the desktop: GNOME Keyring, KWallet

      The first line of a CSV file names its columns, as the export of every usual password manager and browser does; \
      commas, semicolons and tabs separate them, and the text is in UTF-8 or UTF-16. FILE '-' reads the file from standard \
      input, so that it never lies on the disk:
        keepassxc-cli export passwords.kdbx | whorl import --from keepassxc -
        unzip -p 1Password.1pux export.data | whorl import --from json -
      A file has at most 64 MiB, 100000 entries and 1000 columns, and a folder of pass 100000 files; each folder is read \
      once, however many links lead to it.

      It shows what it will do and asks first. An entry becomes an item SERVICE/ACCOUNT by its title and user; its \
      address, its folder and its open fields become attributes. What else is secret in it becomes an item beside it: \
      NAME#notes, NAME#totp, and NAME#FIELD for a field of its own, also where it has no password. The password of an \
      entry of pass is its first line, and the lines after it are its notes; a key, a document or a file in an entry is \
      brought in whole.

      What the store has already stays as it is, so that an import can be run again. Of several entries of one name the \
      first is brought in, and the others are listed. So is each entry that is not or not wholly brought in, with the \
      reason, such as a password that is not in UTF-8; the exit status is 79 then. The other program keeps what it has.

      Examples:
        whorl import moving.age
        whorl import --from pass --dry-run
        whorl import --from csv ~/Downloads/passwords.csv --access current-set
        whorl import --from secret-service --yes
      """)

  @OptionGroup var options: GlobalOptions

  @Option(help: ArgumentHelp("The other program that keeps the secrets.", valueName: "program"))
  var from: OtherProgram?

  @Argument(help: ArgumentHelp("The file or the folder to read.", valueName: "file"), completion: .file())
  var path: String?

  @OptionGroup var passphrase: PassphraseOption
  @OptionGroup var progress: QuietOption

  @Flag(help: "Leave out items that are bound to the fingers of the machine they come from.")
  var skipBound = false

  @Option(help: "What releases the secrets of another program.")
  var access: AccessControl.Constraint?

  @Option(help: "When the items of another program are accessible. Default: when-unlocked.")
  var accessible: Accessibility?

  @Flag(help: "Show what would be imported, and change nothing.")
  var dryRun = false

  @Flag(name: .shortAndLong, help: "Do not ask whether to go on.")
  var yes = false

  func validate() throws {
    if from != nil, passphrase.passphraseFd != nil || skipBound {
      throw ValidationError("--passphrase-fd and --skip-bound are for files of 'whorl export'.")
    }
    switch from {
    case nil:
      if path == nil { throw ValidationError("Name the file, or another program with --from.") }
      if access != nil || accessible != nil {
        throw ValidationError("The items of an export have their own rules: --access and --accessible go with --from.")
      }
    case .keepassxc, .csv, .json, .aegis:
      if path == nil { throw ValidationError("Name the file, or '-' for standard input.") }
    case .secretService:
      if path != nil { throw ValidationError("The Secret Service has no path.") }
    case .pass: break
    }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    // Open the store first, so that no passphrase or collection's password is typed if there is no store.
    _ = try await session.openStore()
    if let from {
      try await bring(from, session)
    } else if let path {
      let file = try ExportedFile(path)
      try file.requireOwn()
      try await bring(file, session)
    }
  }

  private func bring(_ from: OtherProgram, _ session: Session) async throws(Failure) {
    let source: any ImportSource
    do throws(ImportError) {
      source = try await from.source(at: path)
    } catch {
      throw Failure(error)
    }
    let access = AccessControl(access ?? session.configuration.access ?? .presence)
    let work = try await session.request {
      ItemImport(from: source, to: $0, access: access, accessibility: accessible ?? .whenUnlocked)
    }
    let plan = try await session.explained { () async throws(VaultError) in try await work.plan() }
    guard try ImportReport(plan).isWanted(dryRun: dryRun, yes: yes, session) else { return }
    try await session.openIfWaiting(session.answers(), to: "bring the items in")
    let outcome: ImportOutcome
    do { outcome = try await work.bring(plan) } catch { throw session.explained(error) }
    try ImportReport(outcome).print(json: options.json)
    if let path, from != .pass, EntryFile.isKept(path), !options.json {
      StandardError.line(
        "\(Visible.text(path)) contains the secrets unencrypted: delete it when you no longer need it.")
    }
    guard outcome.isWhole else { throw .incomplete(isTold: options.json) }
  }

  private func bring(_ file: ExportedFile, _ session: Session) async throws(Failure) {
    let answers = session.answers()
    let outcome = try await session.withPrivateVault { vault async throws(Failure) -> ItemFileOutcome? in
      let key = try await file.key(passphrase, by: vault, session)
      func work(_ bar: ProgressBar?) async throws(Failure) -> ItemFileImport {
        try await session.request { store in
          ItemFileImport(of: file.descriptor, key: key, into: store, by: vault, skipBound ? .leaveOut : .bind) {
            bar?.show($0, of: $1)
          }
        }
      }
      let reading = ProgressBar("Reading", progress, options)
      let reader = try await work(reading)
      let plan = try await session.explained { () async throws(VaultError) in
        defer { reading?.end() }
        return try await reader.plan()
      }
      guard try ImportReport(plan).isWanted(dryRun: dryRun, yes: yes, session) else { return nil }
      try await session.openIfWaiting(answers, to: "bring the items in")
      let bar = ProgressBar("Importing", progress, options)
      let work = try await work(bar)
      defer { bar?.end() }
      guard plan.binding.count > 0 else {
        return try await session.explained { () async throws(VaultError) in try await work.bring(plan, .nobody) }
      }
      return try await session.asking(
        answers,
        reason:
          "bind \(Spoken.plural(plan.binding.count, "item")) of \(Visible.text(file.path)) to the fingers enrolled here"
      ) { try await work.bring(plan, $1) }
    }
    guard let outcome else { return }
    try ImportReport(outcome).print(json: options.json)
    // Items that the person chose to skip do not count as missing.
    guard skipBound || outcome.isWhole else { throw .incomplete(isTold: options.json) }
  }
}

extension OtherProgram: ExpressibleByArgument {}
