package import SecretModel

// The messages of machines that ask to join, as a member takes them. What they say is checked when it is used.
extension SyncProgress {
  /// The maximum number of machines that may ask to join at a time.
  private static let candidateLimit = 5

  /// Takes a message of another machine that asks, or the answer to one.
  ///
  /// - Parameter contents: nil if the repository has it no longer.
  /// - Throws: `fileUnreadable`.
  package mutating func take(
    _ path: SyncPath, _ contents: [UInt8]?, of id: MemberID, in circle: Circle
  ) throws(VaultError) {
    switch path {
    case .request: try takeRequest(contents, id, circle)
    case .answer: try takeAnswer(contents, id, circle)
    case .opening: takeLater(contents, id, \.opening)
    case .consent: takeLater(contents, id, \.consent)
    default: break
    }
  }

  /// Notes whether the repository has a message of this machine, which asks to join.
  package mutating func note(_ path: SyncPath, isThere: Bool) {
    ownMessages.removeAll { $0 == path.text }
    if isThere { ownMessages.append(path.text) }
  }

  /// Answers a machine that asks, once for each list of members.
  ///
  /// - Throws: `itemGone`; `busy` where another member has answered.
  package mutating func answer(_ id: MemberID, in circle: Circle) throws(VaultError) {
    guard let place = candidates.firstIndex(where: { $0.id == id.description }) else { throw .itemGone }
    try JoiningCandidate(candidates[place], circle).requireFree()
    let request = try JoinRequest(candidates[place].request.bytes, circle: circle.circle)
    guard candidates[place].mayBeAnswered(request, in: circle) else { return }
    candidates[place].answer = JSONBytes(
      try JoinAnswer(to: request, circle.last, by: circle.keys, as: circle.id).bytes)
    candidates[place].isAnswerPublished = false
  }

  /// Answers anew where the list of members has changed since the answer: the other machine takes none about an earlier
  /// list, and both would wait for ever.
  package mutating func answerAgain(in circle: Circle) throws(VaultError) {
    for candidate in candidates where candidate.answer != nil && !candidate.isAnsweredElsewhere {
      if let id = MemberID(candidate.id) { try answer(id, in: circle) }
    }
  }

  private mutating func takeRequest(_ contents: [UInt8]?, _ id: MemberID, _ circle: Circle) throws(VaultError) {
    guard try circle.standing == .member else { return }
    guard let contents else { return candidates.removeAll { $0.id == id.description } }
    let request = try JoinRequest(contents, circle: circle.circle)
    guard request.id == id else { throw .fileUnreadable("it has another machine's name") }
    guard try circle.last.member(id) == nil, !candidates.contains(where: { $0.request.bytes == contents }) else {
      return
    }
    candidates.removeAll { $0.id == id.description }
    guard candidates.count < Self.candidateLimit else {
      throw .fileUnreadable("\(Self.candidateLimit) machines wait to be let in already")
    }
    candidates.append(Candidate(id: id, request: contents))
  }

  private mutating func takeAnswer(_ contents: [UInt8]?, _ id: MemberID, _ circle: Circle) throws(VaultError) {
    guard let place = candidates.firstIndex(where: { $0.id == id.description }) else { return }
    let isOwn = contents == candidates[place].answer?.bytes
    candidates[place].isAnswerPublished = contents != nil && isOwn
    guard let contents, !isOwn else {
      candidates[place].isAnsweredElsewhere = false
      return
    }
    // This machine's own answer about an earlier list, in whose place a new one is published.
    guard try SignedLine(parsing: contents).signer != circle.id else { return }
    let request = try JoinRequest(candidates[place].request.bytes, circle: circle.circle)
    _ = try JoinAnswer(contents, to: request, circle.last)
    candidates[place].isAnsweredElsewhere = true
  }

  private mutating func takeLater(
    _ contents: [UInt8]?, _ id: MemberID, _ message: WritableKeyPath<Candidate, JSONBytes?>
  ) {
    guard let place = candidates.firstIndex(where: { $0.id == id.description }) else { return }
    // The first one counts.
    if candidates[place][keyPath: message] == nil || contents == nil {
      candidates[place][keyPath: message] = contents.map { JSONBytes($0) }
    }
  }
}

extension SyncProgress.Candidate {
  /// Whether there is no answer about the newest list. Once the machine has opened its number for an answer, that one
  /// stays, so that nobody gets a second try at the words: the machine has to ask again.
  fileprivate func mayBeAnswered(_ request: JoinRequest, in circle: Circle) -> Bool {
    guard let answer else { return true }
    return opening == nil && (try? JoinAnswer(answer.bytes, to: request, circle.last)) == nil
  }
}
