import Executors
import Glibc
import Processes

/// polkit's agent for terminals (`pkttyagent`). It asks for a password if the service has polkit ask and no desktop's
/// agent runs.
struct PasswordAgent: Sendable {
  private static let path = "/usr/bin/pkttyagent"
  /// How long it may take to register with polkit.
  private static let startMilliseconds: Int32 = 2_000

  private let child: ChildProcess
  private let entry: Unfinished.Entry

  /// Runs a call during which polkit may ask for a password, at this terminal if there is no desktop.
  static func during<Answer>(_ call: () async throws(Failure) -> Answer) async throws(Failure) -> Answer {
    guard let agent = PasswordAgent() else { return try await call() }
    let result: Result<Answer, Failure>
    do throws(Failure) {
      result = .success(try await call())
    } catch {
      result = .failure(error)
    }
    await agent.end()
    return try result.get()
  }

  /// Starts the agent for this process. Nil without a terminal, or if the program is not installed.
  init?() {
    let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    guard terminal >= 0 else { return nil }
    close(terminal)
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else { return nil }
    defer { close(ends[0]) }
    // `--notify-fd 0`: the agent closes descriptor 0, which it does not read, when it is ready.
    let input = ends[1]
    let started = try? Unfinished.ofThisProgram.start {
      try ChildProcess(
        HelperProgram(at: Self.path),
        arguments: [Self.path, "--process", "\(getpid())", "--fallback", "--notify-fd", "0"],
        environment: ["LC_ALL=C.UTF-8"], standardInput: input, keepsTerminal: true)
    }
    close(input)
    guard let started else { return nil }
    var ready = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
    poll(&ready, 1, Self.startMilliseconds)
    (child, entry) = started
  }

  /// Ends the agent and waits until it is gone.
  func end() async {
    _ = await child.end(grace: .zero).value
    Unfinished.ofThisProgram.forget(entry)
  }
}
