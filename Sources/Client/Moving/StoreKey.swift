package import SecretModel
package import SecureMemory

/// The key pair of a store. Other machines encrypt their exports for this store to its public key.
///
/// It is an item like others: the private half is its secret, which a finger or the passcode releases, and the public
/// half is an attribute, which can be read without asking. It is made when it is first needed.
package struct StoreKey: Sendable {
  /// The access group of the item.
  static let accessGroup = "org.whorl.key"
  private static let attributes: [AttributeName: AttributeValue] = [
    .service: .text("whorl key"), .accessGroup: .text(accessGroup),
  ]

  private let store: any VaultService

  package init(of store: any VaultService) { self.store = store }

  /// The public half. Makes the pair if it does not exist.
  ///
  /// - Parameter makePair: makes a key pair, in a private vault.
  package func publicKey(
    _ makePair: () async throws(VaultError) -> EncryptedFile.KeyPair
  ) async throws(VaultError) -> AgePublicKey {
    if let item = try await item() { return try Self.publicKey(in: item) }
    let pair = try await makePair()
    var item = NewItem(.genericPassword, Self.attributes, access: AccessControl(.presence))
    item.attributes[.publicKey] = .bytes(pair.publicKey.bytes)
    switch try await store.bringIn(item, secret: pair.privateKey.copy()) {
    case .added: return pair.publicKey
    case .alreadyThere:
      // Another program has made one at the same time.
      guard let item = try await self.item() else { throw .itemGone }
      return try Self.publicKey(in: item)
    }
  }

  /// The private half, after a touch or the passcode.
  ///
  /// - Throws: `itemGone` if the store has no key; errors of an authentication.
  package func privateKey(_ asking: Asking) async throws(VaultError) -> SharedSecret {
    guard let item = try await item(), let released = try await store.secrets(.ids([item.id]), asking).first else {
      throw .itemGone
    }
    return SharedSecret(released.secret.copy())
  }

  private func item() async throws(VaultError) -> Item? {
    try await store.allItems(
      ItemSearch(.genericPassword, [.service: .text("whorl key")], groups: .named([Self.accessGroup]))
    ).first
  }

  private static func publicKey(in item: Item) throws(VaultError) -> AgePublicKey {
    guard case .bytes(let bytes)? = item.attributes[.publicKey], let key = AgePublicKey(bytes: bytes) else {
      throw .itemDamaged(item.name)
    }
    return key
  }
}
