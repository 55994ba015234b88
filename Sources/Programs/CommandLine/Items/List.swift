import ArgumentParser
import CommandBase
internal import Primitives
internal import Prompts
import SecretModel
import Settings

struct List: Command {
  static let configuration = CommandConfiguration(
    commandName: "ls",
    abstract: "List items.",
    discussion: """
      Never needs a finger. Lists the items of every program and class. QUERY is a service or server, a name, or a \
      pattern with * and ? over names; the name of a key or a certificate is its label, and so is that of what programs \
      keep with the Secret Service, which is named by its id elsewhere. On a terminal a table, with --verbose in the words of \
      the options and with ids; elsewhere a line for each item with its name, class, access group and id, separated by \
      tabs. An id, 'id:' and 32 digits, names its item to get, run and rm.

      Examples:
        whorl ls
        whorl ls mail
        whorl ls 'mail/*' --json
        whorl ls --class key --group com.example.app
      """)

  @OptionGroup var options: GlobalOptions
  @OptionGroup var choice: ItemOptions

  @Argument(help: "What to list; everything where it is left away.", completion: .itemNames)
  var query: String?

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    var search = choice.search
    let pattern = query.flatMap { $0.contains { $0 == "*" || $0 == "?" } ? $0 : nil }
    search.pattern = pattern
    search.ids = query.flatMap { ItemID(spoken: $0) }.map { [$0] }
    let meant = search
    let items: [Item]
    if let query, pattern == nil, meant.ids == nil {
      items = try await ItemsByName(options: choice) { search throws(Failure) in
        try await session.request { try await $0.allItems(search) }
      }.items(called: query)
        .filter { $0.name?.service == query || $0.name?.description == query || $0.title == query }
    } else {
      items = try await session.request { try await $0.allItems(meant) }
    }
    if options.json { return try JSON.print(["items": items.map(ItemReport.init)]) }
    guard StandardOutput.isTerminal else {
      let lines = items.map { item in
        [item.title ?? "", item.itemClass?.word ?? "", Visible.text(item.group ?? ""), item.id.spoken]
          .joined(separator: "\t") + "\n"
      }
      return try StandardOutput.write(lines.joined())
    }
    let (table, head) = options.verbose ? Self.technical(items) : Self.plain(items)
    try table.print(head: head)
  }

  private static func plain(_ items: [Item]) -> (table: Table, head: [String]) {
    var table = Table()
    for item in items {
      let isKnown = item.state != .damaged
      table.add([
        item.title ?? "(no name)", item.itemClass?.spoken ?? "", item.group ?? "", isKnown ? item.access.spoken : "",
        isKnown ? item.accessibility.spoken : "", isKnown ? Spoken.time(Int64(clamping: item.modified)) : "",
        item.state.spoken ?? "",
      ])
    }
    return (table, ["NAME", "KIND", "GROUP", "NEEDS", "OPEN", "CHANGED", ""])
  }

  /// With the words of the options, and the ids.
  private static func technical(_ items: [Item]) -> (table: Table, head: [String]) {
    var table = Table()
    for item in items {
      let access = item.access.description + (item.access.applicationPassword ? " + password" : "")
      let isKnown = item.state != .damaged
      table.add([
        item.title ?? item.id.spoken, item.itemClass?.word ?? "", item.group ?? "", isKnown ? access : "",
        isKnown ? item.accessibility.rawValue : "", isKnown ? Spoken.time(Int64(clamping: item.modified)) : "",
        [
          item.state == .living ? nil : item.state.rawValue,
          item.title == item.name?.description ? nil : item.id.spoken,
        ]
        .compactMap(\.self).joined(separator: " "),
      ])
    }
    return (table, ["NAME", "CLASS", "GROUP", "ACCESS", "ACCESSIBLE", "CHANGED", ""])
  }
}

/// An item in JSON. Times are seconds since 1970. A damaged item has only its id.
private struct ItemReport: Encodable {
  var id: String
  var state: String
  var itemClass: String?
  var group: String?
  var name: String?
  var label: String?
  /// Only for generic passwords.
  var service: String?
  var account: String?
  var access: String?
  var applicationPassword: Bool?
  var accessible: String?
  var created: Int64?
  var modified: Int64?

  private enum CodingKeys: String, CodingKey {
    case id, state
    case itemClass = "class"
    case group, name, label, service, account, access, applicationPassword, accessible, created, modified
  }

  init(_ item: Item) {
    id = item.id.spoken
    state = item.state.rawValue
    guard item.state != .damaged else { return }
    itemClass = item.itemClass?.word
    group = item.group
    name = item.name?.description
    if case .text(let text)? = item.attributes[.label] { label = text }
    if item.itemClass == .genericPassword { service = item.name?.service }
    if item.itemClass == .genericPassword || item.itemClass == .internetPassword { account = item.name?.account }
    access = item.access.description
    applicationPassword = item.access.applicationPassword
    accessible = item.accessibility.rawValue
    created = Int64(clamping: item.created)
    modified = Int64(clamping: item.modified)
  }
}
