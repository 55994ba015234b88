import Glibc
import ProgramDriver
import Synchronization
import Testing

/// A running `whorl-agent` over a test's store and its virtual reader, and what it has said.
final class RunningAgent: Sendable {
  private static let started = "whorl-agent: listens"

  let socket: String
  private let state = Mutex((lines: [String](), hasEnded: false))

  private init(_ socket: String) { self.socket = socket }

  /// The lines of its standard error.
  var lines: [String] { state.withLock { $0.lines } }

  /// The requests for a touch.
  var prompts: [String] { lines.filter { $0.contains(": Swipe the reader (virtual reader) to ") } }

  /// Runs the agent for as long as `body`.
  ///
  /// - Parameters:
  ///   - touches: fingers to press, one for each prompt.
  ///   - knownHosts: the contents of a file.
  static func with<Value>(
    _ store: TestStore, _ touches: [Touches.Touch] = [], knownHosts: String = "", options: [String] = [],
    environment: [String: String] = [:], _ body: (RunningAgent) async throws -> Value
  ) async throws -> Value {
    let hosts = "\(store.folder)/known_hosts"
    try writeFile(hosts, Array(knownHosts.utf8))
    let agent = RunningAgent("\(store.folder)/agent")
    var variables = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"]
    variables.merge(environment) { $1 }
    let program = try Invocation(
      program: "whorl-agent",
      arguments: ["--socket", agent.socket, "--store", store.directory, "--known-hosts", hosts] + store.reader
        + options,
      environment: variables
    ).start()
    let pressing = Touches(socket: store.socket, touches).heard
    startThread {
      _ = program.finish { line, program in
        agent.state.withLock { $0.lines.append(line) }
        pressing(line, program)
      }
      agent.state.withLock { $0.hasEnded = true }
    }
    let result: Result<Value, any Error>
    do {
      try await agent.waits { $0.contains { $0.hasPrefix(started) } }
      result = .success(try await body(agent))
    } catch {
      result = .failure(error)
    }
    program.signal(SIGTERM)
    while !agent.state.withLock({ $0.hasEnded }) { try await Task.sleep(for: .milliseconds(5)) }
    return try result.get()
  }

  /// Waits until the lines meet a condition; fails after half a minute.
  func waits(_ condition: ([String]) -> Bool) async throws {
    for _ in 0..<6_000 {
      if condition(lines) { return }
      guard !state.withLock({ $0.hasEnded }) else { break }
      try await Task.sleep(for: .milliseconds(5))
    }
    throw SystemFailure("the agent says only \(lines)", ETIMEDOUT)
  }

  /// Runs a program of OpenSSH or git, which uses this agent.
  func client(
    _ program: String, _ arguments: [String], input: [UInt8]? = nil, environment: [String: String] = [:]
  ) async throws -> Invocation.Result {
    var variables = ["SSH_AUTH_SOCK": socket]
    variables.merge(environment) { $1 }
    return try await Invocation(
      program: "/usr/bin/\(program)", arguments: arguments, input: input, environment: variables
    ).run()
  }

  /// Signs a text with `ssh-keygen -Y sign`, with the key of this public key's file.
  func sign(_ publicKey: String, namespace: String = "file") async throws -> Invocation.Result {
    try await client("ssh-keygen", ["-Y", "sign", "-n", namespace, "-f", publicKey], input: Array("text".utf8))
  }
}

extension TestStore {
  /// Makes a key for SSH, and returns the path of a file with its public key.
  func addKey(_ name: String, _ options: String...) async throws -> String {
    let made = try await Invocation(arguments: arguments(["ssh", "add", name] + options)).run()
    try made.mustSucceed()
    let file = "\(folder)/\(name).pub"
    try writeFile(file, made.output)
    return file
  }
}
