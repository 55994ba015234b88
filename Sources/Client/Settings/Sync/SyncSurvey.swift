internal import Moving
internal import Primitives
internal import Prompts
package import SecretModel

/// The state of a store's sync with the person's other computers.
package struct SyncSurvey: Sendable {
  package let status: SyncStatus
  /// The remote's name for messages; nil if it is not known here.
  package let remote: String?
  /// Whether it runs by itself; nil if it cannot.
  package let isAutomatic: Bool?

  package init(_ status: SyncStatus, remote: String? = nil, isAutomatic: Bool? = nil) {
    (self.status, self.remote, self.isAutomatic) = (status, remote, isAutomatic)
  }

  /// Whether sync works; nil if the store shares with no other computer.
  package var check: Finding? {
    guard status.standing != .none else { return nil }
    if status.isForked {
      return .failed(
        "sync",
        Failure(
          .damaged, "there are two different lists of your computers",
          advice: "check who else can write to the remote; 'whorl sync confirm' asks you about it"))
    }
    let isConfirmed = status.unconfirmed.isEmpty && !status.isLocked
    // Before that nothing is put back either.
    if status.lost > 0, isConfirmed {
      return .failed(
        "sync",
        Failure(
          .damaged, "the remote has lost \(Spoken.plural(status.lost, "record")) that this machine has seen",
          advice: "check who else can write to it; 'whorl sync now --put-back' publishes them again"))
    }
    if status.standing == .outdated {
      return .failed("sync", Failure(.notInCircle(.outdated)))
    }
    if !isConfirmed {
      return .warning("sync", "the list of your computers has changed", "'whorl sync confirm' asks you about it")
    }
    if status.standing == .removed {
      return .warning(
        "sync", "this computer no longer shares with your others", "'whorl sync join' asks to be let in again")
    }
    if status.standing == .asking {
      return .warning(
        "sync", "this machine is waiting for approval", "'whorl sync approve' on another of your computers")
    }
    if status.pending > 0 {
      return .warning(
        "sync", "\(Spoken.plural(status.pending, "record")) not published yet", "'whorl sync now' tells why")
    }
    return .ok("sync", "\(Spoken.plural(status.members.count, "machine")), and all is published")
  }

  /// What a person wants to know of it, in order.
  package var findings: [Finding] {
    func note(_ subject: String, _ words: String) -> Finding {
      Finding(subject: subject, state: .note, words: words)
    }
    var found = [
      remote.map { note("remote", $0) } ?? .warning("remote", "not known here", "'whorl sync remote REMOTE' names it")
    ]
    switch status.standing {
    case .none, .member, .outdated: break
    case .removed: found.append(note("standing", "removed by another of your computers: it receives no more changes"))
    case .asking:
      found.append(note("standing", "waiting for approval: run 'whorl sync approve' on another of your computers"))
      if !status.words.isEmpty { found.append(note("words", status.words.joined(separator: " "))) }
    }
    // Their names are known to members alone.
    for member in status.standing == .asking ? [] : status.members {
      found.append(note("machine", "\(member.name)\(member.isThisMachine ? " (this one)" : "")"))
    }
    for candidate in status.candidates {
      let name = candidate.name.isEmpty ? String(candidate.id.description.prefix(8)) : candidate.name
      found.append(note("asks", ([name] + candidate.words).joined(separator: " ")))
    }
    found.append(note("items", "\(status.items)"))
    found.append(note("unpublished", status.pending == 0 ? "nothing" : Spoken.plural(status.pending, "record")))
    if status.lost > 0 {
      let words = "\(Spoken.plural(status.lost, "record")) by the remote"
      found.append(.warning("lost", words, "'whorl sync now --put-back' publishes them again"))
    }
    switch isAutomatic {
    case true?: found.append(.ok("automatic", "by the user units, at least every quarter of an hour"))
    case false?: found.append(.warning("automatic", "no", "only by 'whorl sync now'"))
    case nil: break
    }
    for kept in status.kept {
      let time = Spoken.time(Int64(clamping: kept.written))
      found.append(note("kept", "\(kept.item), as \(kept.writer) wrote it on \(time)"))
    }
    return found
  }
}
