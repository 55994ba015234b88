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
  package func make(for remote: SyncRemote) async throws(SyncRunError) { try await make(for: remote, .sha1) }

  private func make(for remote: SyncRemote, _ format: ObjectFormat) async throws(SyncRunError) {
    let new = "\(place)/new"
    try SyncRunError.making { () throws(Folder.Failure) in try Folder.makePrivate(place) }
    try SyncRunError.making { () throws(Folder.Failure) in try Folder.remove(new) }
    let (_, entry) = try Unfinished.ofThisProgram.make { () throws(SyncRunError) in
      guard mkdir(new, 0o700) == 0 else { throw .system("\(new): \(String(cString: strerror(errno)))") }
    } undo: { _ in
      try? Folder.remove(new)
    }
    defer { Unfinished.ofThisProgram.forget(entry) }
    // Not the format that this git makes by default, but the one of the remote.
    try await run(["init", "--quiet", "--bare", "--template=", "--object-format=\(format.rawValue)", new], in: new)
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
  func makeAgain() async throws(SyncRunError) { try await makeAgain(.sha1) }

  private func makeAgain(_ format: ObjectFormat) async throws(SyncRunError) {
    try await make(for: try await remote(), format)
  }

  private func remote() async throws(SyncRunError) -> SyncRemote { try SyncRemote(try await url(), in: "/") }

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
    if let text = try? SmallFile.read("\(folder)/\(Self.receivedRef)", limit: 4_096),
      let commit = ObjectFormat.name(at: text)
    {
      return commit
    }
    // It may be among packed refs.
    let process = try GitProcess(git, git.local(["rev-parse", "--verify", "--quiet", Self.receivedRef]), in: folder)
    let line = try process.next(upTo: [0x0A])
    return await process.hasSucceeded() ? line.flatMap { ObjectFormat.name(at: $0) } : nil
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
    guard let format = (new ?? old).flatMap({ ObjectFormat(of: $0) }) else { return TreeChanges() }
    if let new { try await requireBounded(new) }
    let nothing = format.emptyTree
    let words = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "--full-index"]
    let process = try GitProcess(
      git, git.local(words + [old ?? nothing, new ?? nothing, "--"] + (path.map { [$0] } ?? [])), in: folder)
    let changes = try TreeChanges(process)
    guard await process.hasSucceeded() else { throw process.damage }
    return changes
  }

  /// Throws if a commit has too many files and folders. All count, whatever their names: folders that have others
  /// several times, over some levels, unfold to any number of files, and `diff-tree` would keep them all in memory.
  private func requireBounded(_ commit: String) async throws(SyncRunError) {
    let process = try GitProcess(
      git, git.local(["ls-tree", "-r", "-t", "-z", "--name-only", "--full-tree", commit]), in: folder)
    var count = 0
    while try process.next(upTo: [0], limit: 1) != nil {
      count += 1
      guard count <= TreeChanges.limit else { throw TreeChanges.excess }
    }
    guard await process.hasSucceeded() else { throw process.damage }
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
}

// MARK: The remote

extension GitRepository {
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
  func beginFetch() async throws(SyncRunError) -> Fetch {
    guard exists else { throw .noRemote }
    unlink("\(folder)/FETCH_HEAD")
    return Fetch(
      try await transport(
        "fetch",
        ["--progress", "--no-tags", "--no-recurse-submodules", "--no-auto-gc", "--force", "origin", Self.branch]))
  }

  func fetch(_ progress: (SyncProgress) -> Void) async throws(SyncRunError) -> Tip {
    try await finish(try await beginFetch(), progress)
  }

  /// Waits until a fetch has ended.
  ///
  /// - Parameter isAgain: whether the copy was just made again for the remote's format.
  func finish(
    _ fetch: Fetch, isAgain: Bool = false, _ progress: (SyncProgress) -> Void
  ) async throws(SyncRunError) -> Tip {
    let lines = try watch(fetch.process) { progress(.receiving($0, of: $1)) }
    if await fetch.process.hasSucceeded() {
      guard let head = try? SmallFile.read("\(folder)/FETCH_HEAD", limit: 4_096),
        let commit = ObjectFormat.name(at: head)
      else { throw .damaged("git has fetched nothing") }
      return .commit(commit)
    }
    if !isAgain, let format = GitWords.otherFormat(lines) {
      try await makeAgain(format)
      return try await finish(try await beginFetch(), isAgain: true, progress)
    }
    try requireReached(fetch.process, lines)
    // Find out whether the branch is missing, or this copy is damaged. A person may have to type a passphrase again.
    guard try await hasBranch() else { return .empty }
    throw .damaged(GitWords.reason(in: lines) ?? "git has failed")
  }

  /// Whether the remote has the branch of a circle, without fetching it. False for an empty remote.
  ///
  /// - Throws: `foreign` if the remote has only other branches.
  func hasBranch() async throws(SyncRunError) -> Bool {
    let process = try await transport("ls-remote", ["--heads", "origin"], watching: .output)
    var branches: [String] = []
    while let line = try process.next(upTo: [0x0A]), branches.count < Self.lineLimit {
      branches.append(String(decoding: line, as: UTF8.self))
    }
    guard await process.hasSucceeded() else {
      let lines = process.lines
      try requireReached(process, lines)
      throw .unreachable(reason: GitWords.reason(in: lines) ?? "git has failed")
    }
    if branches.isEmpty { return false }
    guard branches.contains(where: { $0.hasSuffix("\t\(Self.branch)") }) else { throw .foreign }
    return true
  }

  /// Throws the error of a transfer that has failed at one of git's bounds, or before it reached the remote.
  private func requireReached(_ process: GitProcess, _ lines: [String]) throws(SyncRunError) {
    if let excess = process.excess(lines) { throw excess }
    let reason = GitWords.reason(in: lines) ?? "git has failed"
    if !git.mayAsk, GitWords.saysUnanswered(lines) { throw .unanswered(reason: reason) }
    if GitWords.saysUnreachable(lines) { throw .unreachable(reason: reason) }
  }

  /// The result of a push.
  enum Pushed {
    case accepted
    /// The remote has changed meanwhile, or refuses the push, with git's reason.
    case rejected(String)
    /// The remote is empty, and names its objects by another algorithm. The copy was made again for that, without the
    /// commit.
    case remade
  }

  func push(_ commit: String, _ progress: (SyncProgress) -> Void) async throws(SyncRunError) -> Pushed {
    let process = try await transport(
      "push",
      [
        "--progress", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", "origin",
        "\(commit):\(Self.branch)",
      ])
    let lines = try watch(process) { progress(.sending($0, of: $1)) }
    if await process.hasSucceeded() { return .accepted }
    let rejected = process.said.split(separator: "\n").first { $0.hasPrefix("!") }
    if GitWords.refusesFormat(lines), let format = ObjectFormat(of: commit) {
      try await makeAgain(format.other)
      return .remade
    }
    guard let rejected else {
      try requireReached(process, lines)
      throw .unreachable(reason: GitWords.reason(in: lines) ?? "git has failed")
    }
    return .rejected(rejected.split(separator: "\t").last.map(String.init) ?? "")
  }

  /// The bytes that a running transfer has received.
  private var transferred: Int {
    names("objects/pack").filter { $0.hasPrefix("tmp_") }.reduce(0) { sum, name in
      var status = stat()
      return lstat("\(folder)/objects/pack/\(name)", &status) == 0 ? sum + Int(clamping: status.st_size) : sum
    }
  }

  private func transport(
    _ command: String, _ words: [String], watching: GitProcess.Watched = .diagnostics
  ) async throws(SyncRunError) -> GitProcess {
    var server: [String] = []
    let remote = try await remote()
    if let folder = remote.folder {
      try folder.check()
      server = [folder.server(of: command, git)]
    }
    // Leave the user time to type a passphrase.
    return try GitProcess(
      git, git.transport([command] + server + words, by: remote.folder == nil ? "ssh:https" : "file"), in: folder,
      watching: watching, keepsTerminal: git.mayAsk, patience: .seconds(git.mayAsk ? 300 : 90), time: .seconds(3_600))
  }

  /// Reads the output of a transfer, and returns its last lines without progress.
  private func watch(_ process: GitProcess, _ progress: (Int, Int) -> Void) throws(SyncRunError) -> [String] {
    process.everySecond = { [self] () throws(SyncRunError) in
      guard transferred < GitProcess.transferLimit else {
        throw .tooMuch("it sends more than \(GitProcess.transferLimit >> 30) GiB")
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
