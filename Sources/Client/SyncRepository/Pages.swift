internal import SecretModel

/// Gives files to the vault, as many in one call as fit. While the vault takes a page, git reads the next one.
final class Pages {
  /// The bytes of a page, unless a single file is longer.
  private static let pageSize = 1 << 20

  private let service: any SyncService
  private let blobs: BlobReader
  private let all: Int
  private let progress: (SyncProgress) -> Void
  private var page: [SyncFile] = []
  /// The call that the vault works on, with the number of its files.
  private var call: (answer: Task<Result<SyncReceipt, VaultError>, Never>, count: Int)?
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
    if size + bytes > Self.pageSize { try await send(isLast: false) }
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

  /// Gives what has gathered, and waits until the vault has taken all.
  func flush(isLast: Bool) async throws(SyncRunError) {
    if isLast || !page.isEmpty { try await send(isLast: isLast) }
    try await finishCall()
  }

  private func send(isLast: Bool) async throws(SyncRunError) {
    try await finishCall()
    let (files, service) = (page, service)
    (page, size) = ([], 0)
    let answer = Task { () async -> Result<SyncReceipt, VaultError> in
      do throws(VaultError) {
        return .success(try await service.receive(files, isLast: isLast))
      } catch {
        return .failure(error)
      }
    }
    call = (answer, files.count)
  }

  private func finishCall() async throws(SyncRunError) {
    guard let (answer, count) = call else { return }
    call = nil
    let result = await answer.value
    let receipt = try await SyncRunError.asking { () async throws(VaultError) in try result.get() }
    report.taken += count
    done += count
    progress(.taking(done, of: all))
    report.add(receipt)
  }
}
