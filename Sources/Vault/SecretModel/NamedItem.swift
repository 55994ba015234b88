internal import Primitives

// The items of the command line: generic passwords of its access group, identified by service and account.

extension ItemName {
  /// The attributes of an item with this name in the command line's group. A missing account is empty.
  fileprivate var attributes: [AttributeName: AttributeValue] {
    [.service: .text(service), .account: .text(account), .accessGroup: .text(AccessGroup.commandLine)]
  }
}

extension NewItem {
  /// The command line's new item with this name.
  package init(named name: ItemName, access: AccessControl, accessibility: Accessibility = .whenUnlocked) {
    var attributes = name.attributes
    if name.account.isEmpty { attributes[.account] = nil }
    self.init(.genericPassword, attributes, access: access, accessibility: accessibility)
  }
}

extension ItemSearch {
  /// A search for the command line's item with this name, in any state.
  package init(named name: ItemName) {
    self.init(.genericPassword, name.attributes, synchronizable: .any, states: Set(Item.State.allCases))
  }

  /// A search for the item with this name in an access group.
  package init(named name: ItemName, in group: String) {
    self.init(
      .genericPassword, name.attributes.merging([.accessGroup: .text(group)]) { $1 }, synchronizable: .any)
  }

  /// A search for every item, in any group and state.
  package static let everything = ItemSearch(
    groups: .all, synchronizable: .any, states: Set(Item.State.allCases))
}

extension Item {
  /// The item's name for people; nil if the item is damaged.
  public var name: ItemName? { itemClass.map { ItemName(of: $0, attributes) } }

  /// The name to show: the item's name, or its label if a program chose the name. Nil if the item is damaged.
  package var title: String? { itemClass.map { ItemName(titling: $0, attributes).description } }
}

extension ItemName {
  /// The name of an item: for a password its service or server and its account, for a key or a certificate its label,
  /// for a key without a label its tag, and for a passkey its site and account.
  package init(of itemClass: ItemClass, _ attributes: [AttributeName: AttributeValue]) {
    func text(_ name: AttributeName) -> String? {
      switch attributes[name] {
      case .text(let text)?: text
      // Clients may give an account as data.
      case .bytes(let bytes)?: String(validating: bytes, as: UTF8.self) ?? "0x" + Hexadecimal.text(of: bytes)
      case .number, .date, nil: nil
      }
    }
    switch itemClass {
    case .genericPassword: self.init(unchecked: text(.service) ?? "", account: text(.account) ?? "")
    case .internetPassword: self.init(unchecked: text(.server) ?? "", account: text(.account) ?? "")
    case .key: self.init(unchecked: text(.label) ?? text(.applicationTag) ?? "key", account: "")
    case .certificate: self.init(unchecked: text(.label) ?? "certificate", account: "")
    case .passkey: self.init(unchecked: text(.relyingParty) ?? "passkey", account: text(.account) ?? "")
    }
  }

  /// The name to show. An item of the Secret Service is named by its collection and a random number, so its label is
  /// shown instead.
  package init(titling itemClass: ItemClass, _ attributes: [AttributeName: AttributeValue]) {
    if attributes[.accessGroup] == .text(AccessGroup.secretService), case .text(let label)? = attributes[.label],
      !label.isEmpty
    {
      self.init(unchecked: label, account: "")
    } else {
      self.init(of: itemClass, attributes)
    }
  }
}

/// The rules for a name that a person writes.
extension ItemName {
  /// Refuses an empty service, control characters, and parts over ``limit`` bytes.
  public init(service: String, account: String = "") throws(VaultError) {
    guard !service.isEmpty else { throw .invalidName("the service is empty") }
    for (part, text) in [("service", service), ("account", account)] {
      guard text.utf8.count <= Self.limit else {
        throw .invalidName("the \(part) is longer than \(Self.limit) bytes")
      }
      guard !text.hasControlCharacters else {
        throw .invalidName("the \(part) has a control character in it")
      }
    }
    self.service = service
    self.account = account
  }

  /// Reads `SERVICE[/ACCOUNT]`: the first slash splits, so an account may hold slashes and a service may not.
  public init(parsing text: String) throws(VaultError) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    try self.init(service: String(parts[0]), account: parts.count == 2 ? String(parts[1]) : "")
  }
}
