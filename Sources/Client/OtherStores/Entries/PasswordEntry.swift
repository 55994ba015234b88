internal import Moving
internal import SecretModel
internal import SecureMemory

/// An entry as most password managers have it: a title, a user, a password, and more.
struct PasswordEntry: Sendable {
  /// One secret of an entry.
  struct Secret: Sendable {
    /// The name of the secret, such as `notes`; nil for the password.
    let label: String?
    let value: SharedSecret
  }

  /// Its position in the source, for people: "line 7".
  let origin: String
  var title = ""
  var user = ""
  var url = ""
  var folder = ""
  /// Further fields that are not secret, by their names.
  var fields: [String: String] = [:]
  /// The password first, if there is one.
  var secrets: [Secret] = []

  /// The entry's name for people.
  var called: String { title.isEmpty ? origin : title }

  /// The name of its item: the title, or without one the host of its address, and the user.
  var name: ItemName {
    get throws(VaultError) {
      let service = title.isEmpty ? host : title
      guard !service.isEmpty else { throw .invalidName("it has neither a title nor an address") }
      return try ItemName(parsing: user.isEmpty ? service : "\(service)/\(user)")
    }
  }

  private var host: String {
    // Only the part between the scheme and the path, without a user.
    let afterScheme = url.split(separator: "://", maxSplits: 1).last ?? ""
    let authority = afterScheme.prefix { !"/?#".contains($0) }
    return String(authority.split(separator: "@").last ?? "")
  }

  /// The items that the entry becomes: its password under the entry's name, and each other secret under that name, `#`
  /// and its label, whether there is a password or not. The first has the entry's attributes.
  ///
  /// - Throws: what is wrong with a name.
  func items(named name: ItemName) throws(VaultError) -> [ImportedItem] {
    var items: [ImportedItem] = []
    for (called, secret) in try filled(name) {
      items.append(ImportedItem(called, items.isEmpty ? attributes : [:], secret: secret.bytes.copy()))
    }
    return items
  }

  /// The names of ``items(named:)``.
  func itemNames(named name: ItemName) throws(VaultError) -> [ItemName] { try filled(name).map(\.name) }

  /// The secrets that are not empty, with the names of their items.
  private func filled(_ name: ItemName) throws(VaultError) -> [(name: ItemName, secret: SharedSecret)] {
    var result: [(name: ItemName, secret: SharedSecret)] = []
    var numbers = LabelNumbers()
    var hasPassword = false
    for secret in secrets {
      // Empty ones count as well, so that the labels of the others do not depend on them.
      let label = secret.label ?? (hasPassword ? "password" : nil)
      hasPassword = hasPassword || label == nil
      let numbered = label.map { numbers.next($0) }
      guard !secret.value.bytes.isEmpty else { continue }
      result.append((try numbered.map { (label) throws(VaultError) in try name.beside(label) } ?? name, secret.value))
    }
    return result
  }

  private var attributes: [AttributeName: AttributeValue] {
    var texts = fields.map { (AttributeName(rawValue: "whorl.field.\($0.key)"), $0.value) }
    texts += [(.label, title), (.url, url), (.folder, folder)]
    return Dictionary(
      texts.filter { !$0.1.isEmpty }.map { ($0.0, AttributeValue.text($0.1)) }, uniquingKeysWith: { first, _ in first })
  }
}

extension ItemName {
  /// The name of a further secret of the entry with this name.
  fileprivate func beside(_ label: String) throws(VaultError) -> ItemName {
    // A label is the name of a field, which may be of several lines.
    let words = label.split { $0.isNewline || String($0).hasControlCharacters }.joined(separator: " ")
    do throws(VaultError) {
      return try ItemName(parsing: "\(self)#\(words)")
    } catch {
      throw .invalidName("with its field '\(words.prefix(40))' it is longer than \(Self.limit) bytes")
    }
  }
}

extension AttributeName {
  /// The address that an imported entry had; Whorl's own.
  fileprivate static let url = Self(rawValue: "whorl.url")
  /// The folder or group that an imported entry was in; Whorl's own.
  fileprivate static let folder = Self(rawValue: "whorl.folder")
}
