import GRDB
import Primitives
import SecretModel
import VaultStore
import VaultSync

/// Collects the files that a repository lacks, in one transaction.
struct SyncPublisher {
  private let change: StoreTransaction
  private let circle: Circle
  private let keys: SecretKeys

  init(_ change: StoreTransaction, _ circle: Circle) throws {
    (self.change, self.circle) = (change, circle)
    keys = try SecretKeys(of: change)
  }

  /// A page of the files.
  func page(after: String?, limit: Int, puttingBack: Bool) throws -> SyncBatch {
    var progress = try change.syncProgress()
    guard progress.lost == 0 || puttingBack else { return SyncBatch(files: [], next: nil) }
    let putsBack = progress.lost > 0
    progress.lost = 0
    switch try circle.standing {
    case .none, .outdated: return SyncBatch(files: [], next: nil)
    case .asking:
      return SyncBatch(files: ownMessages(progress) + progress.obsolete.map { SyncFile($0, nil) }, next: nil)
    case .removed: return SyncBatch(files: circleFiles(progress), next: nil)
    case .member: break
    }
    // Neither to the members before a change that its owner has not confirmed, nor to those after it.
    guard circle.mayPublish else { return SyncBatch(files: [], next: nil) }
    var files = after == nil ? try beginning(progress) : []
    let (rows, next) = try records(after: after, limit: limit)
    files += rows
    progress.clock = try change.syncProgress().clock
    if next == nil, try putsBack || !files.isEmpty || (after != nil && hasNews(progress)) {
      files.append(try head(&progress))
    }
    try change.put(progress)
    return SyncBatch(files: files, next: next)
  }

  /// Whether pages before this one had a file. Their records are not marked as published yet. What is closed is in no page.
  private func hasNews(_ progress: SyncProgress) throws -> Bool {
    try !beginning(progress).isEmpty
      || change.recordCount(where: "published IS NOT digest AND epoch = ?", [circle.epoch]) > 0
  }

  private func circleFiles(_ progress: SyncProgress) -> [SyncFile] {
    circle.chain.dropFirst(min(circle.published, progress.circleRecords)).map {
      SyncFile(SyncPath.circle($0.epoch).text, $0.bytes)
    }
  }

  /// What this machine, which asks to join, has to say.
  private func ownMessages(_ progress: SyncProgress) -> [SyncFile] {
    guard let joining = circle.joining else { return [] }
    let messages: [(SyncPath, JSONBytes?)] = [
      (.request(circle.id), joining.request), (.opening(circle.id), joining.opening),
      (.consent(circle.id), joining.consent),
    ]
    return messages.compactMap { path, message in
      guard let message, !progress.ownMessages.contains(path.text) else { return nil }
      return SyncFile(path.text, message.bytes)
    }
  }

  /// This machine's answers to others that ask to join.
  private func answers(_ progress: SyncProgress) -> [SyncFile] {
    progress.candidates.compactMap { candidate in
      guard candidate.isAnswerPending, let answer = candidate.answer, let id = MemberID(candidate.id) else {
        return nil
      }
      return SyncFile(SyncPath.answer(id).text, answer.bytes)
    }
  }

  private func beginning(_ progress: SyncProgress) throws -> [SyncFile] {
    var files = progress.hasFormat ? [] : [SyncFile(SyncPath.format.text, SyncPath.formatLine)]
    files += circleFiles(progress) + answers(progress)
    files += try progress.obsolete.filter { try !isUsed($0) }.map { SyncFile($0, nil) }
    return files
  }

  /// Whether an obsolete path is in use again.
  private func isUsed(_ path: String) throws -> Bool {
    switch SyncPath(path) {
    case .circle(let epoch): epoch <= circle.epoch
    case .item(let name): try change.record(name) != nil
    case .head(let id): try circle.last.member(id) != nil
    default: false
    }
  }

  private func records(after: String?, limit: Int) throws -> (files: [SyncFile], next: String?) {
    let start = after.flatMap { Hexadecimal.bytes(in: $0) } ?? []
    let rows = try change.records(
      where: "(published IS NOT digest OR epoch < ?) AND name > ? ORDER BY name LIMIT ?",
      [circle.epoch, start.data, limit])
    var files: [SyncFile] = []
    var room = SyncFile.pageLimit
    var last = start
    let writer = RecordRewriter(change, circle, keys)
    for row in rows {
      switch try writer.current(row) {
      case .closed: break
      case .replaced: files.append(SyncFile(SyncPath.item(row.name).text, nil))
      case .row(let row):
        room -= row.file.count
        guard room >= 0 || files.isEmpty else { return (files, Hexadecimal.text(of: last)) }
        files.append(SyncFile(SyncPath.item(row.name).text, row.file))
      }
      last = row.name
    }
    return (files, rows.count < limit ? nil : Hexadecimal.text(of: last))
  }

  private func head(_ progress: inout SyncProgress) throws -> SyncFile {
    progress.sequence += 1
    let head = try MemberHead(
      list: circle.last, sequence: progress.sequence, records: change.digestOfRecords(epoch: circle.epoch),
      by: circle.keys, as: circle.id)
    return SyncFile(SyncPath.head(circle.id).text, head.bytes)
  }
}

/// Brings records up to the newest list of members before they are published.
struct RecordRewriter {
  enum Outcome {
    case row(RecordRow)
    /// It has a new name: the file of the old one goes.
    case replaced
    /// It cannot be encrypted again now, and is not published to the members of an earlier list.
    case closed
  }

  private let change: StoreTransaction
  private let circle: Circle
  private let keys: SecretKeys
  private let journal: SyncJournal

  init(_ change: StoreTransaction, _ circle: Circle, _ keys: SecretKeys) {
    (self.change, self.circle, self.keys) = (change, circle, keys)
    journal = SyncJournal(change)
  }

  /// The record, encrypted to the members and signed by one of them.
  func current(_ row: RecordRow) throws -> Outcome {
    var row = row
    let isSignedByMember = try MemberID(row.head.writer).map { try circle.last.member($0) != nil } ?? true
    // The member that was removed may have used up all numbers. They begin anew once the repository has the list.
    guard try isSignedByMember || journal.hasNumbers() else { return .closed }
    if row.epoch < circle.epoch {
      let revision: Revision
      do {
        revision = try row.revision(for: circle).encrypted(to: circle.members, epoch: circle.epoch, with: keys)
      } catch is SecretObstacle {
        return .closed
      }
      row.put(try revision.sealed(to: circle.members.recipients, epoch: circle.epoch), epoch: circle.epoch)
      try row.write(change)
    }
    guard !isSignedByMember else { return .row(row) }
    if row.head.state == .kept {
      // Signed again, it has a new name.
      try journal.keep(row.revision(for: circle), row.head.title, epoch: row.epoch)
      try change.remove(row)
      return .replaced
    }
    let signed = try journal.sign(row)
    try signed.write(change)
    return .row(signed)
  }
}
