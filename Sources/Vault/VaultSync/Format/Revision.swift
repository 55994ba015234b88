import AgeFormat
import Keys
package import SecretModel
package import SecureMemory

/// One version of an item, or the record that it was deleted. Signed by the machine that wrote it, and encrypted to the
/// members.
package struct Revision: Sendable {
  /// The signed part.
  package struct Head: Codable, Sendable {
    package var circle: String
    /// The writer's logical clock: greater than that of every record it knew.
    package var clock: UInt64
    /// Seconds since 1970; the item's.
    package var created: Double
    /// SHA-256 of the secret.
    package var digest: JSONBytes?
    /// Nil for a deletion.
    package var item: DescribedItem?
    /// Seconds since 1970, by the writer's clock.
    package var modified: Double
    /// The name of the item's record.
    package var name: JSONBytes
    /// For each machine, the clock of its last version that this one replaces.
    package var seen: [String: UInt64]

    package init(
      circle: String, clock: UInt64, created: Double, digest: JSONBytes? = nil, item: DescribedItem? = nil,
      modified: Double, name: [UInt8], seen: [String: UInt64]
    ) {
      self.circle = circle
      self.clock = clock
      self.created = created
      self.digest = digest
      self.item = item
      self.modified = modified
      self.name = JSONBytes(name)
      self.seen = seen
    }
  }

  package let head: Head
  package let signed: SignedLine
  /// Empty for a deletion.
  package let secret: SharedSecret

  package var writer: MemberID { signed.signer }

  /// Signs a new version.
  package init(_ head: Head, secret: SharedSecret, by keys: MemberKeys, as writer: MemberID) throws(VaultError) {
    var head = head
    if head.item != nil { head.digest = Self.digest(of: secret) }
    self.head = head
    self.secret = secret
    signed = try SignedLine(head, .item, by: keys, as: writer)
  }

  /// Decrypts and verifies a version.
  ///
  /// - Throws: `fileUnreadable` for anything but a record that a member of the circle has signed.
  package init(
    _ file: [UInt8], with key: EncryptedFile.KeyPair, expectedAt place: Int, circle: String, from members: [Member]
  ) throws(VaultError) {
    let contents = try AgeMessage.open(file, with: key, expectedAt: place)
    signed = try SignedLine(parsing: contents)
    let signer = signed.signer
    var author: Member?
    for member in members where try member.id == signer { author = member }
    guard let author else { throw .fileUnreadable("no member has signed it") }
    try signed.verify(.item, by: author)
    head = try signed.value()
    guard head.circle == circle else { throw .fileUnreadable("it belongs to another circle") }
    let start = signed.bytes.count
    guard contents.count >= start, contents.count - start == head.item?.secret ?? 0 else {
      throw .fileUnreadable("its secret was cut off")
    }
    secret = SharedSecret(
      contents.withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[start...])) })
    guard head.item == nil ? head.digest == nil : head.digest == Self.digest(of: secret) else {
      throw .fileUnreadable("it has another secret than the signed one")
    }
    guard head.clock < 1 << 53, head.seen.count <= 10_000, head.seen[signer.description] == head.clock else {
      throw .fileUnreadable("its clock is not valid")
    }
  }

  /// The file, encrypted to these keys.
  package func sealed(to recipients: [AgePublicKey], epoch: Int) throws(VaultError) -> [UInt8] {
    let start = signed.bytes
    var contents = SecretBytes(count: start.count + secret.bytes.count)
    contents.withUnsafeMutableBytes { target in
      start.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: target[..<start.count]).copyMemory(from: $0) }
      secret.bytes.withUnsafeBytes {
        UnsafeMutableRawBufferPointer(rebasing: target[start.count...]).copyMemory(from: $0)
      }
    }
    return try AgeMessage.seal(contents, to: recipients, epoch: epoch)
  }

  /// For which record of members a file was encrypted; 0 if it does not say.
  package static func epoch(of file: [UInt8]) -> Int { AgeMessage.epoch(of: file) ?? 0 }

  private static func digest(of secret: SharedSecret) -> JSONBytes {
    JSONBytes(Digest.sha256(secret: secret.bytes).withUnsafeBytes { Array($0) })
  }
}

extension Revision.Head {
  /// Whether this version replaces another one: its writer had seen that.
  package func replaces(_ other: [String: UInt64]) -> Bool {
    other.allSatisfy { machine, clock in seen[machine] ?? 0 >= clock }
  }

  /// Whether both have the same item, apart from its secret.
  package func describesSame(as other: Revision.Head) -> Bool {
    guard let mine = item, let theirs = other.item else { return item == nil && other.item == nil }
    return (try? JSONLine.line(mine)) == (try? JSONLine.line(theirs))
  }
}
