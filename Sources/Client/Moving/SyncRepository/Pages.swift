internal import SecretModel

/// Passes files to the vault, as many per call as fit.
final class Pages {
  private let service: any SyncService
  private let blobs: BlobReader
  private let all: Int
  private let progress: (SyncProgress) -> Void
  private var page: [SyncFile] = []
  private var size = 0
  private var done = 0
  private(set) var report: SyncReport

  init(
    _ service: any SyncService, _ blobs: BlobReader, of all: Int, _ report: SyncReport,
    _ progress: @escaping (SyncProgress) -> Void
  ) {
    (self.service, self.blobs, self.all, self.report, self.progress) = (service, blobs, all, report, progress)
  }

  func give(_ entries: [TreeChanges.Entry]) async throws(SyncRunError) {
    for entry in entries { try await give(SyncFile(entry.path, try contents(of: entry))) }
  }

  func give(_ files: [SyncFile]) async throws(SyncRunError) {
    for file in files { try await give(file) }
  }

  private func give(_ file: SyncFile) async throws(SyncRunError) {
    let bytes = file.path.utf8.count + (file.contents?.count ?? 0) + 64
    if size + bytes > SyncFile.pageLimit { try await flush(isLast: false) }
    page.append(file)
    size += bytes
  }

  private func contents(of entry: TreeChanges.Entry) throws(SyncRunError) -> [UInt8]? {
    guard let blob = entry.blob else { return nil }
    switch try blobs.read(blob) {
    case .contents(let bytes): return bytes
    case .missing: throw .damaged("the file \(entry.path) is missing")
    case .tooLarge:
      report.refused.append(SyncReceipt.Refusal(path: entry.path, reason: "is too large"))
      return nil
    }
  }

  /// Sends the gathered files.
  func flush(isLast: Bool) async throws(SyncRunError) {
    guard isLast || !page.isEmpty else { return }
    let files = page
    (page, size) = ([], 0)
    let answer = try await SyncRunError.asking { () async throws(VaultError) in
      try await service.receive(files, isLast: isLast)
    }
    report.taken += files.count
    done += files.count
    progress(.taking(done, of: all))
    report.add(answer)
  }
}
