import ArgumentParser
import CommandBase
import Primitives
internal import Prompts
import SecretModel
import Settings
import Whorl

/// The target of a delivery, as written on the command line.
struct DeliveryTarget: ExpressibleByArgument {
  private static let kinds: [(word: String, kind: LoginItem.Kind)] = [
    ("env", .environment), ("file", .file), ("command", .command),
  ]

  let kind: LoginItem.Kind
  let name: String

  init?(argument: String) {
    let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let known = Self.kinds.first(where: { $0.word == parts[0] }) else { return nil }
    (kind, name) = (known.kind, String(parts[1]))
  }

  func entry(_ source: ItemID? = nil) throws(Failure) -> LoginItem {
    let entry = LoginItem(kind, name: name, source: source)
    if let flaw = Delivery.flaw(in: entry) {
      throw .usage(flaw, advice: "such as env:TOKEN, file:token, command:ssh-add")
    }
    return entry
  }
}

struct LoginAdd: Command {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Deliver a secret into every session.",
    discussion: """
      The item has to be one that is open after the first unlock and asks nobody: 'whorl set NAME --access none \
      --accessible after-first-unlock' stores one so. What is stored under its name later is what is delivered.

      --to says where it goes:
        env:NAME       a variable of the user's service manager, and so of what it starts
        file:NAME      a file that this user alone can read, in $XDG_RUNTIME_DIR/whorl-login, until the last logout
        command:LINE   the standard input of a command, which a shell runs

      Every program of the session can read the first two.

      Examples:
        whorl login add forge/token --to env:FORGE_TOKEN
        whorl login add ssh/key --to 'command:sh ~/.local/bin/add-ssh-key'
      """)

  static var spoken: String { "login add" }

  @OptionGroup var options: GlobalOptions
  @OptionGroup var choice: ItemOptions

  @Argument(help: ArgumentHelp("The item's name.", valueName: "name"), completion: .itemNames)
  var name: String

  @Option(help: ArgumentHelp("Where it goes: env:NAME, file:NAME or command:LINE.", valueName: "target"))
  var to: DeliveryTarget

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    _ = try to.entry()
    let choice = ItemChoice(options: self.choice, purpose: .reading, session: session)
    guard let item = try await choice.items(named: [name]).first else { throw .noItem(name) }
    guard item.state == .living, item.access == .none, item.accessibility == .afterFirstUnlock else {
      throw .usage(
        "\(name) needs a touch or the passcode, or is closed while the session is locked, so a login cannot deliver it",
        advice: "store it anew with --access none --accessible after-first-unlock")
    }
    let entry = try to.entry(item.id)
    try await session.openIfWaiting(session.answers(), to: "have logins deliver \(PromptLabel.text(name))")
    try await session.request { try await LoginEntries(in: $0).put(entry, secret: SecretBytes(count: 0)) }
    if options.json { return try JSON.print(["item": name, "to": entry.spoken]) }
    StandardError.line("Each login delivers \(Visible.text(name)) to \(Visible.text(entry.spoken)).")
  }
}

struct LoginList: Command {
  static let configuration = CommandConfiguration(
    commandName: "ls",
    abstract: "List what programs get at login.",
    discussion: """
      Examples:
        whorl login ls
        whorl login ls --json
      """)

  static var spoken: String { "login ls" }

  @OptionGroup var options: GlobalOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let rows = try await LoginRow.all(in: session.openStore())
    if options.json { return try JSON.print(["entries": rows]) }
    var table = Table()
    for row in rows { table.add([row.spoken, row.item ?? ""]) }
    try table.print(head: ["TO", "ITEM"])
  }
}

struct LoginRemove: Command {
  static let configuration = CommandConfiguration(
    commandName: "rm",
    abstract: "Deliver a secret no more.",
    discussion: """
      Takes it out of the environment of the user's service manager, or removes the file; the item stays.

      Examples:
        whorl login rm env:FORGE_TOKEN
      """)

  static var spoken: String { "login rm" }

  @OptionGroup var options: GlobalOptions

  @Argument(help: ArgumentHelp("Where it goes: env:NAME, file:NAME or command:LINE.", valueName: "target"))
  var target: DeliveryTarget

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let entry = try target.entry()
    guard try await session.request({ try await LoginEntries(in: $0).has(entry) }) else {
      throw Failure(
        .notFound, "nothing is delivered to \(entry.spoken)", name: "errSecItemNotFound",
        advice: "'whorl login ls' lists what is")
    }
    try await session.request { try await LoginEntries(in: $0).remove(entry) }
    do throws(WalletError) {
      try await session.delivery.takeBack(entry)
    } catch {
      StandardError.line("The session keeps what it has until the logout: \(Failure(error).what)")
    }
    if options.json { try JSON.print(["removed": entry.spoken]) }
  }
}

extension Session {
  /// Delivers secrets into the user's session. Commands get this program's environment.
  var delivery: Delivery { Delivery(runtime: BaseDirectories.runtime, environment: UserEnvironment.entries) }
}
