package import SecretModel

/// How far a machine that asks to join has come: its messages, and the answer to them.
package struct Joining: Codable, Sendable {
  package let request: JSONBytes
  private var answer: JSONBytes?
  package private(set) var opening: JSONBytes?
  /// There once the owner of this machine has said that the words are the same.
  package private(set) var consent: JSONBytes?

  init(_ request: JoinRequest) { self.request = JSONBytes(request.bytes) }

  /// The words, once a member has answered and the nonce is open.
  ///
  /// - Parameter list: the newest list of members.
  func words(of list: CircleRecord) throws(VaultError) -> JoinWords? {
    guard let (request, answer) = try answered(list), let opening, let member = try list.member(answer.signer) else {
      return nil
    }
    return try JoinWords(request, answer, by: member, JoinOpening(opening.bytes, of: request, for: answer))
  }

  private func answered(_ list: CircleRecord) throws(VaultError) -> (JoinRequest, JoinAnswer)? {
    guard let answer else { return nil }
    let request = try JoinRequest(request.bytes, circle: list.circle)
    return (request, try JoinAnswer(answer.bytes, to: request, list))
  }

  mutating func take(
    answer file: [UInt8], about list: CircleRecord, _ nonce: JoinNonce?, by keys: MemberKeys, as id: MemberID
  ) throws(VaultError) {
    guard answer == nil else { return }
    let answer = try JoinAnswer(file, to: JoinRequest(request.bytes, circle: list.circle), list)
    guard let nonce else {
      throw .fileUnreadable("this machine was interrupted: ask to join again")
    }
    opening = JSONBytes(try JoinOpening(nonce, for: answer, by: keys, as: id).bytes)
    self.answer = JSONBytes(file)
  }

  mutating func consent(
    named name: String, about list: CircleRecord, by keys: MemberKeys, as id: MemberID
  ) throws(VaultError) {
    guard let words = try words(of: list), let (_, answer) = try answered(list),
      let member = try list.member(answer.signer)
    else { throw .invalidRequest("no computer has answered yet") }
    consent = JSONBytes(try JoinConsent(to: words, named: name, for: member, by: keys, as: id).bytes)
  }

  /// Refuses a list that lets this machine in without its owner's consent, or that another member has made than the one
  /// who has answered; and any change of the members after the answer, which the words do not cover.
  ///
  /// - Parameter list: the list that `record` follows.
  func requireAgreed(_ record: CircleRecord, machine id: MemberID, after list: CircleRecord) throws(VaultError) {
    let signer = try answered(list)?.1.signer
    if try record.member(id) != nil {
      guard consent != nil, signer == record.signer else {
        throw .fileUnreadable("it lets this machine in, which its owner has not agreed to")
      }
    } else if signer != nil {
      throw .fileUnreadable("your computers changed meanwhile: ask to join again")
    }
  }
}

/// What a store tells the other machines of itself, beside its keys for the circle.
package struct CircleOwner {
  let machine: String
  let recovery: AgePublicKey
  let salt: [UInt8]
  let locks: MemberLocks

  package init(machine: String, recovery: AgePublicKey, salt: [UInt8], _ locks: MemberLocks) throws(VaultError) {
    self.machine = try MachineName.checked(machine)
    (self.recovery, self.salt, self.locks) = (recovery, salt, locks)
  }
}
