import AgeFormat
import Keys
package import SecretModel
import SecureMemory
import VaultStore

/// A machine's request to join a circle, signed with its own key.
package struct JoinRequest: Sendable {
  private struct Body: Codable {
    var circle: String
    /// The digest of the last record of the circle that the machine had seen.
    var record: JSONBytes
    var member: Member
    /// The machine's name, encrypted to the members.
    var name: JSONBytes
  }

  private let body: Body
  private let signed: SignedLine
  package let id: MemberID

  package var member: Member { body.member }
  package var bytes: [UInt8] { signed.bytes }
  /// The digest of the record that the machine had seen.
  package var record: [UInt8] { body.record.bytes }

  package init(_ member: Member, named name: String, to record: CircleRecord, by keys: MemberKeys) throws(VaultError) {
    let text = Array(name.utf8)
    let sealed = try AgeMessage.seal(
      SecretBytes(copying: text.span), to: record.members.recipients, epoch: record.epoch)
    body = Body(
      circle: record.circle, record: JSONBytes(record.digest), member: member, name: JSONBytes(sealed))
    id = try member.id
    signed = try SignedLine(body, .request, by: keys, as: id)
  }

  /// - Throws: `fileUnreadable`.
  package init(_ file: [UInt8], circle: String) throws(VaultError) {
    signed = try SignedLine(parsing: file)
    body = try signed.value()
    id = try body.member.id
    // Only the machine's own key is accepted, so no other machine can have signed the request.
    try signed.verify(.request, by: Authors([body.member]))
    // Check both public keys before anybody is asked to admit the machine.
    _ = try [body.member].recipients
    guard body.circle == circle else { throw .fileUnreadable("it is for other computers") }
  }

  package func name(with key: EncryptedFile.KeyPair) throws(VaultError) -> String {
    let name = try AgeMessage.open(body.name.bytes, with: key).withUnsafeBytes { Array($0) }
    guard let text = String(validating: name, as: UTF8.self) else { throw .fileUnreadable("its name cannot be read") }
    return MachineName.shown(text)
  }

  /// Six words derived from the machine's keys and the circle it has seen, which both machines show. An attacker who
  /// replaces the keys must find some with the same words: each try costs 64 MiB and a fifth of a second, and one in
  /// 2^48 succeeds.
  package func words() throws(VaultError) -> [String] {
    var subject = CanonicalEncoding()
    subject.append(tag: 1, "whorl-sync words")
    subject.append(tag: 2, body.circle)
    subject.append(tag: 3, body.record.bytes)
    subject.append(tag: 4, id.description)
    subject.append(tag: 5, try JSONLine.line(body.member))
    let digest = Digest.sha256(subject.bytes)
    do throws(KeysError) {
      let key = try Scrypt.derive(passphrase: SecretBytes(copying: digest.span), salt: digest, logN: 16)
      return key.withUnsafeBytes { bytes in (0..<6).map { CommonWords.all[Int(bytes[$0])] } }
    } catch {
      throw VaultError(cause: error)
    }
  }
}

/// The names of machines.
package enum MachineName {
  private static let limit = 64

  /// - Throws: `invalidRequest` for an empty name, and one that is too long or has control characters.
  package static func checked(_ name: String) throws(VaultError) -> String {
    guard !name.isEmpty, name.utf8.count <= limit, !name.hasControlCharacters else {
      throw .invalidRequest("a machine's name has 1 to \(limit) bytes and no control characters")
    }
    return name
  }

  /// A name from another machine, made safe to show.
  static func shown(_ name: String) -> String {
    let shown = ItemName(unchecked: String(name.prefix(limit)), account: "").service
    return shown.isEmpty ? "a machine without a name" : shown
  }
}
