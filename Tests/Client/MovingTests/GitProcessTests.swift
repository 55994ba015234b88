import Glibc
import ProgramDriver
import SecretModel
import Testing

@testable import Moving

@Suite("A git process")
struct GitProcessTests {
  private typealias Use<Value> = @Sendable (GitProcess, _ mark: String) async throws -> Value

  /// Runs a script by git's shell, with a word among git's arguments by which it is found among all processes.
  private func withGit<Value: Sendable>(
    _ script: String, patience: Duration = .seconds(60), time: Duration = .seconds(60), outputLimit: Int = 1 << 20,
    _ use: @escaping Use<Value>
  ) async throws -> Value {
    try await withFolder { folder in
      try await git("init", "--quiet", "--bare", "\(folder)/repository", in: folder)
      let program = try GitProgram(environment: [], mayAsk: false)
      return try await onOwnThread {
        let mark = "whorl.mark=\(folder)"
        let process = try GitProcess(
          program, program.local(["-c", mark, "-c", "alias.run=!\(script)", "run"]), in: "\(folder)/repository",
          patience: patience, time: time, outputLimit: outputLimit)
        return try await use(process, mark)
      }
    }
  }

  /// Whether there is a git with this mark.
  private static func isThere(_ mark: String) throws -> Bool {
    try folderEntries("/proc").contains { name in
      guard name.allSatisfy(\.isNumber), let words = try? readFile("/proc/\(name)/cmdline") else { return false }
      return words.split(separator: 0).contains { String(decoding: $0, as: UTF8.self) == mark }
    }
  }

  /// Whether git with this mark has ended, or does so within some seconds.
  private static func isGone(_ mark: String) async throws -> Bool {
    let start = ContinuousClock.now
    while try isThere(mark) {
      guard ContinuousClock.now - start < .seconds(5) else { return false }
      try await Task.sleep(for: .milliseconds(20))
    }
    return true
  }

  @Test("a git that says nothing, that takes too long or that says too much is ended, whoever still waits for it")
  func ended() async throws {
    try await withGit("exec sleep 15", patience: .seconds(1)) { (process, mark) async throws in
      #expect(throws: SyncRunError.unreachable(reason: "git has not answered for 1 seconds")) {
        try process.rest(limit: 100)
      }
      #expect(try await Self.isGone(mark))
      withExtendedLifetime(process) {}
    }
    try await withGit("while sleep 0.1; do echo; done", time: .seconds(2)) { (process, mark) async throws in
      #expect(throws: SyncRunError.tooMuch("git has not finished in time")) { try process.rest(limit: 100) }
      #expect(try await Self.isGone(mark))
      withExtendedLifetime(process) {}
    }
    try await withGit("exec yes", outputLimit: 100_000) { (process, mark) async throws in
      #expect(throws: SyncRunError.tooMuch("git has too much to say about it")) { try process.rest(limit: 100) }
      #expect(try await Self.isGone(mark))
      withExtendedLifetime(process) {}
    }
  }

  @Test("a git that nobody waits for any more is ended")
  func forgotten() async throws {
    let mark = try await withGit("echo x; exec sleep 15") { (process, mark) async throws in
      #expect(try process.next(upTo: [0x0A]) == [0x78])
      #expect(try Self.isThere(mark))
      return mark
    }
    #expect(try await Self.isGone(mark))
  }

  @Test("of what git says no more is kept than was asked for")
  func long() async throws {
    let script = "head -c 9000 /dev/zero; echo; head -c 9000 /dev/zero"
    let counts = try await withGit(script) { process, _ in
      [try process.next(upTo: [0x0A])?.count, try process.rest(limit: 10).count]
    }
    #expect(counts == [4_096, 10])
  }

  /// The variables of a program that git starts.
  private func variables(
    _ environment: [String], mayAsk: Bool = false, _ command: @escaping @Sendable (GitProgram, [String]) -> GitCommand
  ) async throws -> Set<String> {
    try await withFolder { folder in
      try await git("init", "--quiet", "--bare", "\(folder)/repository", in: folder)
      let program = try GitProgram(environment: environment, mayAsk: mayAsk)
      return try await onOwnThread {
        let process = try GitProcess(
          program, command(program, ["-c", "alias.run=!env", "run"]), in: "\(folder)/repository")
        let text = String(decoding: try process.rest(limit: 100_000), as: UTF8.self)
        return Set(text.split(separator: "\n").map(String.init))
      }
    }
  }

  private static let hostile = [
    "LD_PRELOAD=/x", "GIT_EXTERNAL_DIFF=/x", "GIT_PROXY_COMMAND=/x", "GIT_TEMPLATE_DIR=/x", "GIT_TRACE=/tmp/x",
    "GIT_CONFIG_SYSTEM=/x", "GIT_ALTERNATE_OBJECT_DIRECTORIES=/x", "GIT_OBJECT_DIRECTORY=/x", "GIT_SSL_NO_VERIFY=1",
    "GIT_ALLOW_PROTOCOL=ext", "GIT_CONFIG_GLOBAL=/x", "EDITOR=/x", "BASH_ENV=/x", "ENV=/x",
  ]

  @Test("git gets none of the caller's variables that name a program or a file to it")
  func environment() async throws {
    let own = ["HOME=/nowhere", "SSH_AUTH_SOCK=/run/user/1/whorl-agent"]
    let local = try await variables(Self.hostile + own) { $0.local($1) }
    #expect(local.isDisjoint(with: Self.hostile + own), "\(local)")
    #expect(
      local.isSuperset(of: ["GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ALLOC_LIMIT=256m"]))
    #expect(local.contains { $0.hasPrefix("PATH=") && $0.hasSuffix("/usr/bin:/bin") })
    let remote = try await variables(Self.hostile + own) { $0.transport($1, by: "ssh:https") }
    #expect(remote.isDisjoint(with: Self.hostile), "\(remote)")
    #expect(remote.isSuperset(of: ["HOME=/nowhere", "GIT_ALLOW_PROTOCOL=ssh:https", "GIT_ALLOC_LIMIT=256m"]))
  }

  @Test("git asks on a desktop, and of whorl's own agent, only while a person waits for it")
  func asking() async throws {
    let desktop = ["DISPLAY=:7", "SSH_ASKPASS=/x", "GIT_ASKPASS=/x"]
    let (own, other) = ("SSH_AUTH_SOCK=/run/user/1/whorl-agent", "SSH_AUTH_SOCK=/run/user/1/another-agent")
    let silent = try await variables(desktop + [own]) { $0.transport($1, by: "ssh") }
    #expect(silent.isDisjoint(with: desktop + [own]), "\(silent)")
    #expect(silent.isSuperset(of: ["GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS_REQUIRE=never"]))
    #expect(try await variables([other]) { $0.transport($1, by: "ssh") }.contains(other))
    let asked = try await variables(desktop + [own], mayAsk: true) { $0.transport($1, by: "ssh") }
    #expect(asked.isSuperset(of: desktop + [own]), "\(asked)")
  }

  @Test("a file whose name is none of a circle's is not written into a commit")
  func names() async throws {
    try await withRemote { folder in
      let repository = try await Machine.named("one", in: folder, PretendVault([:])).repository
      for name in ["", "../x", ".git/config", "a//b", "-x", "items/\"x\"", "items/x\nD format", "Upper"] {
        await #expect(throws: SyncRunError.self, "\(name)") {
          try await onOwnThread {
            let writer = try repository.writer(after: nil)
            try writer.write(SyncFile(name, [1]))
          }
        }
      }
    }
  }

  @Test("the names of a circle's files are short and plain, in every part")
  func usable() {
    func isUsable(_ text: String) -> Bool { TreeChanges.usable(Array(text.utf8)) != nil }
    for text in ["format", "items/0a/0b", "circle/00000001", "a.b", "a-b/c", String(repeating: "x", count: 255)] {
      #expect(isUsable(text), "\(text)")
    }
    for text in [
      "", "/", "a/", "/a", "a//b", ".", "..", "a/../b", ".git", "a/.git", "-a", "a/-b", "A", "a b", "a\\b", "a\nb", "ü",
      "a:b", "a*", String(repeating: "x", count: 256),
    ] {
      #expect(!isUsable(text), "\(text)")
    }
  }
}
