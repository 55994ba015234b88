import Glibc
import ProgramDriver

extension RunningAgent {
  /// Runs the agent for SSH while `body` runs.
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
    return try await with(store, touches, environment: environment, started: "listens") { socket in
      ["--socket", socket, "--known-hosts", hosts] + options
    } _: { agent in
      try await body(agent)
    }
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

  /// Lets a client ask for a signature, kills it once the agent asks for a touch, and waits until the agent has
  /// refused.
  func signForClientThatIsKilled(_ publicKey: String) async throws {
    let signing = try Invocation(
      program: "/usr/bin/ssh-keygen", arguments: ["-Y", "sign", "-n", "file", "-f", publicKey], input: [1],
      environment: ["SSH_AUTH_SOCK": socket]
    ).start()
    startThread { _ = signing.finish { _, _ in } }
    try await waits { $0.contains { $0.contains(" Swipe the reader ") } }
    signing.signal(SIGKILL)
    try await waits { $0.contains { $0.contains("refused to sign a file") } }
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
