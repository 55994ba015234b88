import CommandBase
import Glibc
import Primitives
import Settings
import Synchronization

/// Talks the Model Context Protocol over standard input and output: each line is a message of JSON-RPC 2.0.
///
/// Two kinds of versions are spoken. Those up to 2025-11-25 begin with a handshake, `initialize`; later ones name their
/// version in each request. No request depends on an earlier one, so both can be mixed.
final class MCPServer: Sendable {
  /// Those that begin with a handshake, the newest first. The version of 2025-03-26 is left out, since it puts several
  /// messages on a line.
  private static let earlierVersions = ["2025-11-25", "2025-06-18", "2024-11-05"]
  private static let versions = ["2026-07-28"] + earlierVersions
  /// How many calls of tools may be open. Their prompts are shown one after another.
  static let openLimit = 8
  /// How long a client may keep the list of tools, which never changes.
  private static let hour = JSONValue.integer(3_600_000)

  private struct Open {
    let request: OpenRequest
    let task: Task<Void, Never>
  }

  private let tools: AgentTools
  private let open = Mutex<[JSONValue: Open]>([:])
  /// Held while a line is written.
  private let output = Mutex(())

  init(_ tools: AgentTools) { self.tools = tools }

  /// Answers until the client closes standard input. What is open then is cancelled.
  func serve() async {
    var lines = MessageLines(STDIN_FILENO)
    while let line = lines.next() {
      switch line {
      case .message(let bytes): take(bytes)
      case .tooLong:
        write(MCPError(.invalidRequest, "a line has more than \(MCPMessage.longest) bytes").answer)
      }
    }
    cancelAll()
    for task in open.withLock({ $0.values.map(\.task) }) { await task.value }
  }

  func cancelAll() {
    for open in open.withLock({ Array($0.values) }) { cancel(open) }
  }

  private func cancel(_ open: Open) {
    open.request.cancel()
    open.task.cancel()
  }

  // MARK: Messages

  private func take(_ line: [UInt8]) {
    var id: JSONValue?
    do throws(MCPError) {
      guard let message = try MCPMessage(line) else { return }
      id = message.id
      guard let id else { return note(message) }
      if let result = try result(of: message, id) { answer(id, result) }
    } catch {
      var error = error
      error.id = error.id ?? id
      write(error.answer)
    }
  }

  /// Handles a notification. Unknown ones are ignored, as the protocol says.
  private func note(_ message: MCPMessage) {
    guard message.method == "notifications/cancelled", let id = message.parameters["requestId"] else { return }
    if let open = open.withLock({ $0[id] }) { cancel(open) }
  }

  /// The result of a request; nil for one that is answered later.
  private func result(of message: MCPMessage, _ id: JSONValue) throws(MCPError) -> [String: JSONValue]? {
    if let version = message.parameters["_meta"]?["io.modelcontextprotocol/protocolVersion"] {
      guard let version = version.asText, Self.versions.contains(version) else {
        throw MCPError(
          .unsupportedVersion, "this version of the protocol is not spoken",
          data: ["supported": .list(Self.versions.map { .text($0) }), "requested": version])
      }
    }
    switch message.method {
    case "initialize":
      guard let wanted = message.parameters["protocolVersion"]?.asText else {
        throw MCPError(.invalidParameters, "protocolVersion is missing")
      }
      // For one that is not known, the newest that the client is likely to know. Versions are dates.
      let version = Self.earlierVersions.first { $0 <= wanted } ?? Self.earlierVersions[0]
      return [
        "protocolVersion": .text(version), "capabilities": ["tools": [:]], "serverInfo": Self.itself,
        "instructions": .text(AgentTools.instructions),
      ]
    case "server/discover":
      return [
        "supportedVersions": .list(Self.versions.map { .text($0) }), "capabilities": ["tools": [:]],
        "_meta": ["io.modelcontextprotocol/serverInfo": Self.itself],
        "instructions": .text(AgentTools.instructions), "ttlMs": Self.hour, "cacheScope": "public",
      ]
    case "ping": return [:]
    case "tools/list": return ["tools": AgentTools.descriptions, "ttlMs": Self.hour, "cacheScope": "public"]
    case "tools/call": return try call(message.parameters, id)
    default: throw MCPError(.unknownMethod, "there is no method of this name")
    }
  }

  private static let itself: JSONValue = ["name": "whorl", "title": "Whorl", "version": .text(Version.text)]

  // MARK: Calls of tools

  private func call(_ parameters: JSONValue, _ id: JSONValue) throws(MCPError) -> [String: JSONValue]? {
    guard let tool = parameters["name"]?.asText.flatMap({ AgentTools.Tool(rawValue: $0) }) else {
      throw MCPError(.invalidParameters, "there is no tool of this name")
    }
    let arguments = parameters["arguments"] ?? [:]
    guard case .object = arguments else { throw MCPError(.invalidParameters, "the arguments are no object") }
    let request = OpenRequest()
    let refusal: ToolResult? = try open.withLock { open throws(MCPError) in
      guard open[id] == nil else { throw MCPError(.invalidRequest, "a request with this id is open") }
      guard open.count < Self.openLimit else {
        return .refused("\(Self.openLimit) requests are open already: wait until one of them has its answer")
      }
      // A thread of its own: it waits for the command.
      let task = Task.detached(executorPreference: BackgroundThread()) { [tools] in
        let result = await tools.call(tool, arguments, request)
        self.finish(id, request, result)
      }
      open[id] = Open(request: request, task: task)
      return nil
    }
    return refusal?.fields
  }

  private func finish(_ id: JSONValue, _ request: OpenRequest, _ result: ToolResult) {
    _ = open.withLock { $0.removeValue(forKey: id) }
    // A cancelled request gets no answer.
    if !request.isCancelled { answer(id, result.fields) }
  }

  // MARK: Answers

  private func answer(_ id: JSONValue, _ result: [String: JSONValue]) {
    // Later versions want to know whether the result is complete; earlier ones ignore the field.
    let result = result.merging(["resultType": "complete"]) { $1 }
    write(["jsonrpc": "2.0", "id": id, "result": .object(result)])
  }

  private func write(_ message: JSONValue) {
    do throws(Failure) {
      let line = try JSON.text(message)
      try output.withLock { _ throws(Failure) in try StandardOutput.line(line) }
    } catch {
      // The client has gone.
      cancelAll()
    }
  }
}

/// The lines of a client.
struct MessageLines {
  enum Line {
    case message([UInt8])
    /// It was skipped.
    case tooLong
  }

  private static let chunk = 64 << 10

  private let descriptor: Int32
  private var held: [UInt8] = []
  /// Where the next line begins, and up to where no line feed was found.
  private var (start, searched) = (0, 0)
  private var isSkipping = false

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// The next line without its end; nil after the last one. What has no end at the end of the input is no line.
  mutating func next() -> Line? {
    while true {
      if let end = held[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        let line = held[start..<end]
        defer { (start, searched, isSkipping) = (end + 1, end + 1, false) }
        return isSkipping || line.count > MCPMessage.longest ? .tooLong : .message(Array(line))
      }
      held.removeSubrange(..<start)
      (start, searched) = (0, held.count)
      if held.count > MCPMessage.longest {
        (held, searched, isSkipping) = ([], 0, true)
      }
      var chunk = [UInt8](repeating: 0, count: Self.chunk)
      // read: writes at most as many bytes as it is told
      let count = read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      held += chunk[..<count]
    }
  }
}
