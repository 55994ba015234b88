public import SecureMemory

/// What can be known of an item without a finger.
package struct ItemSummary: Sendable, Hashable {
  package enum State: Sendable, Hashable {
    case alive
    /// The enrolment set, or the passcode, that the item was bound to is gone: nothing brings the secret back.
    case dead
    /// The row was edited or damaged; the item can only be removed.
    case damaged
  }

  /// Nil when the row is too damaged to tell.
  package var name: ItemName?
  package var access: AccessControl
  package var accessibility: Accessibility
  /// Seconds since 1970.
  package var created: Int64
  /// Seconds since 1970.
  package var modified: Int64
  package var state: State
}

/// Which items are meant.
package enum ItemQuery: Sendable, Hashable {
  case all
  case service(String)
  case name(ItemName)
  /// A pattern with `*` and `?` over `SERVICE/ACCOUNT`; reads every item's attributes.
  case pattern(String)
}

/// A released secret: it lives as long as this object and is zeroed with it.
public final class ReleasedItem: Sendable {
  /// Which item it is.
  public let id: ItemID
  /// What the item is called in messages.
  public let name: ItemName
  /// The secret itself.
  public let secret: SecretBytes

  init(id: ItemID, name: ItemName, secret: consuming SecretBytes) {
    self.id = id
    self.name = name
    self.secret = secret
  }
}
