import ArgumentParser
import SecretModel

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
