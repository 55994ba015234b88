import FoundationEssentials
import Glibc

/// Machines of one person, each with a store of its own, and a repository in a folder.
package struct SyncMachines: Sendable {
  package let folder: String
  package let remote: String

  /// - Parameter place: of the repository in the machines' folder.
  package static func with<Value>(
    remoteAt place: String = "remote", format: String = "sha1", _ body: (SyncMachines) async throws -> Value
  ) async throws -> Value {
    try await withFolder { folder in
      let remote = "\(folder)/\(place)"
      try await Invocation(
        program: "/usr/bin/git", arguments: ["init", "--quiet", "--bare", "--object-format=\(format)", remote]
      ).run().mustSucceed()
      return try await body(SyncMachines(folder: folder, remote: remote))
    }
  }

  /// A new store with a passcode.
  package func machine(_ name: String) async throws -> TestStore {
    let place = "\(folder)/\(name)"
    guard mkdirPrivate(place) else { throw SystemFailure(place) }
    let made = try await Invocation(
      arguments: ["init", "--passcode-fd", "3", "--recovery-fd", "9", "--store", "\(place)/store"],
      descriptors: [TestStore.passcode + "\n"], readsDescriptor9: true
    ).run()
    try made.mustSucceed()
    return TestStore(folder: place, recoveryKey: String(made.descriptor9.dropLast()))
  }

  /// Two machines of one circle.
  package func pair() async throws -> (TestStore, TestStore) {
    let (one, two) = (try await machine("one"), try await machine("two"))
    try await one.unlocked("sync", "init", remote, "--name", "one").mustSucceed()
    try await join(two, as: "two", by: one)
    return (one, two)
  }

  /// Three machines of one circle, whose persons have confirmed all of it.
  package func trio() async throws -> (TestStore, TestStore, TestStore) {
    let ((one, two), three) = (try await pair(), try await machine("three"))
    try await join(three, as: "three", by: one)
    try await two.whorl("sync", "now").mustSucceed()
    try await two.unlocked("sync", "confirm", "--yes").mustSucceed()
    for machine in [one, two, three] { try await machine.whorl("sync", "now").mustSucceed() }
    return (one, two, three)
  }

  /// Two machines that have changed the item `x` at once, of which the first still has both versions.
  package func conflict() async throws -> (TestStore, TestStore) {
    let (one, two) = try await pair()
    try await one.set("x", "first", "--access", "none", "--sync")
    for machine in [one, two] { try await machine.whorl("sync", "now").mustSucceed() }
    try await one.set("x", "of one", "--access", "none", "--replace")
    try await two.set("x", "of two", "--access", "none", "--replace")
    for machine in [one, two, one] { try await machine.whorl("sync", "now").mustSucceed() }
    return (one, two)
  }

  package func copy(_ from: String, to: String) async throws {
    try await Invocation(program: "/bin/cp", arguments: ["-a", from, to]).run().mustSucceed()
  }

  // MARK: What a hosting site can do

  /// Keeps the present state of the repository.
  package func keep(as state: String) async throws { try await copy(remote, to: "\(folder)/\(state)") }

  /// Serves a state that was kept in the place of the present one.
  package func serve(_ state: String) async throws {
    removeFolder(remote)
    try await copy("\(folder)/\(state)", to: remote)
  }

  /// The branch's commit, which changes with every publication.
  package func commit() async throws -> String {
    let told = try await Invocation(program: "/usr/bin/git", arguments: ["-C", remote, "rev-parse", "main"]).run()
    try told.mustSucceed()
    return told.text
  }

  /// All secrets that somebody reads in the repository who has a store's recovery key, which opens what the store's
  /// machine opens.
  ///
  /// - Parameter state: one in which the machine was a member.
  package func secrets(readableBy store: TestStore, memberIn state: String) async throws -> String {
    let place = "\(folder)/reading"
    removeFolder(place)
    guard mkdirPrivate(place) else { throw SystemFailure(place) }
    for (from, to) in [("\(folder)/\(state)", "known"), (remote, "now")] {
      try await Invocation(
        program: "/usr/bin/git", arguments: ["clone", "--quiet", "--branch", "main", from, "\(place)/\(to)"]
      ).run().mustSucceed()
    }
    let identity = try await store.whorl(
      "sync", "identity", "\(place)/known", "--recovery-fd", "3", descriptors: [store.recoveryKey + "\n"])
    try identity.mustSucceed()
    try identity.text.write(toFile: "\(place)/identity", atomically: true, encoding: .utf8)
    let script = """
      cd \(place)/now
      open() { age --decrypt --identity ../identity "$@" 2>/dev/null; }
      for record in $(find items -type f); do open "$record" | tail -n +3 | open | tail -c +33; echo; done
      """
    return try await Invocation(program: "/bin/sh", arguments: ["-c", script]).run().text
  }

  // MARK: Joining

  /// Lets a machine in: both show the same words, and both say yes.
  package func join(_ new: TestStore, as name: String, by member: TestStore) async throws {
    let joining = try asking(new, as: name)
    let approved = try await approval(by: member, of: new)
    try approved.mustSucceed()
    try await ended(joining).mustSucceed()
  }

  /// Starts `whorl sync join`, and waits until it has asked.
  package func asking(_ new: TestStore, as name: String) throws -> RunningProgram {
    try Invocation(
      arguments: new.arguments(["sync", "join", remote, "--name", name, "--yes", "--passcode-fd", "3"]),
      descriptors: [String(repeating: TestStore.passcode + "\n", count: 3)]
    ).start()
  }

  package func ended(_ program: RunningProgram) async -> Invocation.Result {
    await withCheckedContinuation { continuation in
      startThread { continuation.resume(returning: program.finish { _, _ in }) }
    }
  }

  /// Approves the machine that asks, with the words that it shows.
  package func approval(by member: TestStore, of new: TestStore) async throws -> Invocation.Result {
    for _ in 1...100 {
      // Without a terminal the first run shows the words and ends.
      let shown = try await member.unlocked("sync", "approve")
      guard shown.status == 66 else { break }
      try await Task.sleep(for: .milliseconds(200))
    }
    let words = try await new.whorl("sync", "status", "--json").json(Asking.self).words.joined(separator: " ")
    return try await member.unlocked("sync", "approve", "--words", words)
  }

  private struct Asking: Decodable { var words: [String] }
}

extension Invocation.Result {
  package func json<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try JSONDecoder().decode(type, from: Data(output))
  }
}
