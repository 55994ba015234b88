import Keys
import Primitives
package import SecretModel

/// One version of an item, or its deletion. Signed by the machine that wrote it, and encrypted to the members.
package struct Revision: Sendable {
  /// The signed part.
  package struct Head: Codable, Sendable {
    /// ``HiddenSecret/commitment``; nil for a deletion.
    package var commitment: JSONBytes?
    /// The writer's logical clock: greater than that of every record it knew.
    package var clock: LogicalClock
    /// When the item was created, in whole seconds since 1970.
    package var created: Double
    /// Nil for a deletion.
    package var item: DescribedItem?
    /// Whole seconds since 1970, by the writer's clock.
    package var modified: Double
    /// The name of the deleted record; nil for an item, whose name follows from its attributes.
    package var name: JSONBytes?
    /// The version vector: for each machine, the clock of its last version that this one replaces.
    package var seen: VersionVector

    package init(
      clock: LogicalClock, created: Double, item: DescribedItem? = nil, commitment: [UInt8]? = nil, modified: Double,
      name: [UInt8]? = nil, seen: VersionVector
    ) {
      self.commitment = commitment.map { JSONBytes($0) }
      self.clock = clock
      self.created = created.rounded(.down)
      self.item = item
      self.modified = modified.rounded(.down)
      self.name = name.map { JSONBytes($0) }
      self.seen = seen
    }
  }

  package let head: Head
  package let signed: SignedLine
  /// The secret as a file of its own (``HiddenSecret``), inside the file; empty for a deletion.
  package let secretFile: [UInt8]

  package var writer: MemberID { signed.signer }

  /// Signs a new version.
  package init(
    _ head: Head, secretFile: [UInt8], of circle: String, by keys: MemberKeys, as writer: MemberID
  ) throws(VaultError) {
    self.head = head
    self.secretFile = secretFile
    signed = try SignedLine(head, .item, by: keys, as: writer, in: circle)
  }

  /// Decrypts and verifies a version, apart from its secret.
  ///
  /// - Throws: `fileUnreadable` for anything but a record that a member of the circle has signed.
  package init(
    _ file: [UInt8], with key: EncryptedFile.KeyPair, expectedAt place: Int, circle: String, from authors: Authors
  ) throws(VaultError) {
    let contents = try AgeMessage.open(file, with: key, expectedAt: place)
    signed = try SignedLine(parsing: contents)
    let start = signed.bytes.count
    secretFile = contents.withUnsafeBytes { Array($0[start...]) }
    try signed.verify(.item, by: authors, in: circle)
    head = try signed.value()
    let isDeletion = head.item == nil
    guard isDeletion == (head.name != nil), isDeletion == (head.commitment == nil), isDeletion == secretFile.isEmpty
    else { throw .fileUnreadable("it is neither an item nor a deletion") }
    // Its writer's clock is greater than all that it has seen.
    guard head.clock.isInForm, head.seen.count <= 10_000, head.seen.values.allSatisfy({ $0 <= head.clock }),
      head.seen[signed.signer.description] == head.clock
    else { throw .fileUnreadable("its clock is not valid") }
    guard Self.times.contains(head.created), Self.times.contains(head.modified) else {
      throw .fileUnreadable("its times are not valid")
    }
  }

  /// The times of a version: from 1970 to the year 9999.
  private static let times: ClosedRange<Double> = 0...253_402_300_799

  private init(_ head: Head, _ signed: SignedLine, _ secretFile: [UInt8]) {
    (self.head, self.signed, self.secretFile) = (head, signed, secretFile)
  }

  /// The same version with its secret encrypted anew.
  package func with(secretFile: [UInt8]) -> Revision { Revision(head, signed, secretFile) }

  /// Decrypts the secret of an item.
  package func secret(with keys: SecretKeys) throws(SecretObstacle) -> HiddenSecret {
    guard let item = try? head.item?.item, let commitment = head.commitment?.bytes else { throw .unreadable }
    let hidden = try HiddenSecret(secretFile, under: SecretLock(item), commitment: commitment, with: keys)
    guard hidden.secret.bytes.count == head.item?.secret else { throw .unreadable }
    return hidden
  }

  /// The same version with its secret encrypted to other members. A deletion has none.
  package func encrypted(
    to members: [Member], epoch: Int, with keys: SecretKeys
  ) throws -> Revision {
    guard let item = try head.item?.item else { return self }
    return with(secretFile: try secret(with: keys).file(under: SecretLock(item), for: members, epoch: epoch))
  }

  /// The file, encrypted to these keys.
  package func sealed(to recipients: [AgePublicKey], epoch: Int) throws(VaultError) -> [UInt8] {
    let contents = signed.bytes + secretFile
    return try AgeMessage.seal(SecretBytes(copying: contents.span), to: recipients, epoch: epoch)
  }

  /// The number of the record of members for which a file was encrypted; 0 if the file does not have it.
  package static func epoch(of file: [UInt8]) -> Int { AgeMessage.epoch(of: file) ?? 0 }
}

extension Revision {
  /// Whether both have the same item. Secrets that are closed count as different.
  package func hasSameItem(as other: Revision, with keys: SecretKeys) -> Bool {
    guard head.describesSame(as: other.head) else { return false }
    if head.commitment == other.head.commitment { return true }
    guard let mine = try? secret(with: keys), let theirs = try? other.secret(with: keys) else { return false }
    return mine.secret.bytes.constantTimeEquals(theirs.secret.bytes)
  }
}

extension Revision.Head {
  /// Whether both have the same item, apart from its secret.
  fileprivate func describesSame(as other: Revision.Head) -> Bool {
    guard let mine = item, let theirs = other.item else { return item == nil && other.item == nil }
    return (try? JSONLine.line(mine)) == (try? JSONLine.line(theirs))
  }
}
