import Keys
package import Primitives
package import SecretModel

/// A record of the members of a circle. Each has the digest of the previous one, and the signature of a member listed
/// there.
package struct CircleRecord: Sendable {
  /// The signed part.
  private struct Body: Codable {
    /// The version of the repository's format.
    var format = 2
    var circle: String
    /// The number of the record, from 1.
    var epoch: Int
    /// The digest of the previous record; nil for the first one.
    var previous: JSONBytes?
    var members: [Member]
    /// ``CircleContents``, encrypted to the members.
    var sealed: JSONBytes
  }

  /// Said of a circle of the first format, which kept copies that were weaker than the items.
  package static let earlier = "an earlier version of whorl made it, which protected shared secrets less: begin anew"
  /// The maximum number of members.
  package static let memberLimit = 100

  private let body: Body
  private let signed: SignedLine

  package var circle: String { body.circle }
  package var epoch: Int { body.epoch }
  package var members: [Member] { body.members }
  package var signer: MemberID { signed.signer }
  package var bytes: [UInt8] { signed.bytes }
  package var digest: [UInt8] { signed.digest }

  /// Makes the next record, or the first of a circle.
  package init(
    after previous: CircleRecord?, circle: String, members: [Member], _ contents: CircleContents, by keys: MemberKeys,
    as signer: MemberID
  ) throws(VaultError) {
    guard members.count <= Self.memberLimit else {
      throw .invalidRequest("at most \(Self.memberLimit) computers can share")
    }
    let epoch = (previous?.epoch ?? 0) + 1
    body = Body(
      circle: circle, epoch: epoch, previous: previous.map { JSONBytes($0.digest) }, members: members,
      sealed: JSONBytes(try contents.sealed(to: members.recipients, epoch: epoch)))
    signed = try SignedLine(body, .circle, by: keys, as: signer)
  }

  /// Reads a record, and verifies that it follows `previous`.
  ///
  /// - Parameter previous: nil for the first record, which one of its own members has signed.
  /// - Throws: `fileUnreadable`, `newerFormat`.
  package init(_ file: [UInt8], after previous: CircleRecord?) throws(VaultError) {
    signed = try SignedLine(parsing: file)
    body = try signed.value()
    guard body.format >= 2 else { throw .fileUnreadable(CircleRecord.earlier) }
    guard body.format == 2 else { throw .newerFormat(body.format) }
    guard signed.bytes == file else { throw .fileUnreadable("something was appended to it") }
    guard body.epoch == (previous?.epoch ?? 0) + 1, body.previous?.bytes == previous?.digest,
      previous.map({ $0.circle == body.circle }) ?? true
    else { throw .fileUnreadable("it does not follow the record before it") }
    guard !body.members.isEmpty, body.members.count <= Self.memberLimit else {
      throw .fileUnreadable("it has no members, or too many")
    }
    var ids: Set<MemberID> = []
    for member in body.members {
      try member.check()
      guard ids.insert(try member.id).inserted else { throw .fileUnreadable("it has a member twice") }
    }
    try signed.verify(.circle, by: Authors((previous ?? self).members))
  }

  /// Reads a record that was verified before, from authenticated data.
  init(stored file: [UInt8]) throws(VaultError) {
    signed = try SignedLine(parsing: file)
    body = try signed.value()
  }

  package func member(_ id: MemberID) throws(VaultError) -> Member? {
    for member in members where try member.id == id { return member }
    return nil
  }

  /// Decrypts the part that only members can read.
  package func contents(with key: EncryptedFile.KeyPair) throws(VaultError) -> CircleContents {
    try CircleContents(opening: body.sealed.bytes, with: key)
  }

  /// Reads all records of a circle in their order.
  ///
  /// - Throws: `fileUnreadable` if one is missing or does not verify.
  package static func chain(_ files: [SyncFile]) throws(VaultError) -> [CircleRecord] {
    var records: [Int: [UInt8]] = [:]
    for file in files {
      guard case .circle(let epoch) = SyncPath(file.path), let contents = file.contents else { continue }
      records[epoch] = contents
    }
    var chain: [CircleRecord] = []
    while let next = records[chain.count + 1] { chain.append(try CircleRecord(next, after: chain.last)) }
    guard !chain.isEmpty, chain.count == records.count else {
      throw .fileUnreadable("the records of your computers are not complete")
    }
    return chain
  }
}

/// The part of a record that only members can read.
package struct CircleContents: Sendable {
  private static let keyCount = 32

  /// The key for ``RecordNames``.
  package let nameKey: SharedSecret
  /// The names of the machines, by identifier.
  package var names: [String: String]

  package init(nameKey: SharedSecret, names: [String: String]) { (self.nameKey, self.names) = (nameKey, names) }

  fileprivate func sealed(to recipients: [AgePublicKey], epoch: Int) throws(VaultError) -> [UInt8] {
    let text = try JSONLine.line(names)
    return try AgeMessage.seal(
      SecretBytes(joining: [], nameKey.bytes, text), to: recipients, epoch: epoch)
  }

  fileprivate init(opening sealed: [UInt8], with key: EncryptedFile.KeyPair) throws(VaultError) {
    let bytes = try AgeMessage.open(sealed, with: key)
    guard bytes.count > Self.keyCount else { throw .fileUnreadable("the record of your computers is too short") }
    let (key, text) = bytes.withUnsafeBytes { bytes in
      (
        SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[..<Self.keyCount]))),
        Array(bytes[Self.keyCount...])
      )
    }
    nameKey = key
    do throws(VaultError) {
      names = try JSONLine.read(text)
    } catch {
      throw .fileUnreadable("the record of your computers cannot be read")
    }
  }
}
