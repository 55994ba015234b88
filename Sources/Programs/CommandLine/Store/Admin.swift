import ArgumentParser
import CommandBase
import Glibc
import Moving
internal import Prompts
import SecretModel
import Settings
import Whorl

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

      What is in the store is named first; the secrets themselves are not read. It is kept unless you type the word for \
      it. In a script, --delete-only-copies says so.

      Examples:
        whorl admin remove alice
        whorl admin remove 1001 --yes --delete-only-copies
      """)
  static let spoken = "admin remove"

  @OptionGroup var options: GlobalOptions

  @Argument(help: "Whose store.")
  var user: String

  @Flag(name: .shortAndLong, help: "Do not ask.")
  var yes = false

  @OptionGroup var onlyCopies: OnlyCopiesOption

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let stores = try ServiceStores.all().filter { $0.account == user || "\($0.user)" == user }
    guard let store = stores.first else {
      throw Failure(.notFound, "\(user) has no store", advice: "'whorl admin list' lists what there is")
    }
    guard stores.count == 1 else {
      throw .usage("\(user) means several stores", advice: "name one by its account or its user id")
    }
    let only = await contents(of: store, session)
    let place = "the store of \(store.account)"
    // The word is asked for also where the list could not be read.
    try only.requireAgreement(to: place, onlyCopies, session.answers())
    if only.isEmpty, !yes {
      try session.answers().confirm(
        "Remove \(Visible.text(place)) (user id \(store.user)) for good? Nothing is in it.", assent: "--yes")
    }
    try ServiceStores.remove(store)
    if options.json { return try JSON.print(["removed": store.folder]) }
    StandardError.line("Removed the store of \(Visible.text(store.account)).")
  }

  /// What is in the store. For root, all of it exists nowhere else.
  private func contents(of store: ServiceStores.Store, _ session: Session) async -> OnlyCopies {
    guard store.hasAccount else { return OnlyCopies(unnamed: "its account is gone") }
    do {
      return try await AsUser.run(store.user) {
        let connection = try await VaultConnector.connect(to: .own, session.configuration)
        let result: Result<OnlyCopies, VaultError>
        do throws(VaultError) {
          result = .success(try await OnlyCopies(of: try await connection.open(.own)))
        } catch {
          result = .failure(error)
        }
        await connection.close()
        return try result.get()
      }
    } catch {
      return OnlyCopies(unnamed: session.explained(error).words)
    }
  }
}

/// Makes calls to the service as another user would, which root may.
private enum AsUser {
  static func run<Value>(_ user: UInt32, _ body: () async throws -> Value) async throws -> Value {
    // The C library changes the effective user of all threads. The real one stays root, whom the user cannot signal.
    guard seteuid(user) == 0 else { throw VaultError.inputOutput("this process cannot act as user \(user)") }
    defer { seteuid(0) }
    return try await body()
  }
}
