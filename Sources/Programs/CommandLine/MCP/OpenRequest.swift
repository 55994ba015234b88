import Synchronization

/// A call of a tool that has no answer yet.
final class OpenRequest: Sendable {
  private struct State {
    var isCancelled = false
    var end: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Ends what the request is doing. It gets no answer.
  func cancel() {
    let end = state.withLock { state in
      state.isCancelled = true
      return state.end
    }
    end?()
  }

  /// Sets what a cancellation ends, and ends it at once if the request is cancelled already. Nil where there is nothing.
  func onCancel(_ end: (@Sendable () -> Void)?) {
    let isLate = state.withLock { state in
      state.end = end
      return state.isCancelled
    }
    if isLate { end?() }
  }
}

/// What a tool answers. The program that asks passes it to its model.
struct ToolResult: Sendable {
  var texts: [String]
  var isError = false
  var structured: [String: JSONValue]?

  static func refused(_ why: String) -> ToolResult { ToolResult(texts: [why], isError: true) }

  var fields: [String: JSONValue] {
    var fields: [String: JSONValue] = [
      "content": .list(texts.map { ["type": "text", "text": .text($0)] }), "isError": .bool(isError),
    ]
    fields["structuredContent"] = structured.map { .object($0) }
    return fields
  }
}
