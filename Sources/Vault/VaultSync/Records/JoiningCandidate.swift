package import SecretModel

/// A machine that asks a member to be let in, with what its messages say.
package struct JoiningCandidate {
  package let request: JoinRequest
  private let circle: Circle
  private let isAnsweredElsewhere: Bool
  /// Nil until both nonces are known.
  private let words: JoinWords?
  /// Nil until the machine's owner has agreed.
  private let name: String?

  /// - Throws: `fileUnreadable`; messages that do not verify count as missing.
  package init(_ candidate: SyncProgress.Candidate, _ circle: Circle) throws(VaultError) {
    self.circle = circle
    isAnsweredElsewhere = candidate.isAnsweredElsewhere
    let request = try JoinRequest(candidate.request.bytes, circle: circle.circle)
    self.request = request
    guard let file = candidate.answer, let opening = candidate.opening, let member = try circle.last.member(circle.id),
      let answer = try? JoinAnswer(file.bytes, to: request, circle.last),
      let opened = try? JoinOpening(opening.bytes, of: request, for: answer)
    else {
      (words, name) = (nil, nil)
      return
    }
    let words = try JoinWords(request, answer, by: member, opened)
    self.words = words
    if let consent = candidate.consent, let agreed = try? JoinConsent(consent.bytes, of: request, to: words) {
      name = try agreed.name(with: circle.keys.encryption)
    } else {
      name = nil
    }
  }

  package var shown: SyncMember {
    SyncMember(
      id: request.id, name: name ?? "", isThisMachine: false, words: words?.words ?? [],
      tier: VaultStatus.Tier(rawValue: request.member.locks.tier), hasPasscode: request.member.locks.hasPasscode,
      hasAgreed: name != nil)
  }

  /// - Throws: `busy` where another member has answered, which then is the one to approve the machine.
  package func requireFree() throws(VaultError) {
    guard !isAnsweredElsewhere else { throw .busy("another computer has answered it: approve it there") }
  }

  /// The name of the machine whose owner has agreed to the words.
  ///
  /// - Throws: `busy` before that.
  package func agreedName() throws(VaultError) -> String {
    guard let name else { throw .busy("nobody has said yes on the other computer yet") }
    return name
  }
}
