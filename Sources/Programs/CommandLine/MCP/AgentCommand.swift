import CommandBase
import Glibc
import Primitives
import Processes
internal import Prompts
import SecretModel
import Settings

/// A command that an agent wants to be run with secrets.
struct AgentCommand: Sendable {
  static let mostWords = 64
  static let usualSeconds = 120
  static let longestSeconds = 3_600
  /// The most characters that the prompt shows of the agent's reason.
  private static let longestReason = 160
  /// How long a command may take to end by itself after SIGTERM.
  private static let grace = Duration.seconds(2)

  /// Of the secrets, in the order of ``variables``.
  let names: [String]
  private let variables: [String]
  private let program: ReplacementProgram
  /// All of the command, as the prompt shows it.
  private let shown: String
  private let why: String
  private let limit: Duration

  /// Reads the arguments of the tool. Finds the program before the person is asked for anything.
  init(_ arguments: JSONValue) throws(Failure) {
    guard case .list(let words)? = arguments["command"], !words.isEmpty, words.count <= Self.mostWords else {
      throw .usage("command is a list of 1 to \(Self.mostWords) words", advice: #"such as ["make", "publish"]"#)
    }
    let command = words.compactMap(\.asText)
    guard command.count == words.count, !command.contains(where: \.containsNUL) else {
      throw .usage("a word of the command is no text without NUL", advice: "write each word as a string")
    }
    guard case .object(let secrets)? = arguments["secrets"], !secrets.isEmpty, secrets.count <= PromptLabel.most else {
      throw .usage(
        "secrets has 1 to \(PromptLabel.most) variables with the names of secrets",
        advice: #"such as {"TOKEN": "forge/token"}"#)
    }
    let chosen = secrets.sorted { $0.key < $1.key }
    for (variable, name) in chosen where name.asText == nil || !EnvironmentFile.isName(variable.utf8) {
      throw .usage(
        "secrets has a variable that is none, or a name that is no text",
        advice: "letters, digits and _ make the name of a variable")
    }
    (variables, names) = (chosen.map(\.key), chosen.compactMap(\.value.asText))
    why = PromptLabel.text(arguments["reason"]?.asText ?? "", longest: Self.longestReason)
    guard !why.isEmpty else {
      throw .usage("reason is missing", advice: "say in a few plain words why the command is needed")
    }
    limit = .seconds(try Self.seconds(arguments["seconds"]))
    program = try ReplacementProgram(command)
    // The path, where a name was looked for: it is what runs.
    guard let shown = PromptLabel.whole(ShellLine.text(program.words)) else {
      throw .usage(
        "the command is too long to be shown whole, in \(PromptLabel.longestWhole) characters",
        advice: "put it into a script, and run that")
    }
    self.shown = shown
  }

  private static func seconds(_ value: JSONValue?) throws(Failure) -> Int64 {
    guard let value else { return Int64(usualSeconds) }
    guard case .integer(let seconds) = value, (1...Int64(longestSeconds)).contains(seconds) else {
      throw .usage("seconds is a whole number from 1 to \(longestSeconds)", advice: "leave it out for \(usualSeconds)")
    }
    return seconds
  }

  /// What the prompt says after "wants to".
  ///
  /// - Parameter names: of the secrets as the store has them.
  func reason(for names: [String]) -> String {
    "run “\(shown)” with \(PromptLabel.names(names)), and says why: “\(why)”"
  }

  /// Runs the command to its end. A signal that ends this program kills it, and what it has started.
  ///
  /// - Parameter secrets: in the order of ``names``.
  func run(
    with secrets: [SharedSecret], _ request: OpenRequest, _ hardening: Hardening
  ) async throws(Failure) -> ToolResult {
    for (secret, name) in zip(secrets, names) where secret.bytes.withUnsafeBytes({ $0.contains(0) }) {
      throw Failure(
        .damaged, "the secret of \(name) has a NUL in it and cannot be an environment variable", name: "errSecDecode",
        advice: "the person reads it with 'whorl get'")
    }
    var ends: [Int32] = [-1, -1]
    // Both descriptors are ours.
    guard pipe(&ends) == 0 else { throw .cannotWrite(errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let (source, target) = (ends[0], ends[1])
    defer { close(source) }
    let started = Result { () throws(Failure) in
      try Unfinished.ofThisProgram.make { () throws(Failure) in
        try program.start(
          with: FilledEnvironment(zip(variables, secrets).map { (name: $0, value: $1) }), output: target, hardening)
      } undo: {
        $0.send(SIGKILL)
      }
    }
    close(target)
    let (command, entry) = try started.get()
    defer { Unfinished.ofThisProgram.forget(entry) }
    request.onCancel { Self.end(command) }
    defer { request.onCancel(nil) }
    let timer = Task.detached(executorPreference: BackgroundThread.shared) { [limit] in
      guard (try? await Pause.wait(for: limit)) != nil else { return false }
      Self.end(command)
      return true
    }
    var output = BoundedOutput()
    let mask = OutputMask(of: secrets)
    let ending = command.ending(reading: source) { source in
      mask.pass(from: source) { shown in
        shown.withUnsafeBytes { output.append($0) }
        return true
      }
    }
    timer.cancel()
    return result(output, ending, isLate: await timer.value)
  }

  private func result(
    _ output: BoundedOutput, _ ending: ForegroundCommand.Ending, isLate: Bool
  ) -> ToolResult {
    var structured: [String: JSONValue] = ["status": .integer(Int64(ending.status)), "timedOut": .bool(isLate)]
    let how: String
    switch ending {
    case .exited(let status): how = "The command ended with status \(status)."
    case .signalled(let signal):
      structured["signal"] = .integer(Int64(signal))
      how =
        isLate
        ? "The command was ended after \(Spoken.plural(Int(limit.components.seconds), "second"))."
        : "The command was ended by signal \(signal)."
    }
    if output.omitted > 0 { structured["omittedBytes"] = .integer(Int64(output.omitted)) }
    return ToolResult(texts: [output.text, how].filter { !$0.isEmpty }, structured: structured)
  }

  private static func end(_ command: UnattendedCommand) {
    command.send(SIGTERM)
    Task.detached(executorPreference: BackgroundThread.shared) {
      try? await Pause.wait(for: Self.grace)
      command.send(SIGKILL)
    }
  }
}

/// The output of a command, without its middle if it is long.
struct BoundedOutput {
  /// How much of the beginning, and of the end, is kept, in bytes.
  static let half = 32 << 10

  private var beginning: [UInt8] = []
  private var end: [UInt8] = []
  /// How many bytes are left out.
  private(set) var omitted = 0

  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    let room = Self.half - beginning.count
    beginning += bytes.prefix(room)
    end += bytes.dropFirst(room)
    let excess = end.count - Self.half
    guard excess > 0 else { return }
    end.removeFirst(excess)
    omitted += excess
  }

  var text: String {
    let mark = omitted > 0 ? "\n[\(omitted) bytes left out]\n" : ""
    return String(decoding: beginning, as: UTF8.self) + mark + String(decoding: end, as: UTF8.self)
  }
}
