package import SecretModel

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
