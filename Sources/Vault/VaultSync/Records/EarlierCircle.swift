package import Primitives
package import SecretModel
package import VaultStore

/// A circle of the first format, which is not continued. Only the versions that it has kept for a person are still read.
package struct EarlierCircle {
  private let keys: MemberKeys

  /// Nil for a circle of this format.
  package init?(_ slot: Slot, in store: OpenedStore) throws(VaultError) {
    guard try Circle(slot, in: store) == nil else { return nil }
    let bytes = try slot.unwrap(
      under: store.keys.root, databaseID: store.keys.databaseID,
      otherwise: .storeDamaged("its keys for your other computers do not verify"))
    guard bytes.count >= MemberKeys.byteCount else { return nil }
    keys = try MemberKeys(
      bytes.withUnsafeBytes {
        SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<MemberKeys.byteCount]))
      })
  }

  /// The version of an item that a row has; nil for a deletion, and for a file that cannot be read.
  package func version(in row: RecordRow) -> (head: Revision.Head, item: NewItem, secret: SharedSecret)? {
    guard let contents = try? AgeMessage.open(row.file, with: keys.encryption),
      let signed = try? SignedLine(parsing: contents), let head = try? signed.value(Revision.Head.self),
      let item = try? head.item?.item
    else { return nil }
    let start = signed.bytes.count
    let secret = contents.withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[start...])) }
    return (head, item, SharedSecret(secret))
  }
}
