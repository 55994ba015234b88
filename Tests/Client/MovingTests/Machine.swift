import Glibc
import Moving
import Primitives
import ProgramDriver
import SecretModel

/// A machine with a vault and a private repository, and a remote in a folder.
struct Machine: Sendable {
  let vault: PretendVault
  let place: String
  let repository: GitRepository

  /// - Parameter url: of the remote.
  static func named(
    _ name: String, in folder: String, _ vault: PretendVault, url: String? = nil, environment: [String] = []
  ) async throws -> Machine {
    let own = ["HOME=\(folder)/home", "PATH=/usr/bin:/bin"]
    let git = try GitProgram(environment: own + environment, mayAsk: false)
    let place = "\(folder)/\(name)/sync"
    let repository = GitRepository(at: place, git)
    let machine = Machine(vault: vault, place: place, repository: repository)
    try await onOwnThread { try await repository.make(for: SyncRemote(url ?? "\(folder)/remote", in: "/")) }
    return machine
  }

  @discardableResult
  func sync(puttingBack: Bool = false, isDry: Bool = false) async throws -> SyncReport {
    var run = SyncRun(repository, vault)
    (run.puttingBack, run.isDry) = (puttingBack, isDry)
    let set = run
    return try await onOwnThread { try await set.run() }
  }

  var received: String? {
    (try? readFile("\(place)/repository/refs/whorl/received")).map { String(decoding: $0.prefix(40), as: UTF8.self) }
  }
}

/// Runs what blocks outside the cooperative pool.
func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
  try await Task(executorPreference: BackgroundThread()) { try await body() }.value
}

/// The git of a person who has the remote in a folder.
@discardableResult
func git(_ words: String..., in folder: String, input: String? = nil) async throws -> String {
  let result = try await Invocation(
    program: "/usr/bin/git",
    arguments: ["-C", folder, "-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "init.defaultBranch=main"]
      + words,
    input: input.map { Array($0.utf8) }
  ).run()
  try result.mustSucceed()
  return result.text.trimmingSuffix { $0 == "\n" }
}

extension String {
  fileprivate func trimmingSuffix(_ isDropped: (Character) -> Bool) -> String {
    var text = self[...]
    while let last = text.last, isDropped(last) { text = text.dropLast() }
    return String(text)
  }
}

/// A folder with an empty remote in it.
func withRemote(_ body: @Sendable (String) async throws -> Void) async throws {
  try await withFolder { folder in
    mkdir("\(folder)/home", 0o700)
    try await git("init", "--quiet", "--bare", "\(folder)/remote", in: folder)
    try await body(folder)
  }
}

/// Puts a tree on top of the remote's branch, or in its place, by the lines of `git mktree`.
///
/// - Returns: the commit.
@discardableResult
func plant(
  _ lines: [String], over folder: String, replacing: Bool = false, keeping: Bool = true
) async throws -> String {
  let remote = "\(folder)/remote"
  let there = keeping ? try await git("ls-tree", "main", in: remote) : ""
  let named = Set(lines.map { $0.split(separator: "\t").last.map(String.init) ?? "" })
  let kept = there.split(separator: "\n").map(String.init).filter { line in
    !named.contains(line.split(separator: "\t").last.map(String.init) ?? "")
  }
  let tree = try await git("mktree", "--missing", in: remote, input: (kept + lines).map { $0 + "\n" }.joined())
  let commit =
    replacing
    ? try await git("commit-tree", tree, "-m", "planted", in: remote)
    : try await git("commit-tree", tree, "-p", "main", "-m", "planted", in: remote)
  try await git("update-ref", "refs/heads/main", commit, in: remote)
  return commit
}

func blob(_ text: String, in folder: String) async throws -> String {
  try await git("hash-object", "-w", "--stdin", in: "\(folder)/remote", input: text)
}
