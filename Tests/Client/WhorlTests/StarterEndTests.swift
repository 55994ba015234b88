import Glibc
import Processes
import ProgramDriver
import SecretModel
import Testing

@testable import Whorl

/// Each program here starts whorld by a unique path, and prints it, so that the process can be found after the program
/// has ended.
@Suite("A vault whose starter ends")
struct StarterEndTests {
  @Test("a private vault ends when its starter is killed")
  func killed() async throws {
    let result = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
      let vault = try PrivateVault.start(try ownProgram())
      _ = await vaultError { try await vault.open(StorePlace(directory: "/nonexistent")) }
      try #require(children(of: getpid()).count == 1)
      kill(getpid(), SIGKILL)
    }
    try await expectNothingLeft(of: try #require(result).standardOutputContent)
  }

  @Test("a private vault ends when its starter is killed and another process holds a copy of the socket")
  func copiedSocket() async throws {
    let result = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
      let vault = try PrivateVault.start(try ownProgram())
      _ = await vaultError { try await vault.open(StorePlace(directory: "/nonexistent")) }
      let holder = try startHolderOfSockets()
      print(holder)
      fflush(nil)
      kill(getpid(), SIGKILL)
    }
    let output = try #require(result).standardOutputContent
    let holder = try #require(pid_t(lines(output).last ?? ""))
    defer { kill(holder, SIGKILL) }
    #expect(kill(holder, 0) == 0)
    try await expectNothingLeft(of: output)
  }

  @Test("a private vault ends when its starter is killed while connecting, at once or a little later")
  func killedEarly() async throws {
    for _ in 0..<3 {
      let result = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
        let vault = try PrivateVault.start(try ownProgram())
        usleep(.random(in: 0..<8_000))
        // Keep the connection until here.
        withExtendedLifetime(vault) { _ = kill(getpid(), SIGKILL) }
      }
      try await expectNothingLeft(of: try #require(result).standardOutputContent)
    }
  }

  @Test("a private vault does not serve a socket that its parent did not make")
  func otherParent() async throws {
    // The shell is the parent and ends at once; the socket stays open here.
    var pair: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0)
    defer { close(pair[0]) }
    let whorld = try #require(HelperPlaces.vault.locate())
    // A shell gives its background commands /dev/null as descriptor 0, so the socket is descriptor 3 first.
    let shell = try ChildProcess(
      try HelperProgram(at: "/bin/sh"), arguments: ["sh", "-c", "exec 3<&0; '\(whorld)' --private <&3 2>&3 &"],
      environment: [],
      standardInput: pair[1])
    close(pair[1])
    #expect(await shell.end(grace: .seconds(10)).value == "exit status 0")
    // Its standard error is the socket, too.
    let output = String(decoding: readToEnd(pair[0]), as: UTF8.self)
    #expect(output.contains("or is not the one that made the socket"), "\(output)")
  }

  @Test("a private vault waits for a program that cannot run for a while, and ends when it ends the connection")
  func silent() async throws {
    var pair: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0)
    let whorld = try #require(HelperPlaces.vault.locate())
    let child = try ChildProcess(
      try HelperProgram(at: whorld), arguments: [whorld, "--private"], environment: [], standardInput: pair[1])
    close(pair[1])
    // As a program that was stopped right after the start of its vault: longer than the service waits for a handshake.
    try await Task.sleep(for: .seconds(33))
    #expect(!child.hasEnded)
    close(pair[0])
    #expect(await child.end(grace: .seconds(10)).value == "exit status 0")
  }

  @Test("whorld prints help when started by hand, and does not run with other arguments or without a socket")
  func byHand() async throws {
    let help = try await Invocation(program: "whorld", arguments: ["--help"]).run()
    #expect(help.status == 0)
    #expect(help.text.contains("USAGE: whorld --private"))
    for words in [[], ["--systemd"], ["--private", "--help"]] {
      let refused = try await Invocation(program: "whorld", arguments: words).run()
      #expect(refused.status == 64)
      #expect(refused.failure.hasPrefix("whorld: takes --private, --system or --help"))
    }
    let service = try await Invocation(program: "whorld", arguments: ["--system"]).run()
    #expect(service.status == 64)
    #expect(service.failure.contains(geteuid() == 0 ? "never as root" : "is started by systemd"))
    let alone = try await Invocation(program: "whorld", arguments: ["--private"]).run()
    #expect(alone.status == 64)
    #expect(alone.failure.hasPrefix("whorld: descriptor 0 is no socket"))
  }
}

/// A link to whorld in a new folder, whose name is printed.
private func ownProgram() throws -> String {
  let folder = try temporaryFolder("whorl-starter")
  let program = "\(folder)/whorld"
  try #require(symlink(try #require(HelperPlaces.vault.locate()), program) == 0)
  print(folder)
  fflush(nil)
  return program
}

/// Starts a process that inherits only the sockets of this one: the test waits for the end of this process's output.
private func startHolderOfSockets() throws -> pid_t {
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  for stream in STDIN_FILENO...STDERR_FILENO {
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0)
  }
  for name in try folderEntries("/proc/self/fd") {
    guard let descriptor = Int32(name), descriptor > STDERR_FILENO,
      let target = symbolicLink("/proc/self/fd/\(name)")
    else { continue }
    if target.hasPrefix("socket:") {
      try #require(fcntl(descriptor, F_SETFD, 0) == 0)
    } else {
      posix_spawn_file_actions_addclose(&actions, descriptor)
    }
  }
  let words = ["/bin/sleep", "60"].map { (word: String) in strdup(word) }
  let arguments = words + [nil]
  defer { for word in words { free(word) } }
  var pid: pid_t = 0
  try #require(posix_spawn(&pid, "/bin/sleep", &actions, nil, arguments, environ) == 0)
  return pid
}

private func lines(_ output: [UInt8]) -> [String] {
  String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
}

/// Waits until no process runs the program whose folder was printed, and removes the folder.
private func expectNothingLeft(of output: [UInt8]) async throws {
  let folder = try #require(lines(output).first { $0.hasPrefix("/tmp/whorl-starter") })
  #expect(try await eventually { processes(with: "\(folder)/whorld\0").isEmpty })
  removeFolder(folder)
}

private func readToEnd(_ descriptor: Int32) -> [UInt8] {
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 4096)
  while true {
    let count = read(descriptor, &chunk, chunk.count)
    guard count > 0 else { return bytes }
    bytes += chunk[..<count]
  }
}
