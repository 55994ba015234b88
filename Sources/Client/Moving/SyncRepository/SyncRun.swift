package import SecretModel

/// Syncs the vault with the remote: fetches, passes the changes to the vault, and publishes what the vault has to
/// publish. It can be killed at any moment and repeated.
package struct SyncRun: Sendable {
  /// The maximum number of attempts to push, in case other machines push first.
  private static let rounds = 5

  private let repository: GitRepository
  private let service: any SyncService
  private let progress: @Sendable (SyncProgress) -> Void
  /// Whether to publish again what the remote has lost.
  package var puttingBack = false
  /// Whether to change neither the store nor the remote.
  package var isDry = false
  /// The state of the remote that this command has just seen. Without it, the run fetches.
  package var start: Start?
  /// How long to wait for another run.
  package var patience = Duration.seconds(30)

  package init(
    _ repository: GitRepository, _ service: any SyncService,
    progress: @escaping @Sendable (SyncProgress) -> Void = { _ in }
  ) {
    (self.repository, self.service, self.progress) = (repository, service, progress)
  }

  package func run() async throws(SyncRunError) -> SyncReport {
    let lock = try await repository.lock(patience: patience)
    defer { withExtendedLifetime(lock) {} }
    repository.restore()
    guard repository.exists else { throw .noRemote }
    do throws(SyncRunError) {
      return try await turn(from: start)
    } catch .damaged {
      // The local copy is damaged, for example by a power failure. The remote and the vault have everything.
      try await repository.makeAgain()
      return try await turn(from: nil)
    }
  }

  private func turn(from start: Start?) async throws(SyncRunError) -> SyncReport {
    // Query the vault while git waits for the network.
    let fetch = start == nil ? try await repository.beginFetch() : nil
    var report = SyncReport()
    report.status = try await status()
    var tip = start?.tip ?? .empty
    if let fetch { tip = try await repository.finish(fetch, progress) }
    if isDry { return try await preview(tip, report) }
    for _ in 1...Self.rounds {
      try await take(tip, &report)
      report.lost = report.status.lost
      // A machine that asks to join publishes only its request.
      let isAsking = report.status.standing == .asking
      guard puttingBack || ((report.status.pending > 0 || isAsking) && !report.isHeldBack),
        let made = try await write(after: tip.commit, report.status)
      else { return report }
      switch try await repository.push(made.commit, progress) {
      case .accepted:
        report.published = made.count
        try await take(made, after: tip.commit, &report)
        // What was lost has been published again.
        if puttingBack { report.wentBack = false }
        report.lost = report.status.lost
        try await repository.tidy()
        return report
      case .remade: tip = .empty
      case .rejected(let reason):
        let next = try await repository.fetch(progress)
        guard next != tip else { throw .refused(reason: reason) }
        tip = next
      }
    }
    throw .contested
  }

  private func status() async throws(SyncRunError) -> SyncStatus {
    let status = try await SyncRunError.asking { () async throws(VaultError) in try await service.status() }
    switch status.standing {
    case .asking, .member: return status
    // A machine that has left must still publish that.
    case .removed where status.pending > 0: return status
    case .none, .removed, .outdated: throw .notInCircle(status.standing)
    }
  }

  /// What a run would do.
  private func preview(_ tip: GitRepository.Tip, _ report: SyncReport) async throws(SyncRunError) -> SyncReport {
    var report = report
    let received = try await repository.received()
    if let commit = tip.commit { try Self.check(commit, repository.blobs()) }
    if received != tip.commit {
      let changes = try await repository.changes(from: received, to: tip.commit)
      report.taken = changes.records.count + changes.items.count
      report.refused = changes.ignored
    }
    (report.published, report.lost) = (report.status.pending, report.status.lost)
    return report
  }

  // MARK: Taking

  /// Passes to the vault what has changed since the last commit it received.
  private func take(_ tip: GitRepository.Tip, _ report: inout SyncReport) async throws(SyncRunError) {
    let received = try await repository.received()
    let blobs = repository.blobs()
    guard received != tip.commit else {
      guard report.status.waitsForStore else { return }
      return try await finish(Pages(service, blobs, of: 0, report, progress), upTo: nil, &report)
    }
    if let commit = tip.commit { try Self.check(commit, blobs) }
    var ancestry: GitProcess?
    if let received, let commit = tip.commit { ancestry = try repository.ancestry(of: received, before: commit) }
    // A machine that is admitted needs all items, not only what has changed.
    let isAsking = report.status.standing == .asking
    let changes = try await repository.changes(from: isAsking ? nil : received, to: tip.commit)
    report.refused += changes.ignored
    if let ancestry, await !ancestry.hasSucceeded() { report.wasRewritten = true }
    try await take(changes, upTo: tip, by: blobs, &report)
  }

  /// Passes the files of this machine's own commit to the vault, which then knows that they are published.
  private func take(_ made: Made, after parent: String?, _ report: inout SyncReport) async throws(SyncRunError) {
    let blobs = repository.blobs()
    guard let files = made.files, report.status.standing != .asking else {
      let changes = try await repository.changes(from: parent, to: made.commit)
      return try await take(changes, upTo: .commit(made.commit), by: blobs, &report)
    }
    let pages = Pages(service, blobs, of: files.count, report, progress)
    try await pages.give(files.filter { TreeChanges.isRecord($0.path) })
    try await pages.give(files.filter { !TreeChanges.isRecord($0.path) })
    try await finish(pages, upTo: .commit(made.commit), &report)
  }

  /// Passes the changes up to a commit to the vault.
  private func take(
    _ changes: TreeChanges, upTo tip: GitRepository.Tip, by blobs: BlobReader, _ report: inout SyncReport
  ) async throws(SyncRunError) {
    var standing = report.status.standing
    let pages = Pages(service, blobs, of: changes.records.count + changes.items.count, report, progress)
    try await pages.give(changes.records)
    if standing == .asking {
      try await pages.flush(isLast: false)
      standing = try await status().standing
    }
    if standing == .member { try await pages.give(changes.items) }
    try await finish(pages, upTo: standing == .asking ? nil : tip, &report)
  }

  /// - Parameter tip: the state that the vault has received completely; nil if only a part of it.
  private func finish(
    _ pages: Pages, upTo tip: GitRepository.Tip?, _ report: inout SyncReport
  ) async throws(SyncRunError) {
    try await pages.flush(isLast: true)
    report = pages.report
    if let tip { try await repository.setReceived(tip.commit) }
    report.status = try await SyncRunError.asking { () async throws(VaultError) in try await service.status() }
  }

  /// Throws if the commit is not a circle's, or is of a newer format.
  private static func check(_ commit: String, _ blobs: BlobReader) throws(SyncRunError) {
    guard case .contents(let bytes) = try blobs.read("\(commit):format", limit: 1_024) else { throw .foreign }
    let line = String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
    guard line != SyncFile.formatLine else { return }
    guard line != SyncFile.earlierFormatLine else { throw .olderFormat }
    throw line.hasPrefix("whorl-sync ") ? .newerFormat : .foreign
  }

  // MARK: Publishing

  /// A commit of this machine's.
  private struct Made {
    let commit: String
    /// The number of files from the vault.
    let count: Int
    /// The files, if they came in one page.
    let files: [SyncFile]?
  }

  /// Commits the files that the vault has to publish; nil if there are none.
  private func write(after parent: String?, _ status: SyncStatus) async throws(SyncRunError) -> Made? {
    var writer: CommitWriter?
    var after: String?
    var pages: [[SyncFile]] = []
    repeat {
      let position = after
      let batch = try await SyncRunError.asking { () async throws(VaultError) in
        try await service.files(after: position, puttingBack: puttingBack)
      }
      if writer == nil, !batch.files.isEmpty { writer = try repository.writer(after: parent) }
      for file in batch.files { try writer?.write(file) }
      progress(.writing(writer?.count ?? 0, of: status.pending))
      // Keep the first page, in case it is the only one.
      pages.append(pages.isEmpty ? batch.files : [])
      after = batch.next
    } while after != nil
    guard let writer else { return nil }
    let made = try await writer.finish()
    // In these two cases the vault also returns files that are published already.
    if puttingBack || status.standing == .asking {
      guard try await !repository.changes(from: parent, to: made).isEmpty else { return nil }
    }
    return Made(commit: made, count: writer.count, files: pages.count == 1 ? pages[0] : nil)
  }
}

extension SyncStatus {
  /// Whether the vault may now be able to store items that are waiting.
  fileprivate var waitsForStore: Bool {
    standing == .member && waiting.contains { ![.touch, .proof, .recipients].contains($0.reason) }
  }
}

// MARK: Beginning

extension SyncRun {
  /// A state of the remote, from which a run can begin without another connection: for each one, a person may have to
  /// type a passphrase.
  package struct Start: Sendable {
    fileprivate let tip: GitRepository.Tip
  }

  /// The remote's records of members, for a machine that wants to join.
  package func records() async throws(SyncRunError) -> (records: [SyncFile], Start) {
    let tip = try await repository.fetch(progress)
    guard let commit = tip.commit else { throw .empty }
    let blobs = repository.blobs()
    try Self.check(commit, blobs)
    var records: [SyncFile] = []
    var size = 0
    for entry in try await repository.changes(from: nil, to: commit, under: "circle").records {
      guard let blob = entry.blob, case .contents(let bytes) = try blobs.read(blob) else { continue }
      size += bytes.count
      guard size <= SyncFile.pageLimit else { throw .tooMuch("it has records of too many members") }
      records.append(SyncFile(entry.path, bytes))
    }
    return (records, Start(tip: tip))
  }

  /// Throws if the remote is not empty.
  package func requireEmpty() async throws(SyncRunError) -> Start {
    guard try await repository.hasBranch() else { return Start(tip: .empty) }
    guard let commit = try await repository.fetch(progress).commit else { return Start(tip: .empty) }
    try Self.check(commit, repository.blobs())
    throw .taken
  }
}
