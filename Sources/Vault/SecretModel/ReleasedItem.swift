public import SecureMemory

/// A released secret: it lives as long as this object and is zeroed with it.
public final class ReleasedItem: Sendable {
  /// Everything but the secret, as it was when the secret was released.
  public let item: Item
  /// The secret itself.
  public let secret: SecretBytes

  package init(_ item: Item, secret: consuming SecretBytes) {
    self.item = item
    self.secret = secret
  }

  /// Which item it is.
  public var id: ItemID { item.id }
  /// What the item is called in messages.
  public var name: ItemName { item.name ?? ItemName(unchecked: "item", account: "") }
}
