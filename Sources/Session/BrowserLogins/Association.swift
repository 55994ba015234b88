internal import Primitives
package import SecretModel
package import Whorl

/// A browser that the person has connected with the store: an item whose secret is the public key by which the extension
/// says that it is the same one.
package struct Association: Sendable {
  /// The name by which the extension knows it, such as `firefox-esr-1f0a22b7`.
  package let id: String
  /// The path of the browser that asked.
  package let program: String
  /// Seconds since 1970.
  package let created: Double
  let item: ItemID

  /// The group of these items, which is the name of the native messaging host.
  package static let group = "org.keepassxc.keepassxc_browser"
  private static let service = AttributeValue.text("browser")
  private static let programName = AttributeName(rawValue: "whorl.browser.program")
  /// The most browsers that are connected at a time.
  static let most = 64

  private init?(_ item: Item) {
    guard item.state == .living, case .text(let id)? = item.attributes[.account] else { return nil }
    (self.id, created, self.item) = (id, item.created, item.id)
    program = if case .text(let program)? = item.attributes[Self.programName] { program } else { "" }
  }

  private static func search(_ id: String? = nil) -> ItemSearch {
    var attributes = [AttributeName.service: service]
    attributes[.account] = id.map { .text($0) }
    return ItemSearch(.genericPassword, attributes, groups: .named([group]))
  }

  /// All of them, the oldest first.
  package static func all(in store: SecretStore) async throws(VaultError) -> [Association] {
    try await store.items(search()).compactMap { Association($0) }
  }

  /// Whether a browser is connected under this name and with this key.
  static func holds(_ id: String, _ key: String, in store: SecretStore) async throws(VaultError) -> Bool {
    guard let found = try await store.items(search(id)).compactMap({ Association($0) }).first else { return false }
    let kept = try await store.call { vault throws(VaultError) in try await vault.secrets(.ids([found.item]), .nobody) }
    guard let kept = kept.first else { return false }
    return kept.secret.constantTimeEquals(SecretBytes(copying: Array(key.utf8).span))
  }

  /// Stores one. The person has been asked before.
  static func add(_ id: String, key: String, program: String, to store: SecretStore) async throws(VaultError) {
    let item = NewItem(
      .genericPassword,
      [
        .service: service, .account: .text(id), .label: .text("Browser: \(id)"), programName: .text(program),
        .accessGroup: .text(group),
      ])
    try await store.add(item, secret: SecretBytes(copying: Array(key.utf8).span))
  }

  /// Removes those of these names, or all of them (nil). Running browsers are refused from then on.
  ///
  /// - Returns: the names of those that were removed.
  package static func forget(_ id: String?, in store: SecretStore) async throws(VaultError) -> [String] {
    let found = try await all(in: store).filter { id == nil || $0.id == id }
    guard !found.isEmpty else { return [] }
    let items = found.map(\.item)
    _ = try await store.call { vault throws(VaultError) in try await vault.delete(.ids(items)) }
    return found.map(\.id)
  }
}
