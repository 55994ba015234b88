package import Glibc
import Synchronization

/// A running `whorl-agent` over a test's store and its virtual reader, and the lines that it has printed.
package final class RunningAgent: Sendable {
  /// The place for its socket, if it listens on one.
  package let socket: String
  /// Its process.
  package let pid: pid_t
  private let state = Mutex((lines: [String](), hasEnded: false))

  private init(_ socket: String, _ pid: pid_t) { (self.socket, self.pid) = (socket, pid) }

  /// The lines of its standard error.
  package var lines: [String] { state.withLock { $0.lines } }

  /// The requests for a touch.
  package var prompts: [String] { lines.filter { $0.contains(". Swipe the reader (virtual reader). (program: ") } }

  /// Runs the agent while `body` runs.
  ///
  /// - Parameters:
  ///   - touches: fingers to press, one for each prompt.
  ///   - arguments: returns the options beside those of the store, by the place for a socket.
  ///   - started: the beginning of the line that reports that the agent serves.
  package static func with<Value>(
    _ store: TestStore, _ touches: [Touches.Touch] = [], environment: [String: String] = [:],
    started: String, arguments: (String) -> [String], _ body: (RunningAgent) async throws -> Value
  ) async throws -> Value {
    let socket = "\(store.folder)/agent"
    var variables = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"]
    variables.merge(environment) { $1 }
    let program = try Invocation(
      program: "whorl-agent",
      arguments: arguments(socket) + ["--store", store.directory] + store.reader, environment: variables
    ).start()
    let agent = RunningAgent(socket, program.pid)
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
      try await agent.waits { $0.contains { $0.hasPrefix("whorl-agent: \(started)") } }
      result = .success(try await body(agent))
    } catch {
      result = .failure(error)
    }
    program.signal(SIGTERM)
    while !agent.state.withLock({ $0.hasEnded }) { try await Task.sleep(for: .milliseconds(5)) }
    return try result.get()
  }

  /// Waits until the lines meet a condition; fails after half a minute.
  package func waits(_ condition: ([String]) -> Bool) async throws {
    for _ in 0..<6_000 {
      if condition(lines) { return }
      guard !state.withLock({ $0.hasEnded }) else { break }
      try await Task.sleep(for: .milliseconds(5))
    }
    throw SystemFailure("the agent says only \(lines)", ETIMEDOUT)
  }
}
