import Glibc
import ProgramDriver
import Synchronization

/// A client of the Model Context Protocol that has started `whorl mcp`, and talks with it over two pipes.
final class ScriptedAgent: Sendable {
  let store: TestStore
  /// Nil where no desktop shows notifications.
  let desktop: DesktopStandIn?
  private let input: Int32
  private let output: Int32
  /// What was read and not yet taken, by line.
  private let lines = Mutex<[String]>([])
  private let rest = Mutex<[UInt8]>([])

  private init(_ store: TestStore, _ desktop: DesktopStandIn?, _ input: Int32, _ output: Int32) {
    (self.store, self.desktop, self.input, self.output) = (store, desktop, input, output)
  }

  /// - Parameters:
  ///   - touches: the fingers that are pressed, one at each prompt.
  ///   - pinentry: the lines of a script that stands in for pinentry.
  /// - Returns: how the program has ended, once its input was closed.
  @discardableResult
  static func with(
    _ words: [String] = [], touches: [Touches.Touch] = [], pinentry: String = "exit 1", hasDesktop: Bool = true,
    prepare: (TestStore) async throws -> Void = { _ in }, _ body: (ScriptedAgent) async throws -> Void
  ) async throws -> Invocation.Result {
    try await PrivateBus.with { bus in
      let desktop = hasDesktop ? try await DesktopStandIn(on: bus) : nil
      defer { desktop?.close() }
      return try await TestStore.enrolled { store in
        try await prepare(store)
        let folder = store.folder
        try writeFile("\(folder)/pinentry", Array("#!/bin/sh\n\(pinentry)\n".utf8))
        chmod("\(folder)/pinentry", 0o700)
        // Open for both, so that neither end waits for the other one.
        let pipes = try ["in", "out"].map { name in
          mkfifo("\(folder)/\(name)", 0o600)
          let pipe = open("\(folder)/\(name)", O_RDWR | O_CLOEXEC)
          guard pipe >= 0 else { throw SystemFailure("no pipe") }
          return pipe
        }
        defer { close(pipes[1]) }
        var invocation = Invocation(
          program: "/bin/sh",
          arguments: ["-c", "exec \"$0\" \"$@\" <\(folder)/in >\(folder)/out", try Programs.path("whorl")]
            + store.arguments(["mcp"] + words + store.reader))
        invocation.environment = [
          "DBUS_SESSION_BUS_ADDRESS": bus.address, "DISPLAY": ":7", "PATH": "\(folder):/usr/bin:/bin",
        ]
        let program = try invocation.start()
        async let ended = withCheckedContinuation { continuation in
          startThread {
            continuation.resume(returning: program.finish(heard: Touches(socket: store.socket, touches).heard))
          }
        }
        let result: Result<Void, any Error>
        do {
          result = .success(try await body(ScriptedAgent(store, desktop, pipes[0], pipes[1])))
        } catch {
          result = .failure(error)
        }
        close(pipes[0])
        let end = await ended
        try result.get()
        return end
      }
    }
  }

  /// Sends lines as they are.
  func send(_ lines: String...) {
    for line in lines {
      var rest = Array("\(line)\n".utf8)[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
      }
    }
  }

  /// Sends a request.
  func ask(_ id: Int, _ method: String, _ parameters: String = "{}") {
    send(#"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(parameters)}"#)
  }

  /// Asks for a command.
  func run(_ id: Int, _ command: [String], _ secrets: String = #"{"A":"presence"}"#, more: String = "") {
    let words = command.map { #""\#($0.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))""# }
    ask(
      id, "tools/call",
      #"{"name":"run_with_secrets","arguments":{"command":[\#(words.joined(separator: ","))],"secrets":\#(secrets),"#
        + #""reason":"send it"\#(more)}}"#)
  }

  /// The next line that it answers; fails after a minute.
  func answer() async throws -> String {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    for _ in 0..<12_000 {
      if let line = lines.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return line }
      var entry = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, 0) > 0 else {
        try await Task.sleep(for: .milliseconds(5))
        continue
      }
      let count = read(output, &chunk, chunk.count)
      rest.withLock { rest in
        rest += chunk[..<max(count, 0)]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          let line = String(decoding: rest[..<end], as: UTF8.self)
          lines.withLock { $0.append(line) }
          rest.removeSubrange(...end)
        }
      }
    }
    throw SystemFailure("no answer", 110)
  }

  /// The answer to this request. Others that come before are dropped.
  func answer(to id: Int) async throws -> String {
    while true {
      let line = try await answer()
      if line.hasPrefix(#"{"id":\#(id),"#) || line.contains(#","id":\#(id),"#) { return line }
    }
  }

  /// Waits for a notification.
  func prompt() async throws -> DesktopStandIn.Shown {
    guard let desktop else { throw SystemFailure("there is no desktop", 0) }
    return try await desktop.first()
  }

  func cancel(_ id: Int) {
    send(#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":\#(id),"reason":"tired"}}"#)
  }

  /// Waits until a command has made this file in the store's folder, and returns what is in it; fails after half a minute.
  func contents(_ name: String) async throws -> String {
    for _ in 0..<6_000 {
      if let bytes = try? readFile("\(store.folder)/\(name)"), !bytes.isEmpty {
        return String(decoding: bytes, as: UTF8.self)
      }
      try await Task.sleep(for: .milliseconds(5))
    }
    throw SystemFailure("no file \(name)", 110)
  }
}
