import Keys
internal import Primitives
package import SecretModel
import VaultStore

// A machine joins a circle in four messages, each a file of its own in the repository:
//
// 1. ``JoinRequest``: the machine's keys, and a commitment to a random nonce.
// 2. ``JoinAnswer``: a member's own nonce, with the digests of the request and of the newest list of members.
// 3. ``JoinOpening``: the nonce of the request. It is made once, for the first answer.
// 4. ``JoinConsent``: the owner of the machine has said that both machines show the same words.
//
// The words (``JoinWords``) cover all of it. Whoever answers in the place of a member, or asks in the place of the
// machine, has to commit to its part before it sees the other one, so it has one try in 2^48.

/// A machine's request to join a circle, signed with its own key.
package struct JoinRequest: Sendable {
  private struct Body: Codable {
    var circle: String
    /// ``JoinNonce/commitment``.
    var commitment: JSONBytes
    var member: Member
  }

  private let body: Body
  private let signed: SignedLine
  package let id: MemberID

  package var member: Member { body.member }
  package var bytes: [UInt8] { signed.bytes }
  package var digest: [UInt8] { signed.digest }
  fileprivate var commitment: [UInt8] { body.commitment.bytes }

  package init(_ member: Member, to circle: String, _ nonce: JoinNonce, by keys: MemberKeys) throws(VaultError) {
    id = try member.id
    body = Body(circle: circle, commitment: JSONBytes(nonce.commitment(of: id)), member: member)
    signed = try SignedLine(body, .request, by: keys, as: id)
  }

  /// - Throws: `fileUnreadable`.
  package init(_ file: [UInt8], circle: String) throws(VaultError) {
    (signed, body) = try SignedLine.whole(file)
    id = try body.member.id
    // Only the machine's own key is accepted, so no other machine can have signed the request.
    try signed.verify(.request, by: Authors([body.member]))
    // Check the public keys before anybody is asked to admit the machine.
    try body.member.check()
    guard body.circle == circle else { throw .fileUnreadable("it is for other computers") }
  }
}

/// The random number of a request. It stays in memory until it is opened: after an interruption or a restore, the machine
/// has to ask again.
package struct JoinNonce: Sendable, Hashable {
  static let byteCount = 32

  let bytes: [UInt8]

  package init() throws(VaultError) {
    do throws(KeysError) { bytes = try Random.bytes(Self.byteCount) } catch { throw VaultError(cause: error) }
  }

  fileprivate init(_ bytes: [UInt8]) { self.bytes = bytes }

  fileprivate func commitment(of machine: MemberID) -> [UInt8] {
    var subject = CanonicalEncoding()
    subject.append(tag: 1, "whorl-sync nonce")
    subject.append(tag: 2, machine.description)
    subject.append(tag: 3, bytes)
    return Digest.sha256(subject.bytes)
  }
}

/// A member's answer to a request.
package struct JoinAnswer: Sendable {
  private struct Body: Codable {
    /// The digest of the newest list of members.
    var list: JSONBytes
    var nonce: JSONBytes
    /// The digest of the request.
    var request: JSONBytes
  }

  private let body: Body
  private let signed: SignedLine

  package var bytes: [UInt8] { signed.bytes }
  package var signer: MemberID { signed.signer }
  fileprivate var digest: [UInt8] { signed.digest }

  package init(
    to request: JoinRequest, _ list: CircleRecord, by keys: MemberKeys, as signer: MemberID
  ) throws(VaultError) {
    body = Body(
      list: JSONBytes(list.digest), nonce: JSONBytes(try JoinNonce().bytes), request: JSONBytes(request.digest))
    signed = try SignedLine(body, .answer, by: keys, as: signer, in: list.circle)
  }

  /// - Parameter list: the newest list of members that is known here.
  /// - Throws: `fileUnreadable`.
  package init(_ file: [UInt8], to request: JoinRequest, _ list: CircleRecord) throws(VaultError) {
    (signed, body) = try SignedLine.whole(file)
    try signed.verify(.answer, by: Authors(list.members), in: list.circle)
    guard body.request.bytes == request.digest, body.nonce.bytes.count == JoinNonce.byteCount else {
      throw .fileUnreadable("it answers another request")
    }
    guard body.list.bytes == list.digest else {
      throw .fileUnreadable("it is about another list of machines than the newest one here")
    }
  }
}

/// The nonce of a request, made known after the answer.
package struct JoinOpening: Sendable {
  private struct Body: Codable {
    /// The digest of the answer.
    var answer: JSONBytes
    var nonce: JSONBytes
  }

  private let body: Body
  private let signed: SignedLine

  package var bytes: [UInt8] { signed.bytes }

  package init(_ nonce: JoinNonce, for answer: JoinAnswer, by keys: MemberKeys, as id: MemberID) throws(VaultError) {
    body = Body(answer: JSONBytes(answer.digest), nonce: JSONBytes(nonce.bytes))
    signed = try SignedLine(body, .opening, by: keys, as: id)
  }

  /// - Throws: `fileUnreadable`.
  package init(_ file: [UInt8], of request: JoinRequest, for answer: JoinAnswer) throws(VaultError) {
    (signed, body) = try SignedLine.whole(file)
    try signed.verify(.opening, by: Authors([request.member]))
    guard body.answer.bytes == answer.digest else { throw .fileUnreadable("it opens another answer") }
    guard JoinNonce(body.nonce.bytes).commitment(of: request.id) == request.commitment else {
      throw .fileUnreadable("it is not the number that the machine has committed to")
    }
  }

  fileprivate var nonce: [UInt8] { body.nonce.bytes }
}

/// The words that both machines show: over the keys of both, the circle and its list of members, and both nonces.
package struct JoinWords: Sendable, Hashable {
  private static let count = 6

  package let words: [String]
  /// What ``JoinConsent`` agrees to.
  fileprivate let digest: [UInt8]

  package init(
    _ request: JoinRequest, _ answer: JoinAnswer, by member: Member, _ opening: JoinOpening
  ) throws(VaultError) {
    var subject = CanonicalEncoding()
    subject.append(tag: 1, "whorl-sync words")
    subject.append(tag: 2, request.digest)
    subject.append(tag: 3, answer.digest)
    subject.append(tag: 4, try JSONLine.line(member))
    subject.append(tag: 5, opening.nonce)
    digest = Digest.sha256(subject.bytes)
    words = digest.prefix(Self.count).map { CommonWords.all[Int(clamping: $0)] }
  }
}

/// The consent of the owner of a machine that asks, with the machine's name for the member that has answered.
package struct JoinConsent: Sendable {
  private struct Body: Codable {
    /// The machine's name, encrypted.
    var name: JSONBytes
    var words: JSONBytes
  }

  private let body: Body
  private let signed: SignedLine

  package var bytes: [UInt8] { signed.bytes }

  package init(
    to words: JoinWords, named name: String, for member: Member, by keys: MemberKeys, as id: MemberID
  ) throws(VaultError) {
    let text = Array(name.utf8)
    let sealed = try AgeMessage.seal(SecretBytes(copying: text.span), to: [member.recipient], epoch: 0)
    body = Body(name: JSONBytes(sealed), words: JSONBytes(words.digest))
    signed = try SignedLine(body, .consent, by: keys, as: id)
  }

  /// - Throws: `fileUnreadable`.
  package init(_ file: [UInt8], of request: JoinRequest, to words: JoinWords) throws(VaultError) {
    (signed, body) = try SignedLine.whole(file)
    try signed.verify(.consent, by: Authors([request.member]))
    guard body.words.bytes == words.digest else { throw .fileUnreadable("it agrees to other words") }
  }

  package func name(with key: EncryptedFile.KeyPair) throws(VaultError) -> String {
    let name = try AgeMessage.open(body.name.bytes, with: key).withUnsafeBytes { Array($0) }
    guard let text = String(validating: name, as: UTF8.self) else { throw .fileUnreadable("its name cannot be read") }
    return MachineName.shown(text)
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

  /// The name, with a number where it is taken, in upper or lower case: machines of the same model often have the same name.
  static func distinct(_ name: String, from names: Set<String>) -> String {
    let taken = Set(names.map { $0.lowercased() })
    guard taken.contains(name.lowercased()) else { return name }
    // As many are taken as there are members at most.
    let numbered = (2...taken.count + 2).lazy.map { "\(name.prefix(limit - 6)) (\($0))" }
    return numbered.first { !taken.contains($0.lowercased()) } ?? name
  }

  /// A name from another machine, made safe to show and to compare: a member that lies could name a stranger like another
  /// machine, but for a character that nobody sees.
  static func shown(_ name: String) -> String {
    let seen = String(String.UnicodeScalarView(name.unicodeScalars.prefix(limit))).seen
    return seen.isEmpty ? "a machine without a name" : seen
  }
}
