internal import KeychainServices
internal import SecretModel

/// A right of ``LARightStore``, with a key and perhaps a secret that can be used only while it is authorized
/// (LAPersistedRight.h, macOS 13).
public final class LAPersistedRight: LARight, @unchecked Sendable {
  // Unchecked, like its superclass; its own values never change.

  /// The key that was made when the right was saved.
  public let key: LAPrivateKey
  /// The secret that the right was saved with.
  public let secret: LASecret
  /// The item that holds the secret, by which the right is found.
  let anchor: ItemID
  /// The item of the key.
  let keyItem: ItemID

  /// Nil for items that are no right.
  init?(anchor: Item, key: Item) {
    let authorization = RightAuthorization(anchor.access, item: key.id)
    let proof = RightProof(authorization)
    guard let privateKey = LAPrivateKey(key, proof) else { return nil }
    self.key = privateKey
    self.anchor = anchor.id
    keyItem = key.id
    secret = LASecret(anchor.id, proof)
    super.init(authorization)
  }
}
