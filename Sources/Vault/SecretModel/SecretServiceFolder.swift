// How the Secret Service's items, collections and programs are kept as items of the vault. Begin with
// `SecretServiceItem`; the collections and what they hold are here.

internal import Primitives

/// The record of a collection or a program of the Secret Service: an empty item in a separate access group. Its rule
/// becomes the rule of the items that are stored from then on.
package struct SecretServiceFolder: Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A collection, by the last part of its object path.
    case collection
    /// A program, by the path of its executable.
    case program
  }

  package static let accessGroup = "org.freedesktop.secrets.folders"
  /// The collection with the alias `default`, which always exists.
  package static let usualCollection = "login"
  package static let usualLabel = "Login"
  /// The alias that means the usual collection until it is given to another one.
  package static let usualAlias = "default"

  /// The collection of items that end with the session, and its alias.
  package static let sessionCollection = "session"
  package static let sessionLabel = "Session"

  private static let aliasesName = AttributeName(rawValue: "whorl.secret-service.aliases")
  private static let ruleName = AttributeName(rawValue: "whorl.secret-service.rule")
  private static let sessionName = AttributeName(rawValue: "whorl.secret-service.session")

  package let kind: Kind
  package let name: String
  package var label: String
  /// The rule of new items; nil for a program whose new items get the rule of their collection.
  package var access: AccessControl.Constraint?
  package var grant: SecretServiceItem.Grant
  /// Other names of a collection, such as `default`.
  package var aliases: [String] = []
  /// Whether it is shared with the user's other machines.
  private var isShared = false
  /// Seconds since 1970; 0 for the usual collection before the store has a record of it.
  package var created: Double = 0
  /// Seconds since 1970.
  package var modified: Double = 0

  package init(
    _ kind: Kind, _ name: String, label: String = "", access: AccessControl.Constraint? = nil,
    grant: SecretServiceItem.Grant = .brief
  ) {
    (self.kind, self.name, self.label, self.access, self.grant) = (kind, name, label, access, grant)
  }

  /// Nil for an item that is no such record.
  package init?(_ item: Item) {
    guard item.itemClass == .genericPassword, item.attributes[.accessGroup] == .text(Self.accessGroup),
      case .text(let word)? = item.attributes[.service], let kind = Kind(rawValue: word),
      case .text(let name)? = item.attributes[.account]
    else { return nil }
    guard kind != .collection || name.isObjectPathElement else { return nil }
    (self.kind, self.name) = (kind, name)
    label = if case .text(let label)? = item.attributes[.label] { label } else { "" }
    access =
      if case .text(let rule)? = item.attributes[Self.ruleName] { AccessControl.Constraint(rawValue: rule) } else {
        nil
      }
    grant = item.attributes[Self.sessionName] == .number(1) ? .session : .brief
    aliases =
      if case .text(let names)? = item.attributes[Self.aliasesName] {
        names.split(separator: ",").map(String.init)
      } else { [] }
    isShared = item.attributes[.synchronizable] == .number(1)
    (created, modified) = (item.created, item.modified)
    guard ([label] + aliases).allSatisfy(\.fitsIntoMessage) else { return nil }
  }

  /// Whether a new item with this rule is shared with the user's other machines.
  package func shares(_ access: AccessControl) -> Bool { isShared && access != .none }

  /// The search for all records of a kind. The vault has an index of services and none of groups: a search for the group
  /// alone would open every item of the store.
  package static func search(_ kind: Kind) -> ItemSearch {
    ItemSearch(
      .genericPassword, [.service: .text(kind.rawValue), .accessGroup: .text(accessGroup)], synchronizable: .any)
  }

  /// The search for one record.
  package static func search(_ kind: Kind, _ name: String) -> ItemSearch {
    ItemSearch(
      .genericPassword,
      [.service: .text(kind.rawValue), .account: .text(name), .accessGroup: .text(accessGroup)],
      synchronizable: .any)
  }

  /// The record as an item, whose secret is empty.
  package var item: NewItem {
    var attributes: [AttributeName: AttributeValue] = [
      .accessGroup: .text(Self.accessGroup), .service: .text(kind.rawValue), .account: .text(name),
    ]
    if !label.isEmpty { attributes[.label] = .text(label) }
    if let access { attributes[Self.ruleName] = .text(access.rawValue) }
    if grant == .session { attributes[Self.sessionName] = .number(1) }
    if !aliases.isEmpty { attributes[Self.aliasesName] = .text(aliases.joined(separator: ",")) }
    if isShared { attributes[.synchronizable] = .number(1) }
    return NewItem(.genericPassword, attributes, accessibility: .afterFirstUnlock)
  }
}

/// The collections, programs and items of the Secret Service in a store, without the secrets.
package struct SecretServiceContents: Sendable {
  /// The usual collection, then the others by name: those with a record, and those that only items name.
  package let collections: [SecretServiceFolder]
  /// The programs with a record, by path.
  package let programs: [SecretServiceFolder]
  /// By collection, label and age.
  package let items: [SecretServiceItem]

  /// Reads everything. Asks nobody.
  ///
  /// - Parameter states: of the items.
  package init(of store: any VaultService, _ states: Set<Item.State> = [.living]) async throws(VaultError) {
    var search = SecretServiceItem.search()
    search.states = states
    let items = try await store.allItems(search).compactMap(SecretServiceItem.init)
    var folders: [SecretServiceFolder] = []
    for kind in SecretServiceFolder.Kind.allCases {
      folders += try await store.allItems(SecretServiceFolder.search(kind)).compactMap(SecretServiceFolder.init)
    }
    programs = folders.filter { $0.kind == .program }.sorted { $0.name < $1.name }
    var known: [String: SecretServiceFolder] = [:]
    for name in items.map(\.collection) { known[name] = SecretServiceFolder(.collection, name) }
    known[SecretServiceFolder.usualCollection] = .usual
    for folder in folders where folder.kind == .collection { known[folder.name] = folder }
    func order(_ collection: String) -> (Int, String) {
      (collection == SecretServiceFolder.usualCollection ? 0 : 1, collection)
    }
    collections = known.values.sorted { order($0.name) < order($1.name) }
    self.items = items.sorted {
      ($0.collection == $1.collection)
        ? ($0.label, $0.created) < ($1.label, $1.created) : order($0.collection) < order($1.collection)
    }
  }

  /// The collection of this name, or else the only one of this label.
  package func collection(called word: String) -> SecretServiceFolder? {
    if let named = collections.first(where: { $0.name == word }) { return named }
    let labelled = collections.filter { $0.label == word }
    return labelled.count == 1 ? labelled[0] : nil
  }
}

extension SecretServiceFolder {
  /// The collection of items that end with the session, before the store has a record of it.
  package static let session = SecretServiceFolder(.collection, sessionCollection, label: sessionLabel)

  /// The usual collection, before the store has a record of it.
  package static let usual = SecretServiceFolder(.collection, usualCollection, label: usualLabel)
}

/// Restrictions of D-Bus (D-Bus Specification, "Valid Object Paths" and "Marshaling").
extension String {
  /// Whether this can be an element of an object path.
  var isObjectPathElement: Bool {
    !isEmpty
      && utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }

  /// Whether a string of a message can contain this: it has no character U+0000.
  var fitsIntoMessage: Bool { !containsNUL }
}
