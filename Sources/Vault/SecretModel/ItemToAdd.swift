package import SecureMemory

/// An item that is to be stored, with its secret.
package struct ItemToAdd: Sendable {
  /// The most items of one call.
  package static let limit = 4_000
  /// The most bytes that the secrets of one call may have together.
  package static let sizeLimit = 8 << 20

  package var item: NewItem
  package var secret: SharedSecret

  package init(_ item: NewItem, secret: SharedSecret) {
    self.item = item
    self.secret = secret
  }
}

/// An item of a call that was not stored, and why.
package struct RefusedItem: Sendable, Hashable {
  /// Its position in the call.
  package var place: Int
  package var error: VaultError

  package init(place: Int, error: VaultError) {
    self.place = place
    self.error = error
  }
}

extension VaultError {
  /// Whether the error applies only to this new item, so that the store may accept others.
  package var concernsNewItem: Bool {
    switch self {
    // The rule of the item.
    case .passcodeNotSet, .notEnrolled, .invalidAccessControl, .interactionNotAllowed: true
    default: concernsNewItemOfAnyRule
    }
  }

  /// The same if the other items have the same access control and accessibility.
  package var concernsNewItemOfAnyRule: Bool {
    switch self {
    case .secretTooLong, .invalidName, .invalidRequest, .itemDamaged, .duplicateItem, .passkeysFull: true
    default: false
    }
  }
}
