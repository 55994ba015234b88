internal import Primitives

/// An item of the Secret Service: a generic password in an access group of its own, with the collection as its service
/// and the last part of its object path as its account.
package struct SecretServiceItem: SecretServiceEntry, Sendable, Hashable {
  package static let accessGroup = AccessGroup.secretService
  /// The content type of a secret that a program stores without one.
  package static let usualContentType = "text/plain"

  private static let contentTypeName = AttributeName(rawValue: "whorl.secret-service.content-type")
  private static let sessionName = AttributeName(rawValue: "whorl.secret-service.session")
  private static let originalName = AttributeName(rawValue: "whorl.secret-service.original")

  /// How long a touch for an item with a rule is valid for further reads by the same program.
  package enum Grant: Sendable, Hashable {
    /// For ten seconds and one connection, since programs read a secret more than once.
    case brief
    /// For the same executable, until the service ends.
    case session
  }

  package let id: ItemID
  /// The name of its collection: the last part of the collection's object path.
  package let collection: String
  /// The last part of its object path.
  package let name: String
  package let label: String
  /// The attributes by which programs find it.
  package let attributes: [String: String]
  package let contentType: String
  package let access: AccessControl
  package let grant: Grant
  /// The program that it was copied from, which may still have it; nil for an item that was stored here.
  package let original: String?
  /// Whether it is shared with the user's other machines.
  package let isShared: Bool
  package let state: Item.State
  /// Seconds since 1970.
  package let created: Double
  /// Seconds since 1970.
  package let modified: Double

  /// Nil for an item that does not belong to the Secret Service.
  package init?(_ item: Item) {
    guard item.itemClass == .genericPassword, item.attributes[.accessGroup] == .text(Self.accessGroup),
      case .text(let collection)? = item.attributes[.service], case .text(let name)? = item.attributes[.account],
      collection.isObjectPathElement, name.isObjectPathElement
    else { return nil }
    (id, self.collection, self.name, access, state) = (item.id, collection, name, item.access, item.state)
    (created, modified) = (item.created, item.modified)
    label = if case .text(let label)? = item.attributes[.label] { label } else { "" }
    contentType =
      if case .text(let type)? = item.attributes[Self.contentTypeName] { type } else { Self.usualContentType }
    grant = item.attributes[Self.sessionName] == .number(1) ? .session : .brief
    isShared = item.attributes[.synchronizable] == .number(1)
    original = if case .text(let program)? = item.attributes[Self.originalName] { program } else { nil }
    var attributes: [String: String] = [:]
    for (name, value) in item.attributes {
      if let name = name.lookup, case .text(let value) = value { attributes[name] = value }
    }
    self.attributes = attributes
    // Another program of the user may have stored it with any text.
    let texts = [label, contentType] + attributes.keys + attributes.values
    guard texts.allSatisfy(\.fitsIntoMessage) else { return nil }
  }

  /// The content type of a released item's secret.
  package static func contentType(of item: Item) -> String {
    if case .text(let type)? = item.attributes[contentTypeName], type.fitsIntoMessage { type } else { usualContentType }
  }

  /// What a search tells of an item; nil for one that does not belong to the Secret Service, or lacks one of these
  /// attributes.
  ///
  /// A search of the vault treats an empty value as absent; the Secret Service does not, so the values are compared.
  package static func found(_ item: Item, with attributes: [String: String]) -> FoundSecret? {
    let all = item.attributes
    guard item.itemClass == .genericPassword, all[.accessGroup] == .text(accessGroup),
      case .text(let collection)? = all[.service], case .text(let name)? = all[.account],
      collection.isObjectPathElement, name.isObjectPathElement,
      attributes.allSatisfy({ all[.lookup($0.key)] == .text($0.value) })
    else { return nil }
    for (name, value) in all where name != originalName {
      guard name.rawValue.fitsIntoMessage else { return nil }
      if case .text(let text) = value, !text.fitsIntoMessage { return nil }
    }
    return FoundSecret(
      id: item.id, collection: collection, name: name, access: item.access,
      grant: all[sessionName] == .number(1) ? .session : .brief)
  }

  /// The schema that GNOME Keyring reports for an item that was stored without one, as by Python's keyring and
  /// secret-tool.
  private static let addedSchema = (name: "xdg:schema", value: "org.freedesktop.Secret.Generic")

  /// The attributes of an item as they were stored. A program that stores it again names these alone.
  package static func stored(_ attributes: [String: String]) -> [String: String] {
    guard attributes[addedSchema.name] == addedSchema.value else { return attributes }
    return attributes.filter { $0.key != addedSchema.name }
  }

  /// The search for the items with all of these attributes.
  ///
  /// - Parameter collection: the name of the only collection to search; nil for all.
  package static func search(_ attributes: [String: String] = [:], in collection: String? = nil) -> ItemSearch {
    var wanted = lookups(attributes)
    wanted[.accessGroup] = .text(accessGroup)
    if let collection { wanted[.service] = .text(collection) }
    return ItemSearch(.genericPassword, wanted, synchronizable: .any)
  }

  /// The search for the item of this name.
  package static func search(named name: String, in collection: String) -> ItemSearch {
    ItemSearch(
      .genericPassword,
      [.service: .text(collection), .account: .text(name), .accessGroup: .text(accessGroup)], synchronizable: .any)
  }

  /// When an item with this rule is open. As in other keyrings, an item without a rule is open as long as the user is
  /// logged in, even while the screen is locked, so that mail programs continue to work.
  private static func accessibility(for access: AccessControl) -> Accessibility {
    access == .none ? .afterFirstUnlock : .whenUnlocked
  }

  /// The item of a new secret.
  ///
  /// - Parameters:
  ///   - name: unique in the collection; see ``newName()``.
  ///   - original: the program that it is copied from.
  ///   - isShared: whether it is shared with the user's other machines.
  package static func item(
    named name: String, in collection: String, label: String, attributes: [String: String],
    contentType: String = usualContentType, access: AccessControl, grant: Grant = .brief,
    original: String? = nil, isShared: Bool = false
  ) -> NewItem {
    var all = lookups(attributes)
    all[.accessGroup] = .text(accessGroup)
    all[.service] = .text(collection)
    all[.account] = .text(name)
    if !label.isEmpty { all[.label] = .text(label) }
    if contentType != usualContentType { all[contentTypeName] = .text(contentType) }
    if grant == .session { all[sessionName] = .number(1) }
    if let original { all[originalName] = .text(original) }
    if isShared { all[.synchronizable] = .number(1) }
    return NewItem(.genericPassword, all, access: access, accessibility: accessibility(for: access))
  }

  /// A name that no other item has.
  package static func newName() -> String {
    var random = SystemRandomNumberGenerator()
    return Hexadecimal.text(of: (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) })
  }

  /// The change that gives an item another rule.
  package static func change(access: AccessControl, grant: Grant) -> ItemChange {
    ItemChange(
      attributes: [sessionName: grant == .session ? .number(1) : nil], access: access,
      accessibility: accessibility(for: access))
  }

  /// The change that gives an item's secret another content type.
  package static func change(contentType: String) -> ItemChange {
    ItemChange(attributes: [contentTypeName: contentType == usualContentType ? nil : .text(contentType)])
  }

  /// The change that records from which program an item was copied; nil if that program no longer has it.
  package static func change(original: String?) -> ItemChange {
    ItemChange(attributes: [originalName: original.map { .text($0) }])
  }

  /// The change that gives an item another label.
  package static func change(label: String) -> ItemChange {
    ItemChange(attributes: [.label: label.isEmpty ? nil : .text(label)])
  }

  /// The change that replaces all attributes of the item by which programs find it.
  package func change(attributes: [String: String]) -> ItemChange {
    var changes: [AttributeName: AttributeValue?] = [:]
    for name in self.attributes.keys { changes[.lookup(name)] = .some(nil) }
    for (name, value) in attributes { changes[.lookup(name)] = .text(value) }
    return ItemChange(attributes: changes)
  }

  private static func lookups(_ attributes: [String: String]) -> [AttributeName: AttributeValue] {
    var lookups: [AttributeName: AttributeValue] = [:]
    for (name, value) in attributes { lookups[.lookup(name)] = .text(value) }
    return lookups
  }
}

/// What a search of the Secret Service tells of an item: enough to name it, and to say whether a program may read it now. An
/// item has up to 64 KiB of attributes, and a search may find thousands of items.
package struct FoundSecret: SecretServiceEntry, Sendable, Hashable {
  package let id: ItemID
  package let collection: String
  package let name: String
  package let access: AccessControl
  package let grant: SecretServiceItem.Grant

  package init(
    id: ItemID, collection: String, name: String, access: AccessControl, grant: SecretServiceItem.Grant
  ) {
    (self.id, self.collection, self.name, self.access, self.grant) = (id, collection, name, access, grant)
  }
}

/// A page of what a search of the Secret Service finds, oldest first.
package struct FoundSecrets: Sendable, Hashable {
  package var secrets: [FoundSecret]
  /// Where the next page begins; nil on the last one.
  package var next: ItemCursor?
  /// Whether the store waits for its first unlock, so that no item can be read.
  package var isLocked: Bool

  package init(_ secrets: [FoundSecret] = [], next: ItemCursor? = nil, isLocked: Bool) {
    (self.secrets, self.next, self.isLocked) = (secrets, next, isLocked)
  }
}

/// What decides whether a program may read an item of the Secret Service now.
package protocol SecretServiceEntry {
  var id: ItemID { get }
  /// The name of its collection.
  var collection: String { get }
  /// The last part of its object path.
  var name: String { get }
  var access: AccessControl { get }
  var grant: SecretServiceItem.Grant { get }
}

extension SecretServiceEntry {
  /// Whether its secret requires a touch or the passcode.
  package var isGated: Bool { access != .none }
}
