package import SecretModel

/// The reason why an item cannot be copied to another store.
package enum MoveObstacle: Sendable, Hashable {
  /// The fingers or the passcode that it was bound to are gone.
  case dead
  /// Its row cannot be read.
  case damaged
  /// It is a private key, which never leaves its store.
  case neverLeaves
  /// It has an application password, which would be needed to encrypt the copy.
  case applicationPassword
  /// It needs a finger, and the other store has none enrolled.
  case noFinger
  /// It needs a finger of the store that it is in, and none can be used there.
  case fingerThere
  /// It was changed after the other store got an item with the same attributes.
  case changedSince
  /// It belongs to the logins of this machine.
  case ofThisMachine
  /// Reading it failed.
  case unreadable(VaultError)

  /// The obstacle in the item itself; nil if its secret can be read and copied.
  init?(in item: Item) {
    switch item.state {
    case .dead: self = .dead
    case .damaged: self = .damaged
    case .living where item.access.flags.contains(.privateKeyUsage): self = .neverLeaves
    case .living where item.access.applicationPassword: self = .applicationPassword
    case .living: return nil
    }
  }

  /// The obstacle of an item in one of Whorl's internal groups. Such items are neither exported nor imported: a file
  /// from somebody else could contain a key pair or a keyring's secret that its author knows.
  init?(ofGroup attributes: [AttributeName: AttributeValue]) {
    switch attributes[.accessGroup] {
    case .text(StoreKey.accessGroup)?: self = .neverLeaves
    case .text(LoginItem.accessGroup)?: self = .ofThisMachine
    default: return nil
    }
  }
}

/// An item that is not copied.
package struct StayingItem: Sendable {
  package let item: Item
  package let obstacle: MoveObstacle
}
