import Glibc
import Primitives
import ProgramDriver
import ReaderBus
import ReaderClient
import SDBus
import Testing

private let hostile = [
  "FP_VIRTUAL_IMAGE", "FP_VIRTUAL_DEVICE", "FP_VIRTUAL_DEVICE_IDENT", "FP_VIRTUAL_DEVICE_STORAGE", "UMOCKDEV_DIR",
]

@Suite("The environment of a reader process")
struct EnvironmentTests {
  @Test("a reader process gets no variable of its caller, such as for virtual readers, libraries or messages")
  func inherited() async {
    await #expect(processExitsWith: .success) {
      for name in hostile { setenv(name, "/tmp/whorl-no-such-\(name)", 1) }
      setenv("FP_DEVICE_EMULATION", "1", 1)
      setenv("FP_DRIVERS_WHITELIST", "virtual_image:virtual_device", 1)
      setenv("LD_PRELOAD", "/usr/lib/libwhorl-no-such.so", 1)
      setenv("G_MESSAGES_DEBUG", "all", 1)
      setenv("G_SLICE", "always-malloc", 1)
      let reader = ReaderProcess(program: try readerProgram(), selection: .automatic, showsDiagnostics: true)
      #expect(try await reader.readers().allSatisfy { $0.nature == .physical })
      let pid = try #require(processes(with: "--reader\0auto").first { getpgid($0) == $0 })
      // The environment that the process was started with, from the kernel.
      let descriptor = open("/proc/\(pid)/environ", O_RDONLY)
      var bytes = [UInt8](repeating: 0, count: 4_096)
      let count = read(descriptor, &bytes, bytes.count)
      #expect(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) == "SWIFT_BACKTRACE=enable=no\0")
      await reader.shutdown()
    }
  }

  @Test("a reader process that is started in a hostile environment clears it, whoever starts it")
  func scrubbed() async throws {
    let program = try readerProgram()
    let environment = hostile.map { "\($0)=/tmp/whorl-no-such-\($0)" } + ["FP_DRIVERS_ALLOWLIST=virtual_image"]
    let (connection, pid) = try startByHand([program, "--reader", "auto"], environment)
    let answer = try await connection.call(ReaderInterface.target, "Readers", [.uint64(1)])
    guard case .readers(let readers) = ReaderAnswer(to: .readers, answer) else { return #expect(Bool(false)) }
    #expect(readers.allSatisfy { !$0.identity.driver.hasPrefix("virtual_") && $0.nature == .physical })
    connection.close()
    var status: Int32 = -1
    #expect(try await eventually { waitpid(pid, &status, WNOHANG) == pid })
    #expect(status == 0)
  }

  @Test("without umockdev-run a replayed reader is refused")
  func replayByHand() async throws {
    let (connection, pid) = try startByHand([try readerProgram(), "--reader", "replay:/tmp"], [])
    await #expect(throws: BusError.disconnected) {
      _ = try await connection.call(ReaderInterface.target, "Readers", [.uint64(1)])
    }
    var status: Int32 = -1
    #expect(try await eventually { waitpid(pid, &status, WNOHANG) == pid })
    #expect(status >> 8 == 64)
  }

  @Test(
    "the environment of a reader process is determined by the reader selection alone",
    arguments: [
      ("auto", []), ("libfprint", []), ("libfprint:synaptics:1-9", []), ("replay:/x", ["FP_DEVICE_EMULATION=1"]),
      (
        "virtual-image:/x",
        ["FP_VIRTUAL_IMAGE=/x", "FP_DRIVERS_WHITELIST=virtual_image", "FP_DRIVERS_ALLOWLIST=virtual_image"]
      ),
      (
        "virtual-storage:/x",
        [
          "FP_VIRTUAL_DEVICE_STORAGE=/x", "FP_DRIVERS_WHITELIST=virtual_device_storage",
          "FP_DRIVERS_ALLOWLIST=virtual_device_storage",
        ]
      ),
    ] as [(String, [String])])
  func built(words: String, variables: [String]) throws {
    let selection = try #require(ReaderSelection(words))
    #expect(selection.readerEnvironment.map { "\($0.name)=\($0.value)" } == variables)
  }
}

/// Starts the program with a socket as standard input and this environment, as any other program could.
func startByHand(_ words: [String], _ environment: [String]) throws -> (BusConnection, pid_t) {
  var pair: [Int32] = [-1, -1]
  try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0)
  defer { close(pair[1]) }
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  posix_spawn_file_actions_adddup2(&actions, pair[1], 0)
  defer { posix_spawn_file_actions_destroy(&actions) }
  let arguments = words.map { strdup($0) }
  let variables = environment.map { strdup($0) }
  defer { for string in arguments + variables { free(string) } }
  var pid: pid_t = 0
  try #require(posix_spawn(&pid, words[0], &actions, nil, arguments + [nil], variables + [nil]) == 0)
  return (try BusConnection(socket: pair[0], role: .client, handlers: .init()), pid)
}
