public import SecureMemory

/// A released secret: it lives as long as this object and is zeroed with it.
public final class ReleasedItem: Sendable {
  /// Which item it is.
  public let id: ItemID
  /// What the item is called in messages.
  public let name: ItemName
  /// The secret itself.
  public let secret: SecretBytes

  package init(id: ItemID, name: ItemName, secret: consuming SecretBytes) {
    self.id = id
    self.name = name
    self.secret = secret
  }
}
