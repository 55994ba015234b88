import ArgumentParser
import Vault
import Whorl

struct List: Command {
  static let configuration = CommandConfiguration(
    commandName: "ls",
    abstract: "List items.",
    discussion: """
      Never needs a finger. QUERY is a service, SERVICE/ACCOUNT, or a pattern with * and ? over SERVICE/ACCOUNT. On a \
      terminal a table, elsewhere a name on each line.

      Examples:
        whorl ls
        whorl ls mail
        whorl ls 'mail/*' --json
      """)

  @OptionGroup var options: GlobalOptions

  @Argument(help: "What to list; everything where it is left away.")
  var query: String?

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let query = try session.explained { () throws(VaultError) in try itemQuery() }
    let vault = try session.vault()
    let items = try await session.explained { () async throws(VaultError) in try await vault.items(query) }
    if options.json { return try JSON.print(["items": items.map(ItemReport.init)]) }
    if StandardOutput.isTerminal {
      var table = Table()
      for item in items {
        let access = item.access.description + (item.access.applicationPassword ? " + password" : "")
        table.add([
          item.name?.description ?? "(unreadable)", access, item.accessibility.rawValue, Spoken.time(item.modified),
          item.state == .alive ? "" : item.state.word,
        ])
      }
      try table.print(head: ["NAME", "ACCESS", "ACCESSIBLE", "CHANGED", ""])
    } else {
      try StandardOutput.write(items.compactMap(\.name).map { "\($0)\n" }.joined())
      let damaged = items.filter { $0.name == nil }.count
      if damaged > 0 { StandardError.line("\(Spoken.plural(damaged, "item")) too damaged to name") }
    }
  }

  private func itemQuery() throws(VaultError) -> ItemQuery {
    guard let query else { return .all }
    if query.contains(where: { $0 == "*" || $0 == "?" }) { return .pattern(query) }
    let name = try ItemName(parsing: query)
    return name.account.isEmpty ? .service(name.service) : .name(name)
  }
}

extension ItemSummary.State {
  var word: String {
    switch self {
    case .alive: "alive"
    case .dead: "dead"
    case .damaged: "damaged"
    }
  }
}

/// An item in JSON. Times are seconds since 1970.
private struct ItemReport: Encodable {
  var service: String?
  var account: String?
  var access: String
  var applicationPassword: Bool
  var accessible: String
  var created: Int64
  var modified: Int64
  var state: String

  init(_ item: ItemSummary) {
    service = item.name?.service
    account = item.name?.account
    access = item.access.description
    applicationPassword = item.access.applicationPassword
    accessible = item.accessibility.rawValue
    created = item.created
    modified = item.modified
    state = item.state.word
  }
}
