import AgeFormat
import Keys
import Primitives
package import SecretModel
package import SecureMemory

/// One version of an item, or its deletion. Signed by the machine that wrote it, and encrypted to the members.
package struct Revision: Sendable {
  /// The signed part.
  package struct Head: Codable, Sendable {
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
      clock: LogicalClock, created: Double, item: DescribedItem? = nil, modified: Double, name: [UInt8]? = nil,
      seen: VersionVector
    ) {
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
  /// Empty for a deletion.
  package let secret: SharedSecret

  package var writer: MemberID { signed.signer }

  /// Signs a new version.
  package init(
    _ head: Head, secret: SharedSecret, of circle: String, by keys: MemberKeys, as writer: MemberID
  ) throws(VaultError) {
    self.head = head
    self.secret = secret
    signed = try SignedLine(head, .item, by: keys, as: writer, context: Self.context(circle, secret))
  }

  /// Decrypts and verifies a version.
  ///
  /// - Throws: `fileUnreadable` for anything but a record that a member of the circle has signed.
  package init(
    _ file: [UInt8], with key: EncryptedFile.KeyPair, expectedAt place: Int, circle: String, from authors: Authors
  ) throws(VaultError) {
    let contents = try AgeMessage.open(file, with: key, expectedAt: place)
    signed = try SignedLine(parsing: contents)
    let start = signed.bytes.count
    guard contents.count >= start else { throw .fileUnreadable("it was cut off") }
    secret = SharedSecret(
      contents.withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[start...])) })
    try signed.verify(.item, by: authors, context: Self.context(circle, secret))
    head = try signed.value()
    guard secret.bytes.count == head.item?.secret ?? 0, (head.item == nil) == (head.name != nil) else {
      throw .fileUnreadable("its secret has another length")
    }
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

  /// The circle's identifier and SHA-256 of the secret, each on a line.
  private static func context(_ circle: String, _ secret: SharedSecret) -> SharedSecret {
    let digest = Digest.sha256(secret: secret.bytes)
    var text = SecretBytes(count: 2 * digest.count)
    digest.withUnsafeBytes { digest in
      text.withUnsafeMutableBytes { text in
        for (place, byte) in digest.enumerated() {
          (text[2 * place], text[2 * place + 1]) = Hexadecimal.digits(of: byte)
        }
      }
    }
    return SharedSecret(SecretBytes(joining: Array("\(circle)\n".utf8), text, Array("\n".utf8)))
  }

  /// The file, encrypted to these keys.
  package func sealed(to recipients: [AgePublicKey], epoch: Int) throws(VaultError) -> [UInt8] {
    try AgeMessage.seal(SecretBytes(joining: signed.bytes, secret.bytes, []), to: recipients, epoch: epoch)
  }

  /// The number of the record of members for which a file was encrypted; 0 if the file does not have it.
  package static func epoch(of file: [UInt8]) -> Int { AgeMessage.epoch(of: file) ?? 0 }
}

extension Revision {
  /// Whether both have the same item.
  package func hasSameItem(as other: Revision) -> Bool {
    head.describesSame(as: other.head) && secret.bytes.constantTimeEquals(other.secret.bytes)
  }
}

extension Revision.Head {
  /// Whether both have the same item, apart from its secret.
  fileprivate func describesSame(as other: Revision.Head) -> Bool {
    guard let mine = item, let theirs = other.item else { return item == nil && other.item == nil }
    return (try? JSONLine.line(mine)) == (try? JSONLine.line(theirs))
  }
}
