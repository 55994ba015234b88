internal import Glibc
internal import Primitives

/// The local, bare copy of a circle's repository. Nothing is ever checked out. It can be made again from the remote.
package struct GitRepository: Sendable {
  /// The commit whose files the vault has taken.
  private static let receivedRef = "refs/whorl/received"
  private static let madeRef = "refs/whorl/made"
  private static let branch = "refs/heads/main"

  /// A folder of the user's for this store alone.
  private let place: String
  let git: GitProgram
  /// The bare repository.
  let folder: String
  /// The earlier repository, renamed before it is removed, so that a killed removal leaves no half repository in place.
  private var earlier: String { "\(place)/earlier" }

  /// - Parameters:
  ///   - place: a full path; made if it is missing.
  package init(at place: String, _ git: GitProgram) {
    (self.place, self.git) = (place, git)
    folder = "\(place)/repository"
  }

  // MARK: Making

  /// Whether it exists.
  package var exists: Bool { access("\(folder)/HEAD", F_OK) == 0 }

  /// Makes it, in place of an earlier one.
  package func make(for remote: SyncRemote) async throws(SyncRunError) {
    let new = "\(place)/new"
    try SyncRunError.making { () throws(Folder.Failure) in try Folder.makePrivate(place) }
    try SyncRunError.making { () throws(Folder.Failure) in try Folder.remove(new) }
    guard mkdir(new, 0o700) == 0 else { throw .system("\(new): \(String(cString: strerror(errno)))") }
    try await run(["init", "--quiet", "--bare", "--template=", new], in: new)
    try await run(["config", "remote.origin.url", remote.url], in: new)
    try setAside()
    guard rename(new, folder) == 0 else { throw .system("\(folder): \(String(cString: strerror(errno)))") }
    try SyncRunError.making { () throws(Folder.Failure) in try Folder.remove(earlier) }
  }

  /// Restores the earlier repository if a run was killed before the new one was in place.
  func restore() {
    if !exists { rename(earlier, folder) }
  }

  /// Makes a damaged repository again, for the same remote.
  func makeAgain() async throws(SyncRunError) {
    try await make(for: SyncRemote(try await url(), in: "/"))
  }

  package func remove() throws(SyncRunError) {
    try setAside()
    try SyncRunError.making { () throws(Folder.Failure) in try Folder.remove(earlier) }
  }

  /// Renames the repository to ``earlier``, if there is one.
  private func setAside() throws(SyncRunError) {
    try SyncRunError.making { () throws(Folder.Failure) in try Folder.remove(earlier) }
    guard rename(folder, earlier) == 0 || errno == ENOENT else {
      throw .system("\(folder): \(String(cString: strerror(errno)))")
    }
  }

  /// The remote's URL.
  package func url() async throws(SyncRunError) -> String {
    guard exists else { throw .noRemote }
    if let url = plainURL { return url }
    let process = try GitProcess(git, git.local(["config", "--get", "remote.origin.url"]), in: folder)
    let line = try process.next(upTo: [0x0A])
    guard await process.hasSucceeded(), let line else { throw .noRemote }
    return String(decoding: line, as: UTF8.self)
  }

  /// The URL, read without git; nil if the configuration has it in quotation marks.
  private var plainURL: String? {
    guard let bytes = try? SmallFile.read("\(folder)/config", limit: 4_096) else { return nil }
    let mark = "\turl = "
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").filter { $0.hasPrefix(mark) }
    guard lines.count == 1, !lines[0].contains(where: { "\"\\#;".contains($0) }) else { return nil }
    return String(lines[0].dropFirst(mark.count))
  }

  /// Changes the remote. The received commit is kept, unless the repository is damaged and has to be made again.
  package func change(to remote: SyncRemote) async throws(SyncRunError) {
    do throws(SyncRunError) {
      try await run(["config", "remote.origin.url", remote.url], in: folder)
    } catch .damaged {
      try await make(for: remote)
    }
  }

  /// Waits until other runs have ended.
  func lock(patience: Duration) async throws(SyncRunError) -> RunLock {
    try SyncRunError.making { () throws(Folder.Failure) in try Folder.makePrivate(place) }
    return try await RunLock("\(place)/lock", patience: patience)
  }

  // MARK: Commits

  /// The commit whose files the vault has taken; nil if it has taken none.
  func received() async throws(SyncRunError) -> String? {
    if let text = try? String(decoding: SmallFile.read("\(folder)/\(Self.receivedRef)", limit: 4_096), as: UTF8.self),
      let commit = Self.object(text)
    {
      return commit
    }
    // It may be among packed refs.
    let process = try GitProcess(git, git.local(["rev-parse", "--verify", "--quiet", Self.receivedRef]), in: folder)
    let line = try process.next(upTo: [0x0A])
    return await process.hasSucceeded() ? line.flatMap { Self.object(String(decoding: $0, as: UTF8.self)) } : nil
  }

  /// - Parameter commit: nil for an empty remote.
  func setReceived(_ commit: String?) async throws(SyncRunError) {
    try await run(["update-ref"] + (commit.map { [Self.receivedRef, $0] } ?? ["-d", Self.receivedRef]), in: folder)
  }

  /// Starts a git that succeeds if `commit` is an ancestor of `other`.
  func ancestry(of commit: String, before other: String) throws(SyncRunError) -> GitProcess {
    try GitProcess(git, git.local(["merge-base", "--is-ancestor", commit, other]), in: folder)
  }

  /// The differences between two commits; nil stands for a commit without files.
  func changes(from old: String?, to new: String?, under path: String? = nil) async throws(SyncRunError)
    -> TreeChanges
  {
    // The empty tree, which every git has.
    let nothing = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    let words = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "--full-index"]
    let process = try GitProcess(
      git, git.local(words + [old ?? nothing, new ?? nothing, "--"] + (path.map { [$0] } ?? [])), in: folder)
    let changes = try TreeChanges(process)
    guard await process.hasSucceeded() else { throw process.damage }
    return changes
  }

  /// Starts to write a commit.
  func writer(after parent: String?) throws(SyncRunError) -> CommitWriter {
    try CommitWriter(
      GitProcess(
        git, git.local(["fast-import", "--quiet", "--force", "--done", "--date-format=raw"]), in: folder,
        takesInput: true),
      ref: Self.madeRef, after: parent)
  }

  func blobs() -> BlobReader { BlobReader(git, in: folder) }

  /// Packs the objects if there are more than 40 packs, or about 2,000 loose objects: estimated, as by git, from one of
  /// their 256 folders.
  func tidy() async throws(SyncRunError) {
    guard
      names("objects/17").count > 8 || names("objects/pack").count(where: { $0.hasSuffix(".pack") }) > 40
    else { return }
    let settings = ["gc.packRefs=false", "gc.pruneExpire=1.hour.ago"]
    // A repository that cannot be packed can still be used.
    _ = try await GitProcess(
      git, git.local(settings.flatMap { ["-c", $0] } + ["gc", "--quiet"]), in: folder
    ).hasSucceeded()
  }

  private func run(_ words: [String], in folder: String) async throws(SyncRunError) {
    let process = try GitProcess(git, git.local(words), in: folder)
    _ = try process.rest(limit: 4_096)
    guard await process.hasSucceeded() else { throw process.damage }
  }

  private func names(_ inside: String) -> [String] { Folder.names(in: "\(folder)/\(inside)") ?? [] }

  /// The name of an object at the start of a text; nil if there is none.
  private static func object(_ text: some StringProtocol) -> String? {
    let name = text.prefix(40)
    return name.utf8.count == 40 && name.allSatisfy { $0.isHexDigit && !$0.isUppercase } ? String(name) : nil
  }
}

// MARK: The remote

extension GitRepository {
  /// The maximum size of one transfer, in bytes.
  private static let transferLimit = 2 << 30
  private static let lineLimit = 1_000

  /// The state of the remote's branch.
  enum Tip: Hashable {
    case commit(String)
    case empty

    var commit: String? { if case .commit(let name) = self { name } else { nil } }
  }

  /// A running fetch.
  final class Fetch {
    fileprivate let process: GitProcess
    fileprivate init(_ process: GitProcess) { self.process = process }
  }

  /// Starts a fetch.
  func beginFetch() throws(SyncRunError) -> Fetch {
    guard exists else { throw .noRemote }
    unlink("\(folder)/FETCH_HEAD")
    return Fetch(
      try transport([
        "fetch", "--progress", "--no-tags", "--no-recurse-submodules", "--no-auto-gc", "--force", "origin", Self.branch,
      ]))
  }

  func fetch(_ progress: (SyncProgress) -> Void) async throws(SyncRunError) -> Tip {
    try await finish(try beginFetch(), progress)
  }

  /// Waits until a fetch has ended.
  func finish(_ fetch: Fetch, _ progress: (SyncProgress) -> Void) async throws(SyncRunError) -> Tip {
    let lines = try watch(fetch.process) { progress(.receiving($0, of: $1)) }
    if await fetch.process.hasSucceeded() {
      guard let head = try? SmallFile.read("\(folder)/FETCH_HEAD", limit: 4_096),
        let commit = Self.object(String(decoding: head, as: UTF8.self))
      else { throw .damaged("git has fetched nothing") }
      return .commit(commit)
    }
    // Find out whether the branch is missing, the remote is out of reach, or this copy is damaged.
    let reason = GitWords.reason(in: lines) ?? "git has failed"
    let process = try transport(["ls-remote", "--heads", "origin"], watching: .output)
    var branches: [String] = []
    while let line = try process.next(upTo: [0x0A]), branches.count < Self.lineLimit {
      branches.append(String(decoding: line, as: UTF8.self))
    }
    guard await process.hasSucceeded() else {
      // A power failure may have emptied the configuration, which has the URL.
      _ = try await url()
      throw .unreachable(reason: reason)
    }
    if branches.isEmpty { return .empty }
    guard branches.contains(where: { $0.hasSuffix("\t\(Self.branch)") }) else { throw .foreign }
    throw .damaged(reason)
  }

  /// The result of a push.
  enum Pushed {
    case accepted
    /// The remote has changed meanwhile, or refuses the push, with git's reason.
    case rejected(String)
  }

  func push(_ commit: String, _ progress: (SyncProgress) -> Void) async throws(SyncRunError) -> Pushed {
    let process = try transport([
      "push", "--progress", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", "origin",
      "\(commit):\(Self.branch)",
    ])
    let lines = try watch(process) { progress(.sending($0, of: $1)) }
    if await process.hasSucceeded() { return .accepted }
    let rejected = process.said.split(separator: "\n").first { $0.hasPrefix("!") }
    guard let rejected else { throw .unreachable(reason: GitWords.reason(in: lines) ?? "git has failed") }
    return .rejected(rejected.split(separator: "\t").last.map(String.init) ?? "")
  }

  /// The bytes that a running transfer has received.
  private var transferred: Int {
    names("objects/pack").filter { $0.hasPrefix("tmp_") }.reduce(0) { sum, name in
      var status = stat()
      return lstat("\(folder)/objects/pack/\(name)", &status) == 0 ? sum + Int(status.st_size) : sum
    }
  }

  private func transport(_ words: [String], watching: GitProcess.Watched = .diagnostics) throws(SyncRunError)
    -> GitProcess
  {
    // Leave the user time to type a passphrase.
    try GitProcess(
      git, git.transport(words), in: folder, watching: watching, keepsTerminal: git.mayAsk,
      patience: .seconds(git.mayAsk ? 300 : 90))
  }

  /// Reads the output of a transfer, and returns its last lines without progress.
  private func watch(_ process: GitProcess, _ progress: (Int, Int) -> Void) throws(SyncRunError) -> [String] {
    process.everySecond = { [self] () throws(SyncRunError) in
      guard transferred < Self.transferLimit else {
        throw .tooMuch("it sends more than \(Self.transferLimit >> 30) GiB")
      }
    }
    var lines: [String] = []
    while let bytes = try process.next(upTo: [0x0A, 0x0D]) {
      let line = String(decoding: bytes, as: UTF8.self)
      if let at = GitWords.progress(line) {
        progress(at.done, at.all)
      } else if !GitWords.isProgress(line), lines.count < 100 {
        lines.append(line)
      }
    }
    return lines
  }
}
