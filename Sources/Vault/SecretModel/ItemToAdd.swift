// Items on their way: to be stored, released, and with a key to be made or used.

public import Primitives

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

/// The source of a new item's private key.
package enum KeySource: Sendable {
  /// It is generated in the vault, and stays there.
  case generated(KeyAlgorithm)
  /// It is imported in the format for SSH agents: the contents of `SSH_AGENTC_ADD_IDENTITY`.
  case ssh(SharedSecret)
  /// It is a passkey of another store or program: the bytes of a ``MovingPasskey``.
  case passkey(SharedSecret)
}

/// An operation with a private key, or with the seed of one-time codes, inside the vault.
package enum KeyUse: Sendable {
  /// Returns the signature.
  case sign([UInt8], SignatureScheme)
  /// Returns the plaintext.
  case decrypt([UInt8], EncryptionScheme)
  /// Returns the secret agreed with a public key, given in its external representation. `size` and `sharedInfo` are
  /// used by schemes that derive a key.
  case exchange(with: [UInt8], ExchangeScheme, size: Int, sharedInfo: [UInt8])
  /// Returns the key's external representation, or a ``MovingPasskey`` of a passkey. Refused for an access control with
  /// `privateKeyUsage`.
  case export
  /// Returns the answer of a ``OneTimeCode`` of a password that holds a seed: an `otpauth://totp/` address, or in an item
  /// whose name has `#totp` in it also the seed alone. The seed does not leave the vault by this.
  case oneTimeCode
}
