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

  /// The items that the entry becomes. Its first secret gets the entry's name: in an entry without a password, that may
  /// be a note.
  ///
  /// - Throws: what is wrong with a name.
  func items(named name: ItemName) throws(VaultError) -> [ImportedItem] {
    var items: [ImportedItem] = []
    var labels: [String: Int] = [:]
    for secret in secrets where !secret.value.bytes.isEmpty {
      guard !items.isEmpty else {
        items.append(ImportedItem(name, attributes, secret: secret.value.copy()))
        continue
      }
      var label = secret.label ?? "password"
      labels[label, default: 0] += 1
      if let number = labels[label], number > 1 { label += " \(number)" }
      let beside = try ItemName(service: name.service, account: "\(name.account)#\(label)")
      items.append(ImportedItem(beside, secret: secret.value.copy()))
    }
    return items
  }

  private var attributes: [AttributeName: AttributeValue] {
    var texts = fields.map { (AttributeName(rawValue: "whorl.field.\($0.key)"), $0.value) }
    texts += [(.label, title), (.url, url), (.folder, folder)]
    return Dictionary(
      texts.filter { !$0.1.isEmpty }.map { ($0.0, AttributeValue.text($0.1)) }, uniquingKeysWith: { first, _ in first })
  }
}

extension AttributeName {
  /// The address that an imported entry had; Whorl's own.
  fileprivate static let url = Self(rawValue: "whorl.url")
  /// The folder or group that an imported entry was in; Whorl's own.
  fileprivate static let folder = Self(rawValue: "whorl.folder")
}
