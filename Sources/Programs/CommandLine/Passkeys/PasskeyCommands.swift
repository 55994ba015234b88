import ArgumentParser
import CommandBase
internal import Prompts
import SecretModel
import Settings

struct PasskeyGroup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "passkey",
    abstract: "Sign in to sites with a finger: offer, list, move and remove passkeys.",
    discussion: """
      A site or a program that takes passkeys (a security key, FIDO2, WebAuthn) finds Whorl as a security key that is \
      plugged in. The private keys are made in the vault and used there, one touch for each sign-in.

      Examples:
        whorl passkey enable
        whorl passkey list
        whorl passkey rm example.com/alice
      """,
    subcommands: [
      PasskeyEnable.self, PasskeyDisable.self, PasskeyList.self, PasskeyShow.self, PasskeyRename.self,
      PasskeyRemove.self, PasskeyExportCommand.self, PasskeyImportCommand.self,
    ])
}

struct PasskeyList: Command {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List passkeys.",
    discussion: """
      Needs no finger. Where several have the same site and account, their ids are listed, too.

      Examples:
        whorl passkey list
        whorl passkey list example.com
        whorl passkey list --json
      """)

  static let spoken = "passkey list"

  @OptionGroup var options: GlobalOptions

  @Argument(help: ArgumentHelp("Only the passkeys of this site.", valueName: "site"))
  var site: String?

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let passkeys = try await StoredPasskeys(in: session.openStore()).all(of: site)
    if options.json { return try JSON.print(["passkeys": passkeys.map(PasskeyRow.init)]) }
    if passkeys.isEmpty {
      let whose = site.map { " for \(Visible.text($0))" } ?? ""
      return StandardError.line("There are no passkeys\(whose) yet. A site makes one, after 'whorl passkey enable'.")
    }
    let hasTwins = Set(passkeys.map(\.called)).count < passkeys.count
    var table = Table()
    for passkey in passkeys {
      let name = passkey.user.displayName
      table.add(
        [
          passkey.relyingParty, passkey.user.name, name,
          StandardOutput.isTerminal ? passkey.access.spoken : "\(passkey.access)",
        ] + (hasTwins ? [passkey.id.spoken] : []))
    }
    try table.print(head: ["site", "account", "name", "access"] + (hasTwins ? ["id"] : []))
  }
}

struct PasskeyRename: Command {
  static let configuration = CommandConfiguration(
    commandName: "rename",
    abstract: "Change the account name that a passkey is shown with.",
    discussion: """
      The site is not told. Asks for what the passkey needs to sign in.

      Examples:
        whorl passkey rename example.com/alice alice@work
      """)

  static let spoken = "passkey rename"

  @OptionGroup var options: GlobalOptions

  @Argument(
    help: ArgumentHelp("The passkey: SITE, SITE/ACCOUNT or its id.", valueName: "passkey"), completion: .passkeyNames)
  var passkey: String

  @Argument(help: ArgumentHelp("The new account name.", valueName: "name"))
  var name: String

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    guard !name.isEmpty, name.utf8.count <= 64, !name.hasControlCharacters else {
      throw .usage("an account name has 1 to 64 bytes, without control characters", advice: "choose a shorter one")
    }
    let found = try await StoredPasskeys(in: session.openStore()).named([passkey])[0]
    // Nobody is asked for a change that changes nothing.
    if name != found.user.name {
      let change = ItemChange(attributes: [.account: .text(name)])
      _ = try await session.asking(
        session.answers(),
        reason: "rename the passkey \(Visible.text(found.called)) to \(PromptLabel.word(name))"
      ) { [id = found.id] in try await $0.update(.ids([id]), change, secret: nil, $1) }
    }
    if options.json { try JSON.print(["renamed": found.called]) }
  }
}

struct PasskeyRemove: Command {
  static let configuration = CommandConfiguration(
    commandName: "rm",
    abstract: "Remove passkeys.",
    discussion: """
      Needs no finger. The site keeps its half, which is of no use then: remove it there, too, and see that there is \
      another way to sign in. Removes all that are named, or none when one of them does not exist.

      Examples:
        whorl passkey rm example.com/alice
      """)

  static let spoken = "passkey rm"

  @OptionGroup var options: GlobalOptions

  @Argument(
    help: ArgumentHelp("The passkeys: SITE, SITE/ACCOUNT or their ids.", valueName: "passkey"),
    completion: .passkeyNames)
  var names: [String]

  @Flag(name: .shortAndLong, help: "Do not ask whether the passkeys may go.")
  var yes = false

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let passkeys = try await StoredPasskeys(in: session.openStore()).named(names)
    if !yes {
      for passkey in passkeys { StandardError.line("  \(Visible.text(passkey.called))") }
      let what = Spoken.plural(passkeys.count, "passkey")
      try session.answers().confirm(
        "Delete \(what) for good? You can then no longer sign in with \(passkeys.count == 1 ? "it" : "them").",
        assent: "--yes")
    }
    let ids = passkeys.map(\.id)
    _ = try await session.request { try await $0.delete(.ids(ids)) }
    if options.json { try JSON.print(["removed": passkeys.map(\.called)]) }
  }
}
