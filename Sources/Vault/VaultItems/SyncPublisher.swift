import GRDB
import Primitives
import SecretModel
import VaultStore
import VaultSync

/// Collects the files that a repository lacks, in one transaction.
struct SyncPublisher {
  private let change: StoreTransaction
  private let circle: Circle

  init(_ change: StoreTransaction, _ circle: Circle) { (self.change, self.circle) = (change, circle) }

  /// A page of the files.
  func page(after: String?, limit: Int, puttingBack: Bool) throws -> SyncBatch {
    var progress = try change.syncProgress()
    guard progress.lost == 0 || puttingBack else { return SyncBatch(files: [], next: nil) }
    let putsBack = progress.lost > 0
    progress.lost = 0
    switch try circle.standing {
    case .none: return SyncBatch(files: [], next: nil)
    case .asking:
      guard !progress.hasRequest, let request = circle.request else { return SyncBatch(files: [], next: nil) }
      return SyncBatch(files: [SyncFile(SyncPath.request(circle.id).text, request)], next: nil)
    case .removed: return SyncBatch(files: circleFiles(progress), next: nil)
    case .member: break
    }
    var files = after == nil ? try beginning(progress) : []
    let (rows, next) = try records(after: after, limit: limit)
    files += rows
    progress.clock = try change.syncProgress().clock
    if next == nil, after != nil || !files.isEmpty || putsBack { files.append(try head(&progress)) }
    try change.put(progress)
    return SyncBatch(files: files, next: next)
  }

  private func circleFiles(_ progress: SyncProgress) -> [SyncFile] {
    circle.chain.dropFirst(min(circle.published, progress.circleRecords)).map {
      SyncFile(SyncPath.circle($0.epoch).text, $0.bytes)
    }
  }

  private func beginning(_ progress: SyncProgress) throws -> [SyncFile] {
    var files = progress.hasFormat ? [] : [SyncFile(SyncPath.format.text, SyncPath.formatLine)]
    files += circleFiles(progress)
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
    let members = try Set(circle.members.map { try $0.id.description })
    let journal = SyncJournal(change)
    let authors = try circle.everyAuthor
    let recipients = try circle.members.recipients
    var files: [SyncFile] = []
    var room = SyncFile.pageLimit
    for var row in rows {
      if !members.contains(row.head.writer), row.head.state == .kept {
        // Signed again, it has a new name: remove the old file.
        try journal.keep(row.revision(for: circle), row.head.title)
        try change.remove(row)
        files.append(SyncFile(SyncPath.item(row.name).text, nil))
        continue
      }
      if !members.contains(row.head.writer) {
        row = try journal.sign(row)
        try row.write(change)
      } else if row.epoch < circle.epoch {
        let file = try row.revision(for: circle, from: authors).sealed(to: recipients, epoch: circle.epoch)
        row.put(file, epoch: circle.epoch)
        try row.write(change)
      }
      room -= row.file.count
      guard room >= 0 || files.isEmpty else { break }
      files.append(SyncFile(SyncPath.item(row.name).text, row.file))
    }
    let isEnd = files.count == rows.count && rows.count < limit
    return (files, isEnd ? nil : Hexadecimal.text(of: rows[files.count - 1].name))
  }

  private func head(_ progress: inout SyncProgress) throws -> SyncFile {
    progress.sequence += 1
    let head = try MemberHead(
      circle: circle.circle, sequence: progress.sequence, records: change.digestOfRecords(), by: circle.keys,
      as: circle.id)
    return SyncFile(SyncPath.head(circle.id).text, head.bytes)
  }
}
