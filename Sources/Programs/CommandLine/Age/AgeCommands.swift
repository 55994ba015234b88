import ArgumentParser
import CommandBase
import Primitives
internal import Prompts
import SecretModel
import Settings
import Whorl

struct AgeGroup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "age",
    abstract: "Make, show and remove keys for files of age.",
    discussion: """
      The keys are made in the vault and never leave it. Anybody encrypts to a key's public half; to decrypt, age, rage, \
      sops and passage ask Whorl, which asks you for a touch.

      Examples:
        whorl age add work > identity.txt
        age -r "$(whorl age public work)" -o file.age file
        age -d -i identity.txt file.age
      """,
    subcommands: [AgeAdd.self, AgeList.self, AgeRemove.self, AgePublic.self, AgeIdentities.self])
}

extension CompletionKind {
  /// Completes names of keys for age, including unusable ones.
  fileprivate static let ageKeyNames = names { session in
    try await StoredKeys<AgeKey>(in: session.openStore()).all([.living, .dead]).map(\.name)
  }
}

extension AgeKey {
  /// The keys that the words name; all for no words.
  fileprivate static func named(_ names: [String], in session: Session) async throws(Failure) -> [AgeKey] {
    let stored = StoredKeys<AgeKey>(in: try await session.openStore())
    return names.isEmpty ? try await stored.all() : try await stored.named(names)
  }
}

/// A key as JSON.
private struct AgeKeyRow: Encodable {
  var name: String
  var id: String
  var publicKey: String
  var identity: String
  var access: String
  var state: String

  init(_ key: AgeKey) {
    (name, id, publicKey) = (key.name, key.id.spoken, "\(key.publicKey)")
    (identity, access, state) = (AgeIdentity(key.publicKey).text, "\(key.access)", key.state.rawValue)
  }
}

struct AgeAdd: Command {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Make a key for age in the vault.",
    discussion: """
      Prints an identity: lines for a file that 'age -d -i' and other programs take. It names the key and holds no secret. \
      The public key in it, age1…, is for 'age -r'.

      The key exists in this store alone, and its backups. Encrypt what must not be lost to a second key as well.

      --access says what decrypting a file needs, as in 'whorl set'.

      Examples:
        whorl age add work > identity.txt
        whorl age add mine --access any-finger >> ~/.passage/identities
      """)

  static let spoken = "age add"

  @OptionGroup var options: GlobalOptions

  @Argument(help: ArgumentHelp("The key's name, which prompts show.", valueName: "name"))
  var name: String

  @Option(help: "What decrypting a file needs.")
  var access: AccessControl.Constraint?

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    // The name becomes a part of a line in a file.
    guard !name.isEmpty, name == Visible.text(name) else {
      throw .usage("'\(name)' cannot be the name of a key", advice: "choose one without control characters")
    }
    guard try await StoredKeys<AgeKey>(in: session.openStore()).all([.living, .dead]).allSatisfy({ $0.name != name })
    else {
      throw Failure(
        .exists, "a key for age \(name) exists already", name: "errSecDuplicateItem", advice: "name this one otherwise")
    }
    let item = AgeKey.item(named: name, access: AccessControl(access ?? session.configuration.access ?? .presence))
    try await session.openIfWaiting(session.answers(), to: "keep the age key \(PromptLabel.word(name))")
    guard let key = AgeKey(try await session.request { try await $0.addKey(item, from: .generated(.x25519)) }) else {
      throw Failure(.internalError, "the vault made another key", name: "errSecInternalError", advice: "report it")
    }
    if options.json { return try JSON.print(AgeKeyRow(key)) }
    try StandardOutput.write(key.identityLines)
    if !StandardOutput.isTerminal { StandardError.line("Public key: \(key.publicKey)") }
  }
}

struct AgeList: Command {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the keys for age.",
    discussion: """
      Needs no finger.

      Examples:
        whorl age list
        whorl age list --json
      """)

  static let spoken = "age list"

  @OptionGroup var options: GlobalOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let keys = try await StoredKeys<AgeKey>(in: session.openStore()).all([.living, .dead])
    if options.json { return try JSON.print(["keys": keys.map(AgeKeyRow.init)]) }
    let hasTwins = Set(keys.map(\.name)).count < keys.count
    var table = Table()
    for key in keys {
      let forPeople = StandardOutput.isTerminal
      table.add(
        [
          key.name, forPeople ? key.access.spoken : "\(key.access)",
          forPeople ? key.state.spoken ?? "ready" : key.state.rawValue, key.publicText,
        ] + (hasTwins ? [key.id.spoken] : []))
    }
    try table.print(head: ["name", "access", "state", "public key"] + (hasTwins ? ["id"] : []))
  }
}

struct AgeRemove: Command {
  static let configuration = CommandConfiguration(
    commandName: "rm",
    abstract: "Remove keys for age.",
    discussion: """
      Needs no finger. A key exists nowhere else: files that are encrypted to no other key are closed then. Removes all \
      that are named, or none when one of them does not exist.

      Examples:
        whorl age rm work
      """)

  static let spoken = "age rm"

  @OptionGroup var options: GlobalOptions

  @Argument(help: ArgumentHelp("The names of the keys, or their ids.", valueName: "name"), completion: .ageKeyNames)
  var names: [String]

  @Flag(name: .shortAndLong, help: "Do not ask whether the keys may go.")
  var yes = false

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let keys = try await StoredKeys<AgeKey>(in: session.openStore()).named(names, [.living, .dead])
    try await session.remove(keys, isAssenting: yes)
    if options.json { try JSON.print(["removed": keys.map(\.name)]) }
  }
}

struct AgePublic: Command {
  static let configuration = CommandConfiguration(
    commandName: "public",
    abstract: "Show public keys for age.",
    discussion: """
      Prints a line for 'age -r' and files of recipients for each key that is named, or for all. Needs no finger.

      Examples:
        whorl age public
        whorl age public work >> ~/.passage/store/.age-recipients
      """)

  static let spoken = "age public"

  @OptionGroup var options: GlobalOptions

  @Argument(help: ArgumentHelp("The names of the keys, or their ids.", valueName: "name"), completion: .ageKeyNames)
  var names: [String] = []

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let keys = try await AgeKey.named(names, in: session)
    if options.json { return try JSON.print(["keys": keys.map(AgeKeyRow.init)]) }
    for key in keys { try StandardOutput.line("\(key.publicKey)") }
  }
}

struct AgeIdentities: Command {
  static let configuration = CommandConfiguration(
    commandName: "identity",
    abstract: "Show identities for age.",
    discussion: """
      Prints what 'whorl age add' has printed, for each key that is named, or for all. Needs no finger.

      Examples:
        whorl age identity work > identity.txt
      """)

  static let spoken = "age identity"

  @OptionGroup var options: GlobalOptions

  @Argument(help: ArgumentHelp("The names of the keys, or their ids.", valueName: "name"), completion: .ageKeyNames)
  var names: [String] = []

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let keys = try await AgeKey.named(names, in: session)
    if options.json { return try JSON.print(["keys": keys.map(AgeKeyRow.init)]) }
    for key in keys { try StandardOutput.write(key.identityLines) }
  }
}
