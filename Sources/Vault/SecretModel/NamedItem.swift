internal import Primitives

// The items of the command line: generic passwords of its access group, by service and account.

extension ItemName {
  /// The attributes of an item of this name in the command line's group; an absent account is an empty one.
  fileprivate var attributes: [AttributeName: AttributeValue] {
    [.service: .text(service), .account: .text(account), .accessGroup: .text(AccessGroup.commandLine)]
  }
}

extension NewItem {
  /// The command line's item of this name.
  package init(named name: ItemName, access: AccessControl, accessibility: Accessibility = .whenUnlocked) {
    var attributes = name.attributes
    if name.account.isEmpty { attributes[.account] = nil }
    self.init(.genericPassword, attributes, access: access, accessibility: accessibility)
  }
}

extension ItemSearch {
  /// The command line's item of this name, in whatever state it is.
  package init(named name: ItemName) {
    self.init(.genericPassword, name.attributes, states: Set(Item.State.allCases))
  }

  /// Every item there is, in whatever group and state.
  package static let everything = ItemSearch(
    groups: .all, synchronizable: .any, states: Set(Item.State.allCases))
}

extension Item {
  /// What the item is called where a person reads it; nil where it is damaged.
  public var name: ItemName? { itemClass.map { ItemName(of: $0, attributes) } }
}

extension ItemName {
  /// What an item of a class is called by its attributes: a password by its service or server and its account; a key or
  /// a certificate by its label, and a key without one by its tag.
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
    }
  }
}
