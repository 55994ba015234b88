package import SecretModel

/// The state that a member has published last, with which other machines detect that a repository was rolled back.
package struct MemberHead: Sendable {
  private struct Body: Codable {
    var circle: String
    /// How often the member has published.
    var sequence: Int
    /// A digest over the names and digests of all records.
    var records: JSONBytes
  }

  private let body: Body
  private let signed: SignedLine

  package var sequence: Int { body.sequence }
  package var records: [UInt8] { body.records.bytes }
  package var signer: MemberID { signed.signer }
  package var bytes: [UInt8] { signed.bytes }

  package init(
    circle: String, sequence: Int, records: [UInt8], by keys: MemberKeys, as signer: MemberID
  ) throws(VaultError) {
    body = Body(circle: circle, sequence: sequence, records: JSONBytes(records))
    signed = try SignedLine(body, .head, by: keys, as: signer)
  }

  /// - Throws: `fileUnreadable`.
  package init(_ file: [UInt8], circle: String, by authors: Authors) throws(VaultError) {
    signed = try SignedLine(parsing: file)
    body = try signed.value()
    try signed.verify(.head, by: authors)
    guard body.circle == circle, body.sequence > 0, body.sequence < 1 << 53 else {
      throw .fileUnreadable("it belongs to other computers")
    }
  }
}
