/// A login entry of a store: names a target to which a secret is handed over when the user logs in.
///
/// It is stored as a generic password of the group ``accessGroup``. Its service is the kind of target and its account
/// is the target's name. It is open from the first unlock on, and needs no prompt.
package struct LoginItem: Sendable, Hashable {
  /// The access group of all login entries.
  package static let accessGroup = "org.whorl.login"

  /// The kinds of targets, with their names on the command line.
  package enum Kind: String, Sendable, CaseIterable {
    /// A keyring of GNOME Keyring. The secret is the password of its file.
    case gnomeKeyring = "gnome-keyring"
    /// A wallet of KWallet. The secret is the 56-byte key derived from its password.
    case kwallet
    /// A variable in the environment of the user's service manager.
    case environment
    /// A file in the user's runtime directory.
    case file
    /// A command that reads the secret from its standard input.
    case command
    /// Records the user's choice that the login password is the passcode. The secret is empty.
    case passcode

    /// Whether the entry delivers the secret of another item, its ``LoginItem/source``.
    package var deliversAnotherItem: Bool {
      switch self {
      case .environment, .file, .command: true
      case .gnomeKeyring, .kwallet, .passcode: false
      }
    }
  }

  /// The kind of target.
  package var kind: Kind
  /// The target's name: the keyring, the wallet, the variable, the path, the command line; empty for ``Kind/passcode``.
  package var name: String
  /// The item whose secret is delivered; nil if the entry holds the secret itself.
  package var source: ItemID?

  package init(_ kind: Kind, name: String = "", source: ItemID? = nil) {
    self.kind = kind
    self.name = name
    self.source = source
  }

  /// The login entry stored in an item; nil for any other item.
  package init?(_ item: Item) {
    guard item.itemClass == .genericPassword, item.attributes[.accessGroup] == .text(Self.accessGroup),
      case .text(let service)? = item.attributes[.service], let kind = Kind(rawValue: service)
    else { return nil }
    switch item.attributes[.account] {
    case .text(let name)?: self.name = name
    case nil: self.name = ""
    case .bytes, .number, .date: return nil
    }
    self.kind = kind
    if case .bytes(let id)? = item.attributes[.loginSource] { source = ItemID(bytes: id) }
    guard (source != nil) == kind.deliversAnotherItem else { return nil }
  }

  fileprivate var attributes: [AttributeName: AttributeValue] {
    var attributes: [AttributeName: AttributeValue] = [
      .service: .text(kind.rawValue), .accessGroup: .text(Self.accessGroup),
    ]
    if !name.isEmpty { attributes[.account] = .text(name) }
    return attributes
  }
}

extension NewItem {
  /// The item that stores a login entry.
  package init(_ entry: LoginItem) {
    var attributes = entry.attributes
    attributes[.loginSource] = entry.source.map { .bytes($0.bytes) }
    self.init(.genericPassword, attributes, access: .none, accessibility: .afterFirstUnlock)
  }
}

extension ItemSearch {
  /// A search for the entry of this kind and name, whatever its source.
  package init(_ entry: LoginItem) {
    var attributes = entry.attributes
    attributes[.account] = .text(entry.name)
    self.init(.genericPassword, attributes, groups: .named([LoginItem.accessGroup]))
  }

  /// A search for all login entries of one kind; nil for every kind.
  package init(loginItemsOf kind: LoginItem.Kind?) {
    self.init(
      .genericPassword, kind.map { [.service: .text($0.rawValue)] } ?? [:], groups: .named([LoginItem.accessGroup]))
  }
}

extension AttributeName {
  /// The id of the item whose secret a login entry delivers (``LoginItem/source``); Whorl's own.
  package static let loginSource = Self(rawValue: "whorl.login.source")
  /// In the entry ``LoginItem/Kind/passcode``: the number of the log's newest entry when the login password was last
  /// found to be the passcode; Whorl's own. Missing if they could not be compared.
  package static let loginProof = Self(rawValue: "whorl.login.proof")
}
