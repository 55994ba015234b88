public import SecureMemory

/// An item and its released secret, which is zeroed when this object is freed.
public final class ReleasedItem: Sendable {
  /// The most bytes of the secrets of one call together.
  package static let sizeLimit = 256 << 20

  /// The item as it was when the secret was released.
  public let item: Item
  /// The secret itself.
  public let secret: SecretBytes

  package init(_ item: Item, secret: consuming SecretBytes) {
    self.item = item
    self.secret = secret
  }

  /// Which item it is.
  public var id: ItemID { item.id }
  /// The item's name for messages.
  public var name: ItemName { item.name ?? ItemName(unchecked: "item", account: "") }
}
