package import SecretModel

/// The state that a member has published last, with which other machines detect that a repository was rolled back.
package struct MemberHead: Sendable {
  private struct Body: Codable {
    var circle: String
    /// The digest of the newest list of members that it knows.
    var list: JSONBytes
    /// How often the member has published.
    var sequence: Int
    /// A digest over the names and digests of all records.
    var records: JSONBytes
  }

  private static let sequences = 1...0x1F_FFFF_FFFF_FFFF

  private let body: Body
  private let signed: SignedLine

  package var sequence: Int { body.sequence }
  package var records: [UInt8] { body.records.bytes }
  /// The digest of the newest list of members that the writer knew. If it is unknown here, the repository shows its
  /// members different lists.
  package var list: [UInt8] { body.list.bytes }
  package var signer: MemberID { signed.signer }
  package var bytes: [UInt8] { signed.bytes }

  package init(
    list: CircleRecord, sequence: Int, records: [UInt8], by keys: MemberKeys, as signer: MemberID
  ) throws(VaultError) {
    body = Body(
      circle: list.circle, list: JSONBytes(list.digest), sequence: sequence, records: JSONBytes(records))
    signed = try SignedLine(body, .head, by: keys, as: signer)
  }

  /// - Throws: `fileUnreadable`.
  package init(_ file: [UInt8], circle: String, by authors: Authors) throws(VaultError) {
    (signed, body) = try SignedLine.whole(file)
    try signed.verify(.head, by: authors)
    guard body.circle == circle, Self.sequences.contains(body.sequence) else {
      throw .fileUnreadable("it belongs to other computers")
    }
  }
}
