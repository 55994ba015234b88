import Primitives
internal import Prompts
import SecretModel
import Settings
import Whorl

/// A key for files in age's format, which stays in the vault: an item of class key, in an access group of its own.
struct AgeKey: StoredKey, Hashable {
  static let kind = "key for age"
  static let listing = "whorl age list"
  static let accessGroup = "org.whorl.age"

  let id: ItemID
  let name: String
  let publicKey: AgePublicKey
  let access: AccessControl
  let state: Item.State

  init?(_ item: Item) {
    guard item.itemClass == .key, item.attributes[.accessGroup] == .text(Self.accessGroup),
      item.attributes[.keyType] == .text(KeyFamily.x25519.keyType),
      case .bytes(let bytes)? = item.attributes[.publicKey], let publicKey = AgePublicKey(bytes: bytes)
    else { return nil }
    (id, self.publicKey, access, state) = (item.id, publicKey, item.access, item.state)
    name = if case .text(let label)? = item.attributes[.label] { label } else { "" }
  }

  static func search(_ states: Set<Item.State>) -> ItemSearch {
    ItemSearch(.key, groups: .named([accessGroup]), synchronizable: .any, states: states)
  }

  /// The item of a new key.
  static func item(named name: String, access: AccessControl) -> NewItem {
    NewItem(.key, [.label: .text(name), .accessGroup: .text(accessGroup)], access: access)
  }

  var publicText: String { "\(publicKey)" }

  /// The lines of a file of identities.
  var identityLines: String {
    "# Whorl's key \(PromptLabel.names([name])); the key itself stays in the vault\n"
      + "# public key: \(publicKey)\n\(AgeIdentity(publicKey).text)\n"
  }
}

/// What age is given in place of a key: it names the key by its public half, and holds no secret.
struct AgeIdentity: Sendable, Hashable {
  private static let prefix = "age-plugin-whorl-"

  let publicKey: AgePublicKey

  init(_ publicKey: AgePublicKey) { self.publicKey = publicKey }

  /// Nil for text that is no identity of Whorl's.
  init?(parsing text: String) {
    guard !text.utf8.contains(where: { (0x61...0x7A).contains($0) }),
      let bytes = Bech32.bytes(in: text.lowercased(), prefix: Self.prefix), let key = AgePublicKey(bytes: bytes)
    else { return nil }
    publicKey = key
  }

  /// `AGE-PLUGIN-WHORL-1` and 58 characters.
  var text: String { Bech32.text(of: publicKey.bytes, prefix: Self.prefix).uppercased() }
}
