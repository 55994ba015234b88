import Glibc
import Keys
import Primitives
import Processes
import SecretModel
import VirtualFinger

/// Signatures over the sockets of `whorl-agent` and of OpenSSH's `ssh-agent`, in turn, each with an Ed25519 key that asks for
/// nothing; and the time from a match to the signature of a key that needs a finger.
struct SSHAgentTimes {
  let folder: String
  /// The folder of the programs.
  let programs: String

  private static let rounds = 1_000
  private static let path = "/usr/bin:/bin"

  func measure(into report: inout Report) async throws {
    let finger = VirtualStorageReader(socket: "\(folder)/ssh-reader")
    let reader = ReaderSelection.virtualStorage(socket: finger.socket)
    let scratch = try await ScratchVault(at: "\(folder)/ssh-store", reader: reader)
    let person = Toucher(recoveryKey: scratch.recoveryKey) { _ in try finger.scan("right-index") }
    let vault = scratch.service
    _ = try await person.with(vault) { try await vault.enroll(.rightIndex, $0) }
    report.add(try await touched(vault, person, &report))
    _ = try await vault.addKey(key("open", .none), from: .generated(.ed25519))
    await scratch.close()

    let own = try StartedAgent(
      "\(programs)/whorl-agent", ["--socket", "\(folder)/ssh-own", "--store", "\(folder)/ssh-store"],
      socket: "\(folder)/ssh-own", home: folder)
    let other = try StartedAgent(
      "/usr/bin/ssh-agent", ["-D", "-a", "\(folder)/ssh-other"], socket: "\(folder)/ssh-other", home: folder)
    let file = "\(folder)/ssh-key"
    try ChildProgram(
      name: "ssh-keygen", arguments: ["/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file],
      environment: ["PATH=\(Self.path)"]
    ).run()
    try ChildProgram(
      name: "ssh-add", arguments: ["/usr/bin/ssh-add", "-q", file],
      environment: ["PATH=\(Self.path)", "SSH_AUTH_SOCK=\(other.socket)"]
    ).run()
    var ownTimes = Samples(name: "an ssh signature, whorl-agent")
    var otherTimes = Samples(name: "an ssh signature, ssh-agent")
    let (one, two) = (try AgentClient(at: own.socket, named: "open"), try AgentClient(at: other.socket))
    for _ in 0..<Self.rounds {
      try ownTimes.take { try one.sign() }
      try otherTimes.take { try two.sign() }
    }
    report.add(ownTimes)
    report.add(otherTimes)
    report.promise("ssh signatures: of ssh-agent's time", ownTimes.median / otherTimes.median, atMost: 4)
    report.promise("milliseconds for 1,000 ssh signatures", ownTimes.median * 1_000 / 1e6, atMost: 1_000, "ms")
  }

  private func key(_ name: String, _ rule: AccessControl.Constraint) -> NewItem {
    SSHKey.item(named: name, access: AccessControl(rule), grantedMinutes: 0, hosts: [], end: nil)
  }

  /// From the match to the signature.
  private func touched(
    _ vault: any VaultService, _ person: Toucher, _ report: inout Report
  ) async throws -> Samples {
    let item = try await vault.addKey(key("touched", .anyFinger), from: .generated(.ed25519))
    var samples = Samples(name: "match to ssh signature")
    for _ in 0...30 {
      let nanoseconds = try await person.with(vault) { asking in
        _ = try await vault.useKey(item.id, .sign(Array(repeating: 7, count: 100), .ed25519), asking)
        return ScanClock.now() - person.matchedAt
      }
      samples.nanoseconds.append(nanoseconds)
    }
    // Discard the first sample, which warms up the caches.
    samples.nanoseconds.removeFirst()
    report.promise(samples.name, samples.median / 1e6, atMost: 3, "ms")
    return samples
  }
}

/// An agent in a process of its own, which ends with this value.
private final class StartedAgent {
  let socket: String
  private let process: pid_t

  init(_ program: String, _ arguments: [String], socket: String, home: String) throws {
    self.socket = socket
    let words = ([program] + arguments).map { strdup($0) } + [nil]
    let settings: [String] = ["PATH=/usr/bin:/bin", "HOME=\(home)", "LANG=C.UTF-8"]
    let variables = settings.map { strdup($0) } + [nil]
    defer { for word in words + variables { free(word) } }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for descriptor in [STDOUT_FILENO, STDERR_FILENO] {
      posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
    }
    var process = pid_t()
    guard posix_spawn(&process, program, &actions, nil, words, variables) == 0 else {
      throw BenchFailure("cannot start \(program)")
    }
    self.process = process
    for _ in 0..<500 where access(socket, F_OK) != 0 { usleep(10_000) }
  }

  deinit {
    kill(process, SIGTERM)
    waitpid(process, nil, 0)
  }
}

/// A client of an SSH agent (draft-miller-ssh-agent), which signs with one key.
private final class AgentClient {
  private static let identities: UInt8 = 11
  private static let signature: UInt8 = 13

  private let descriptor: Int32
  private var request: [UInt8] = []

  /// - Parameter name: of the key; nil for the only one.
  init(at path: String, named name: String? = nil) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    let descriptor = descriptor
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard connected == 0 else { throw BenchFailure("no agent listens at \(path)") }
    let answer = try exchange([Self.identities])
    var reader = SSHReader(Array(answer.dropFirst(5)))
    var keys: [(blob: [UInt8], name: String)] = []
    while let blob = try? reader.string(), let name = try? reader.text() { keys.append((blob, name)) }
    guard let key = keys.first(where: { name == nil || $0.name == name })?.blob else {
      throw BenchFailure("\(path) has no such key: \(keys.map(\.name))")
    }
    // What `ssh-keygen -Y sign` has signed.
    let data =
      Array("SSHSIG".utf8) + ["bench", "", "sha512"].flatMap { Self.string(Array($0.utf8)) }
      + Self.string([UInt8](repeating: 7, count: 64))
    request = [Self.signature] + Self.string(key) + Self.string(data) + [0, 0, 0, 0]
  }

  deinit { close(descriptor) }

  func sign() throws {
    // SSH_AGENT_SIGN_RESPONSE
    guard try exchange(request).first == 14 else { throw BenchFailure("the agent has not signed") }
  }

  private static func string(_ bytes: [UInt8]) -> [UInt8] {
    let count = UInt32(bytes.count)
    return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) } + bytes
  }

  private func exchange(_ message: [UInt8]) throws -> [UInt8] {
    let bytes = Self.string(message)
    guard write(descriptor, bytes, bytes.count) == bytes.count else { throw BenchFailure("the agent has left") }
    let count = try receive(4).reduce(0) { $0 << 8 | Int($1) }
    return try receive(min(count, 1 << 18))
  }

  private func receive(_ count: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      var part = [UInt8](repeating: 0, count: count - bytes.count)
      let got = read(descriptor, &part, part.count)
      guard got > 0 else { throw BenchFailure("the agent has left") }
      bytes += part.prefix(got)
    }
    return bytes
  }
}
