import ArgumentParser
import Glibc
internal import PromptTexts
internal import SecretModel

struct Admin: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "admin",
    abstract: "List and remove the stores of all users, as root.",
    discussion: """
      Examples:
        whorl admin list
        whorl admin remove alice
      """,
    subcommands: [AdminList.self, AdminRemove.self])
}

struct AdminList: Command {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the stores of the system service.",
    discussion: """
      A store belongs to a user id and the account's name. Where the account is gone, or has another name, nobody can \
      open it.

      Examples:
        whorl admin list
        whorl admin list --json
      """)
  static let spoken = "admin list"

  @OptionGroup var options: GlobalOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let stores = try ServiceStores.all()
    if options.json { return try JSON.print(["stores": stores]) }
    var table = Table()
    for store in stores {
      table.add([
        store.account, "\(store.user)", "\((store.size + 1_023) / 1_024) KiB", Spoken.time(store.changed),
        store.hasAccount ? "" : "no such account",
      ])
    }
    try table.print(head: ["ACCOUNT", "UID", "SIZE", "CHANGED", ""])
  }
}

struct AdminRemove: Command {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove a user's store, with everything in it.",
    discussion: """
      USER is an account's name or a user id, as 'whorl admin list' shows them. Nothing brings the store back, not even \
      its recovery key. Programs that have it open cannot use it any more.

      Examples:
        whorl admin remove alice
        whorl admin remove 1001 --yes
      """)
  static let spoken = "admin remove"

  @OptionGroup var options: GlobalOptions

  @Argument(help: "Whose store.")
  var user: String

  @Flag(name: .shortAndLong, help: "Do not ask.")
  var yes = false

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let stores = try ServiceStores.all().filter { $0.account == user || "\($0.user)" == user }
    guard let store = stores.first else {
      throw Failure(.notFound, "\(user) has no store", advice: "'whorl admin list' lists what there is")
    }
    guard stores.count == 1 else {
      throw .usage("\(user) means several stores", advice: "name one by its account or its user id")
    }
    if !yes {
      try session.answers().confirm(
        "Remove the store of \(Visible.text(store.account)) (user id \(store.user)) for good?", assent: "--yes")
    }
    try ServiceStores.remove(store)
    if options.json { return try JSON.print(["removed": store.folder]) }
    StandardError.line("Removed the store of \(Visible.text(store.account)).")
  }
}
