import ArgumentParser
import CommandBase
import Primitives
import SecretModel
import Settings

/// Finds the item that a word on the command line names: `SERVICE[/ACCOUNT]`, the name that `ls` shows, or `id:` and
/// the item's id.
///
/// The command line's own items come first: a generic password of the group `whorl` is found by its name, even if other
/// items have the same name. Another program's item is found by name if the name and the options match only that one.
/// To remove it, give options or its id.
struct ItemChoice {
  /// The purpose of finding the item.
  enum Purpose {
    case reading, removing
    /// Its name or its attributes alone matter.
    case naming
  }

  let options: ItemOptions
  let purpose: Purpose
  let session: Session

  /// The named items, in the order of the names.
  func items(named names: [String]) async throws(Failure) -> [Item] {
    var chosen: [Item] = []
    for name in names { chosen.append(try await item(named: name)) }
    return chosen
  }

  /// The ids of the named items. Throws for items that cannot be read.
  func readable(named names: [String]) async throws(Failure) -> [ItemID] {
    let items = try await items(named: names)
    for item in items {
      switch item.state {
      case .living: break
      case .dead: if let name = item.name { throw Failure(.itemInvalidated(name)) }
      case .damaged: throw Failure(.itemDamaged(item.name))
      }
    }
    return items.map(\.id)
  }

  private func item(named text: String) async throws(Failure) -> Item {
    // Refuse an empty word: it must not match items without a name.
    if text.isEmpty { _ = try session.itemName(text) }
    let byID = try await item(withID: text)
    if let own = try await ownItem(named: text) {
      guard let byID, byID.id != own.id else { return own }
      throw .ambiguous(text, [own, byID])
    }
    if let byID { return byID }
    let candidates = try await ItemsByName(options: options, find: find).items(called: text)
      .filter { $0.name?.description == text }
    guard let only = candidates.first else {
      // Report a name that no item can have.
      if !options.narrows { _ = try session.itemName(text) }
      throw .noItem(text)
    }
    guard candidates.count == 1 else { throw .ambiguous(text, candidates) }
    switch purpose {
    case .reading where only.itemClass == .key && options.itemClass != .key: throw .secretOfKey(text, only)
    case .removing where !options.narrows: throw .ofAnotherProgram(text, only)
    case .reading, .removing, .naming: return only
    }
  }

  /// The command line's own item with this name.
  private func ownItem(named text: String) async throws(Failure) -> Item? {
    guard !options.narrows, let name = try? ItemName(parsing: text) else { return nil }
    let found = try await find(ItemSearch(named: name))
    let living = found.filter { $0.state == .living }
    guard living.count < 2 else { throw .ambiguous(text, living) }
    guard let item = living.first ?? found.first else { return nil }
    // The attributes of a damaged item cannot be read, but its name index matches this name.
    if item.state == .damaged, purpose == .reading { throw Failure(.itemDamaged(name)) }
    return item
  }

  private func item(withID text: String) async throws(Failure) -> Item? {
    guard let id = ItemID(spoken: text) else { return nil }
    var search = options.search
    search.ids = [id]
    return try await find(search).first
  }

  private func find(_ search: ItemSearch) async throws(Failure) -> [Item] {
    try await session.request { try await $0.allItems(search) }
  }
}

extension Item {
  /// The access group; nil if the item is damaged.
  var group: String? {
    if case .text(let group)? = attributes[.accessGroup] { group } else { nil }
  }

  /// A description of the item where its name is not enough.
  var spoken: String {
    guard let itemClass, let group else { return "damaged item" }
    return "\(itemClass.spoken) in group \(group)"
  }
}

extension ItemClass {
  /// The value for `--class`.
  var word: String {
    switch self {
    case .genericPassword: "generic-password"
    case .internetPassword: "internet-password"
    case .key: "key"
    case .certificate: "certificate"
    case .passkey: "passkey"
    }
  }

  /// The name for use in a sentence.
  var spoken: String {
    switch self {
    case .genericPassword: "password"
    case .internetPassword: "internet password"
    case .key: "key"
    case .certificate: "certificate"
    case .passkey: "passkey"
    }
  }
}

extension Failure {
  static func noItem(_ name: String) -> Failure {
    Failure(.notFound, "no item \(name)", name: "errSecItemNotFound", advice: "'whorl ls' lists what there is")
  }

  fileprivate static func ambiguous(_ name: String, _ candidates: [Item]) -> Failure {
    let more = candidates.count > 10 ? " and \(candidates.count - 10) more" : ""
    var failure = usage(
      "\(name) means several items: \(candidates.prefix(10).map(\.spoken).joined(separator: ", "))\(more)",
      advice: "narrow it with --class and --group, or name one by its id, which --verbose shows")
    failure.detail = candidates.prefix(10).map(\.id.spoken).joined(separator: ", ")
    return failure
  }

  fileprivate static func secretOfKey(_ name: String, _ item: Item) -> Failure {
    .usage(
      "\(name) is a key, whose secret is given out only where that is asked for",
      advice: "say --class key")
  }

  fileprivate static func ofAnotherProgram(_ name: String, _ item: Item) -> Failure {
    var failure = usage(
      "\(name) is not an item of the command line but a \(item.spoken)",
      advice: "narrow it with --class and --group, or name it by its id, which --verbose shows")
    failure.detail = item.id.spoken
    return failure
  }
}

/// The options that select items of a command.
struct ItemOptions: ParsableArguments {
  @Option(
    name: .customLong("class"),
    help: ArgumentHelp("Only items of this class.", valueName: "class"))
  var itemClass: ItemClass?

  @Option(help: ArgumentHelp("Only items of this access group.", valueName: "group"))
  var group: String?

  /// The search for all items that these options select.
  var search: ItemSearch {
    var search = ItemSearch.everything
    search.itemClass = itemClass
    if let group { search.groups = .named([group]) }
    return search
  }

  /// The words as names of the command line's own items; nil if they must be looked up in another way.
  func exactNames(_ words: [String]) -> [ItemName]? {
    guard !narrows else { return nil }
    let names = words.compactMap { word in ItemID(spoken: word) == nil ? try? ItemName(parsing: word) : nil }
    return names.count == words.count ? names : nil
  }

  /// Whether any of the options is given.
  var narrows: Bool { itemClass != nil || group != nil }
}

/// Finds the items with a name, of any class and access group, with the store's indexes. Listing all items takes
/// seconds in a large store.
struct ItemsByName {
  let options: ItemOptions
  /// Runs a search.
  let find: (ItemSearch) async throws(Failure) -> [Item]

  /// The items whose name is this text, or whose service or server it is; oldest first.
  func items(called text: String) async throws(Failure) -> [Item] {
    var found: [ItemID: Item] = [:]
    for search in searches(for: text) {
      for item in try await find(search) { found[item.id] = item }
    }
    guard found.isEmpty else { return found.values.sorted { $0.created < $1.created } }
    // The displayed name may stand for bytes, such as an account given as data, which no index has as text. Search all
    // items.
    return try await find(options.search)
  }

  /// Searches by indexed attributes. Their results may have other names.
  private func searches(for text: String) -> [ItemSearch] {
    let classes = options.itemClass.map { [$0] } ?? ItemClass.allCases
    return classes.flatMap { itemClass in
      attributes(of: itemClass, for: text).map { attributes in
        var search = options.search
        search.itemClass = itemClass
        search.attributes = attributes
        return search
      }
    }
  }

  private func attributes(of itemClass: ItemClass, for text: String) -> [[AttributeName: AttributeValue]] {
    let place: AttributeName
    switch itemClass {
    case .genericPassword: place = .service
    case .internetPassword: place = .server
    case .key:
      return [[.label: .text(text)], [.applicationTag: .text(text)], [.applicationTag: .bytes(Array(text.utf8))]]
    case .certificate: return [[.label: .text(text)]]
    case .passkey: place = .relyingParty
    }
    var attributes: [[AttributeName: AttributeValue]] = [[place: .text(text)], [.label: .text(text)]]
    if let name = try? ItemName(parsing: text), !name.account.isEmpty {
      // Clients may give an account as data.
      for account in [AttributeValue.text(name.account), .bytes(Array(name.account.utf8))] {
        attributes.append([place: .text(name.service), .account: account])
      }
    }
    return attributes
  }
}
