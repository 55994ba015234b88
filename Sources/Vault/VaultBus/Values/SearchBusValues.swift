internal import SDBus
internal import SecretModel

extension ItemSearch.Synchronizable: BusCodable {}
extension ItemSearch.Interaction: BusCodable {}

extension ItemSearch: BusCodable {
  static var busSignature: String { "a{sv}" }

  var busValue: BusValue {
    var groups: [String]?
    if case .named(let names)? = self.groups { groups = names }
    return .record([
      "class": itemClass?.busValue, "every-group": (self.groups == .all).busValue, "groups": groups?.busValue,
      "attributes": Attributes(attributes).busValue, "ids": ids?.busValue, "synchronizable": synchronizable.busValue,
      "ignores-case": ignoresCase.busValue, "limit": limit?.busValue, "pattern": pattern?.busValue,
      "states": states.sorted { $0.rawValue < $1.rawValue }.busValue, "created": created?.busValue,
      "modified": modified?.busValue, "interaction": interaction.busValue, "after": after?.busValue,
    ])
  }

  init(bus value: BusValue) throws(VaultError) {
    var record = try BusRecord(value, of: Self.self)
    let everyGroup: Bool = try record.take("every-group")
    let named: [String]? = try record.takeIfPresent("groups")
    guard !everyGroup || named == nil else { throw .unreadable("\(Self.self).groups") }
    self.init(
      try record.takeIfPresent("class"), try record.take("attributes", as: Attributes.self).values,
      groups: everyGroup ? .all : named.map { .named($0) }, ids: try record.takeIfPresent("ids"),
      synchronizable: try record.take("synchronizable"), ignoresCase: try record.take("ignores-case"),
      limit: try record.takeIfPresent("limit"), pattern: try record.takeIfPresent("pattern"),
      states: Set(try record.take("states", as: [Item.State].self)))
    created = try record.takeIfPresent("created")
    modified = try record.takeIfPresent("modified")
    interaction = try record.take("interaction")
    after = try record.takeIfPresent("after")
    try record.end()
  }
}

/// A record with one of four keys, for the four kinds of selection.
extension ItemSelection: BusCodable {
  static var busSignature: String { "a{sv}" }

  var busValue: BusValue {
    switch self {
    case .ids(let ids): .record(["ids": ids.busValue])
    case .names(let names): .record(["names": names.busValue])
    case .open(let names, let group): .record(["open": .structure([group.busValue, names.busValue])])
    case .search(let search): .record(["search": search.busValue])
    }
  }

  init(bus value: BusValue) throws(VaultError) {
    guard let entries = value.asDictionary, entries.count == 1, let (kind, selected) = entries.first else {
      throw .unreadable(Self.self)
    }
    switch kind {
    case "ids": self = .ids(try [ItemID](bus: selected))
    case "names": self = .names(try Self.names(selected))
    case "open":
      guard let parts = selected.asStructure, parts.count == 2 else { throw .unreadable(Self.self) }
      self = .open(try Self.names(parts[1]), group: try String(bus: parts[0]))
    case "search": self = .search(try ItemSearch(bus: selected))
    default: throw .versionMismatch("the vault does not know a selection by \(kind): it is older than this program")
    }
  }

  private static func names(_ value: BusValue) throws(VaultError) -> [ItemName] {
    guard case .array(ItemName.busSignature, let names) = value else { throw .unreadable(Self.self) }
    var checked: [ItemName] = []
    for name in names { checked.append(try ItemName(checking: name)) }
    return checked
  }
}
