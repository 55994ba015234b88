import Glibc
import Moving
import ProgramDriver
import SecretModel
import Testing

@Suite("The connections of a sync run")
struct ConnectionTests {
  /// A remote on a pretended host: the program that git runs in place of ssh counts the connections, and is the host.
  private func withHost(_ body: @Sendable (_ folder: String, _ environment: [String]) async throws -> Void) async throws
  {
    try await withRemote { folder in
      let program = "\(folder)/pretended-ssh"
      try writeFile(program, Array("#!/bin/sh\necho >>'\(folder)/connections'\nexec sh -c \"$2\"\n".utf8))
      chmod(program, 0o755)
      try await body(folder, ["GIT_SSH_COMMAND=\(program)", "GIT_SSH_VARIANT=simple"])
    }
  }

  /// The connections since the last call.
  private func count(_ folder: String) -> Int {
    defer { unlink("\(folder)/connections") }
    return (try? readFile("\(folder)/connections").count) ?? 0
  }

  @Test(
    "a new circle, a machine that joins and a later change connect to the remote twice, for one answer and one push")
  func two() async throws {
    try await withHost { folder, environment in
      func machine(_ name: String, _ vault: PretendVault) async throws -> Machine {
        try await Machine.named(name, in: folder, vault, url: "host:\(folder)/remote", environment: environment)
      }
      let one = try await machine("one", PretendVault(["circle/a": "1", "items/x": "1"]))
      let empty = SyncRun(one.repository, one.vault)
      var first = empty
      first.start = try await onOwnThread { try await empty.requireEmpty() }
      let set = first
      #expect(try await onOwnThread { try await set.run() }.published == 3)
      #expect(count(folder) == 2)
      let two = try await machine("two", PretendVault(["circle/b": "asks"]))
      let asking = SyncRun(two.repository, two.vault)
      var joining = asking
      let (records, start) = try await onOwnThread { try await asking.records() }
      #expect(records.map(\.path) == ["circle/a"])
      joining.start = start
      let join = joining
      #expect(try await onOwnThread { try await join.run() }.published == 1)
      #expect(count(folder) == 2)
      one.vault.set("items/y", "1")
      #expect(try await one.sync().published == 1)
      #expect(count(folder) == 2)
      try await one.sync()
      #expect(count(folder) == 1)
    }
  }

  @Test("a run from an outdated state of the remote overwrites nothing, and publishes after the others")
  func outdated() async throws {
    try await withRemote { folder in
      let one = try await Machine.named("one", in: folder, PretendVault(["items/x": "1"]))
      let two = try await Machine.named("two", in: folder, PretendVault(["items/y": "1"]))
      let empty = SyncRun(one.repository, one.vault)
      var first = empty
      first.start = try await onOwnThread { try await empty.requireEmpty() }
      try await two.sync()
      let set = first
      #expect(try await onOwnThread { try await set.run() }.published == 1)
      try await two.sync()
      #expect(one.vault.files == two.vault.files)
    }
  }

  @Test(
    "a remote that asks for something only a person can type fails after one connection, as one that asked in vain",
    arguments: [
      "me@host: Permission denied (publickey,password).", "Host key verification failed.",
      "fatal: could not read Username for 'https://host': terminal prompts disabled",
    ])
  func unanswered(_ words: String) async throws {
    try await withHost { folder, environment in
      try writeFile(
        "\(folder)/pretended-ssh",
        Array("#!/bin/sh\necho >>'\(folder)/connections'\necho \"\(words)\" >&2\nexit 255\n".utf8))
      let one = try await Machine.named(
        "one", in: folder, PretendVault(["items/x": "1"]), url: "host:\(folder)/remote", environment: environment)
      await #expect { try await one.sync() } throws: { error in
        if case SyncRunError.unanswered(let reason) = error { words.contains(reason) } else { false }
      }
      #expect(count(folder) == 1)
    }
  }

  @Test("git, and the programs that it starts to reach a remote, run under limits of memory, time and file size")
  func limits() async throws {
    try await withHost { folder, environment in
      try writeFile(
        "\(folder)/pretended-ssh", Array("#!/bin/sh\n(ulimit -d; ulimit -t) >'\(folder)/limits'\nexit 1\n".utf8))
      let one = try await Machine.named(
        "one", in: folder, PretendVault(["items/x": "1"]), url: "host:\(folder)/remote", environment: environment)
      await #expect(throws: SyncRunError.self) { try await one.sync() }
      #expect(String(decoding: try readFile("\(folder)/limits"), as: UTF8.self) == "1048576\n300\n")
    }
  }

  @Test("a remote that talks without end is given up", .timeLimit(.minutes(5)))
  func talking() async throws {
    try await withHost { folder, environment in
      try writeFile("\(folder)/pretended-ssh", Array("#!/bin/sh\nexec yes 'remote: and another thing' >&2\n".utf8))
      let one = try await Machine.named(
        "one", in: folder, PretendVault(["items/x": "1"]), url: "host:\(folder)/remote", environment: environment)
      await #expect { try await one.sync() } throws: { error in
        if case SyncRunError.tooMuch = error { true } else { false }
      }
    }
  }
}
