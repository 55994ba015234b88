import ProgramDriver
import Synchronization
import Testing

/// Reads the JSON of `whorl status --json` and similar commands for the tests.
struct StoreLooks {
  let json: String

  func number(_ key: String) throws -> Int {
    let start = try #require(json.firstRange(of: "\"\(key)\":"), "\(json)").upperBound
    return try #require(Int(json[start...].prefix { $0.isNumber }))
  }

  func isTrue(_ key: String) -> Bool { json.contains("\"\(key)\":true") }
}

extension TestStore {
  func status() async throws -> StoreLooks {
    let result = try await whorl("status", "--json")
    try #require(result.status == 0, "\(result.diagnostics)")
    return StoreLooks(json: result.text)
  }

  /// The program's call with this store and its virtual reader.
  func call(_ words: String..., passcode: [String]? = nil, input: String? = nil) -> Invocation {
    Invocation(
      arguments: arguments(words) + (words[0] == "init" ? [] : reader)
        + (passcode == nil ? [] : ["--passcode-fd", "3"]),
      input: input.map { Array($0.utf8) }, descriptors: passcode.map { [$0.map { $0 + "\n" }.joined()] } ?? [])
  }

  /// Copies the whole folder.
  func snapshot(_ name: String) throws { try copyFolder(directory, "\(folder)/\(name)") }

  /// Restores a whole snapshot.
  func restore(_ name: String) throws {
    removeFolder(directory)
    try copyFolder("\(folder)/\(name)", directory)
  }
}

/// Numbers the readers, so that a late touch for one program is not taken by another.
private let readers = Mutex(0)

extension TestStore {
  /// Runs a call on a reader of its own, with these touches.
  func run(_ call: Invocation, _ touches: [Touches.Touch]) async throws -> Invocation.Result {
    let (call, socket) = onOwnReader(call)
    return try await call.run(heard: Touches(socket: socket, touches).heard)
  }

  /// Runs a call on a reader of its own, which nobody touches. `heard` gets each line of standard error.
  func run(
    _ call: Invocation, heard: @escaping @Sendable (String, RunningProgram) -> Void
  ) async throws -> Invocation.Result {
    try await onOwnReader(call).call.run(heard: heard)
  }

  private func onOwnReader(_ call: Invocation) -> (call: Invocation, socket: String) {
    let number = readers.withLock {
      $0 += 1
      return $0
    }
    let socket = "\(folder)/reader-\(number)"
    var call = call
    call.arguments = call.arguments.map { $0.hasPrefix("virtual-image:") ? "virtual-image:\(socket)" : $0 }
    return (call, socket)
  }
}

extension Invocation.Result {
  /// How often a finger was asked for. Each time the reader was armed, after the charge was on the disk.
  var asked: Int { diagnostics.ranges(of: "the reader (virtual reader)").count }
}
