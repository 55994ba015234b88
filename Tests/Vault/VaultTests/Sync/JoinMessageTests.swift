import Foundation
import Keys
import Primitives
import SecretModel
import Testing

@testable import VaultSync

@Suite("The messages of joining a circle")
struct JoinMessageTests {
  /// A member of a circle of one, and a machine that asks to join.
  private struct Parties {
    let keys: MemberKeys
    let member: Member
    let list: CircleRecord
    let asker: MemberKeys
    let asking: Member
    let nonce: JoinNonce
    let request: JoinRequest
    let answer: JoinAnswer

    init() throws {
      keys = try MemberKeys.make()
      asker = try MemberKeys.make()
      (member, asking) = (Self.entry(keys), Self.entry(asker))
      let contents = CircleContents(nameKey: SharedSecret(try Random.key()), names: [:])
      list = try CircleRecord(
        after: nil, circle: String(repeating: "0", count: 32), members: [member], contents, by: keys, as: member.id)
      nonce = try JoinNonce()
      request = try JoinRequest(asking, to: list.circle, nonce, by: asker)
      answer = try JoinAnswer(to: request, list, by: keys, as: member.id)
    }

    static func entry(_ keys: MemberKeys) -> Member {
      Member(
        keys, recovery: keys.encryption.publicKey, salt: [],
        MemberLocks(classes: [:], passcode: nil, tier: .keyFile))
    }
  }

  @Test("an answer to another request, or about another list of members, is refused")
  func answers() throws {
    let parties = try Parties()
    let again = try JoinRequest(parties.asking, to: parties.list.circle, JoinNonce(), by: parties.asker)
    #expect(throws: VaultError.fileUnreadable("it answers another request")) {
      _ = try JoinAnswer(parties.answer.bytes, to: again, parties.list)
    }
    let contents = CircleContents(nameKey: SharedSecret(try Random.key()), names: [:])
    let later = try CircleRecord(
      after: parties.list, circle: parties.list.circle, members: [parties.member], contents, by: parties.keys,
      as: parties.member.id)
    #expect(throws: VaultError.fileUnreadable("it is about another list of machines than the newest one here")) {
      _ = try JoinAnswer(parties.answer.bytes, to: parties.request, later)
    }
    let member = try parties.member.id
    let forged = try JoinAnswer(to: parties.request, parties.list, by: parties.asker, as: member)
    #expect(throws: VaultError.fileUnreadable("its signature is not valid")) {
      _ = try JoinAnswer(forged.bytes, to: parties.request, parties.list)
    }
    struct Body: Encodable {
      var list: JSONBytes
      var nonce: JSONBytes
      var request: JSONBytes
    }
    for count in [0, 31, 33] {
      let body = Body(
        list: JSONBytes(parties.list.digest), nonce: JSONBytes([UInt8](repeating: 1, count: count)),
        request: JSONBytes(parties.request.digest))
      let file = try SignedLine(body, .answer, by: parties.keys, as: member, in: parties.list.circle).bytes
      #expect(throws: VaultError.fileUnreadable("it answers another request"), "\(count)") {
        _ = try JoinAnswer(file, to: parties.request, parties.list)
      }
    }
    _ = try JoinAnswer(parties.answer.bytes, to: parties.request, parties.list)
  }

  /// Whoever could choose the number after the answer would try numbers until the words are those that he needs.
  @Test("only the number that a machine has committed to opens its request, and only for the answer that it names")
  func openings() throws {
    let parties = try Parties()
    let id = try parties.asking.id
    let other = try JoinOpening(JoinNonce(), for: parties.answer, by: parties.asker, as: id)
    #expect(throws: VaultError.fileUnreadable("it is not the number that the machine has committed to")) {
      _ = try JoinOpening(other.bytes, of: parties.request, for: parties.answer)
    }
    let second = try JoinAnswer(to: parties.request, parties.list, by: parties.keys, as: parties.member.id)
    let opening = try JoinOpening(parties.nonce, for: parties.answer, by: parties.asker, as: id)
    let forged = try JoinOpening(parties.nonce, for: parties.answer, by: parties.keys, as: id)
    #expect(throws: VaultError.fileUnreadable("its signature is not valid")) {
      _ = try JoinOpening(forged.bytes, of: parties.request, for: parties.answer)
    }
    #expect(throws: VaultError.fileUnreadable("it opens another answer")) {
      _ = try JoinOpening(opening.bytes, of: parties.request, for: second)
    }
    _ = try JoinOpening(opening.bytes, of: parties.request, for: parties.answer)
  }

  @Test("a consent to other words is refused")
  func consents() throws {
    let parties = try Parties()
    let id = try parties.asking.id
    let opening = try JoinOpening(parties.nonce, for: parties.answer, by: parties.asker, as: id)
    let words = try JoinWords(parties.request, parties.answer, by: parties.member, opening)
    let second = try JoinAnswer(to: parties.request, parties.list, by: parties.keys, as: parties.member.id)
    let others = try JoinWords(parties.request, second, by: parties.member, opening)
    #expect(words.words != others.words)
    let consent = try JoinConsent(to: others, named: "lap", for: parties.member, by: parties.asker, as: id)
    #expect(throws: VaultError.fileUnreadable("it agrees to other words")) {
      _ = try JoinConsent(consent.bytes, of: parties.request, to: words)
    }
    let forged = try JoinConsent(to: others, named: "lap", for: parties.member, by: parties.keys, as: id)
    #expect(throws: VaultError.fileUnreadable("its signature is not valid")) {
      _ = try JoinConsent(forged.bytes, of: parties.request, to: others)
    }
    _ = try JoinConsent(consent.bytes, of: parties.request, to: others)
  }

  @Test("the name of a machine that joins has 1 to 64 bytes and no control characters")
  func ownNames() throws {
    for name in ["", String(repeating: "x", count: 65), String(repeating: "ü", count: 33), "desk\n", "\u{1B}[2Jdesk"] {
      #expect(throws: VaultError.self, "\(name)") { _ = try MachineName.checked(name) }
    }
    for name in ["desk", String(repeating: "x", count: 64), "schöner Rechner"] {
      #expect(try MachineName.checked(name) == name)
    }
  }

  @Test("a signed line is read in the one form that it is written in")
  func oneForm() throws {
    let parties = try Parties()
    // Another text of the same signature.
    let padded = parties.answer.bytes.dropLast() + Array("==\n".utf8)
    let longer = parties.answer.bytes.dropLast() + Array(" x\n".utf8)
    // More than any file may have.
    let endless = [UInt8](repeating: 0x20, count: SignedLine.limit) + parties.answer.bytes
    for file in [Array(padded), Array(longer), endless] {
      #expect(throws: VaultError.fileUnreadable("it has no signature")) { _ = try SignedLine(parsing: file) }
    }
    #expect(try SignedLine(parsing: parties.answer.bytes).bytes == parties.answer.bytes)
  }

  @Test("the number of a request is handed out once, for that request alone")
  func nonces() throws {
    let parties = try Parties()
    let (nonces, id) = (JoinNonces(), try parties.asking.id)
    nonces.keep(parties.nonce, of: id)
    let other = try parties.member.id
    #expect(nonces.take(of: other) == nil)
    #expect(nonces.take(of: id) != nil)
    #expect(nonces.take(of: id) == nil)
  }

  @Test("a list of members with a key that nothing can be encrypted to is refused")
  func unusableKeys() throws {
    let parties = try Parties()
    let publicKey = parties.asker.encryption.publicKey
    let asking = Member(
      parties.asker, recovery: publicKey, salt: [],
      MemberLocks(classes: [.whenUnlocked: publicKey], passcode: publicKey, tier: .keyFile))
    let line = String(decoding: try JSONEncoder().encode(asking), as: UTF8.self)
    let key = publicKey.description
    for field in ["encrypt", "recovery", "passcode", Accessibility.whenUnlocked.rawValue] {
      let changed = line.replacing("\"\(field)\":\"\(key)\"", with: "\"\(field)\":\"age1nothing\"")
      #expect(changed != line)
      let member = try JSONDecoder().decode(Member.self, from: Data(changed.utf8))
      let contents = CircleContents(nameKey: SharedSecret(try Random.key()), names: [:])
      // Signed as a liar's program would do it, which encrypts the contents to its own entry alone.
      let honest = try CircleRecord(
        after: parties.list, circle: parties.list.circle, members: [parties.member, asking], contents,
        by: parties.keys, as: parties.member.id)
      let body = String(decoding: try SignedLine(parsing: honest.bytes).line, as: UTF8.self)
      let own = String(decoding: try JSONLine.line(asking).dropLast(), as: UTF8.self)
      let forged = body.replacing(own, with: String(decoding: try JSONLine.line(member).dropLast(), as: UTF8.self))
      #expect(forged != body)
      let message = Array("whorl-sync \(SignedLine.Kind.circle.rawValue)\n".utf8) + Array(forged.utf8)
      let signature = try parties.keys.sign(SecretBytes(copying: message.span))
      let file =
        Array(forged.utf8) + Array("signature \(try parties.member.id) \(Base64URL.text(of: signature))\n".utf8)
      #expect(throws: VaultError.fileUnreadable("a member has no public key"), "\(field)") {
        _ = try CircleRecord(file, after: parties.list)
      }
    }
  }
}
