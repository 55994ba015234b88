// CommandBase: what the programs with commands share. Begin with `CommandProgram`, which finds the command, runs it and
// reports its failure. A command gets a `Session`, the way to the store, and writes to `StandardOutput`. `Interruption`
// handles signals, `Answers` and `CommandPrompt` ask the person or a script, and `NewFile` writes files.

package import ArgumentParser
internal import CLinux
internal import Glibc
internal import Primitives
internal import Processes
internal import Prompts
internal import Settings

/// A program with commands.
package protocol CommandProgram: SendableMetatype {
  /// The program's help, and the list of its commands.
  static var root: any ParsableCommand.Type { get }

  /// What its commands do, in the words of other programs.
  static var synonyms: [String: String] { get }
  /// Commands that are in another program, with their words there.
  static var elsewhere: [String: String] { get }

  /// What the program prints for these words without a command; nil if they are to be parsed.
  static func lines(for words: [String], _ connection: CommandConnection) async throws -> [String]?
}

extension CommandProgram {
  /// Runs the command that the program was started with.
  package static func main() {
    GivenDescriptors.note()
    // Separate heaps for threads take time to set up, and the threads rarely allocate at the same time.
    whorl_use_one_heap()
    let hardening = Hardening()
    Interruption.begin()
    let words = GlobalWords(commands: commands).inPlace(Array(CommandLine.arguments.dropFirst()))
    let connection = CommandConnection(for: words)
    // Not in the cooperative pool, which would start a thread that tries to raise its priority. For an ordinary user
    // that fails, and writes a line to the system's log each time.
    Task.detached(executorPreference: BackgroundThread()) {
      let status = await run(words, connection, hardening)
      await connection.close()
      Terminal.leave()
      Interruption.end(with: status.rawValue)
    }
    Interruption.serve()
  }

  private static var name: String { root.configuration.commandName ?? "" }
  private static var commands: [any ParsableCommand.Type] { root.configuration.subcommands }

  private static func run(
    _ words: [String], _ connection: CommandConnection, _ hardening: Hardening
  ) async -> ExitStatus {
    var report = FailureReport(words, of: name)
    Interruption.report(as: report)
    do {
      try refuseBrokenText()
      if let lines = try await answer(to: words, connection) {
        for line in lines { try StandardOutput.line(line) }
        return .done
      }
      switch try parse(words) {
      case let command as any Command:
        report.command = type(of: command).spoken
        Interruption.report(as: report)
        try await command.perform(Session(command.options, connection), hardening)
      case var command:
        // `whorl` and `whorl reader` without a command show help.
        try command.run()
      }
      return .done
    } catch let failure as Failure {
      // After a signal, report the cancellation and not the error that followed from it.
      let failure = Interruption.happened ? .cancelled : failure
      report.tell(failure)
      return failure.status
    } catch {
      return parsingEnded(error, words, report)
    }
  }

  /// What needs no command.
  private static func answer(
    to words: [String], _ connection: CommandConnection
  ) async throws -> [String]? {
    // The parser examines every command before it answers.
    if words == ["--version"] { return [Version.text] }
    if let lines = try await lines(for: words, connection) { return lines }
    // The parser would show the whole help for a topic that there is not.
    guard words.first == "help", let topic = words.dropFirst().first, !topic.hasPrefix("-") else { return nil }
    let known = commands.compactMap { $0.configuration.commandName }
    guard !known.contains(topic), topic != "help" else { return nil }
    throw noCommand(topic, among: known, help: "'\(name) --help' lists the commands")
  }

  /// The parser examines every option of every command, which takes longer than a whole `get`. So it is given only the
  /// named command. If that fails (help, a mistake), it starts again with all commands.
  private static func parse(_ arguments: [String]) throws -> any ParsableCommand {
    if let name = arguments.first,
      let named = commands.first(where: { $0.configuration.commandName == name }),
      named.configuration.subcommands.isEmpty,
      let command = try? named.parse(Array(arguments.dropFirst()))
    {
      return command
    }
    return try root.parseAsRoot(arguments)
  }

  /// Refuses arguments that are not UTF-8: they would be repaired silently, so that two names could mean the same item.
  private static func refuseBrokenText() throws(Failure) {
    // Borrowed from the process for its whole life.
    for index in 1..<max(1, Int(CommandLine.argc)) {
      guard let word = CommandLine.unsafeArgv[index], String(validatingCString: word) == nil else { continue }
      throw .usage("argument \(index) is not UTF-8", advice: "write names in UTF-8")
    }
  }

  /// Handles the end of parsing, by a mistake or by a request for help, version or a completion script.
  private static func parsingEnded(_ error: any Error, _ words: [String], _ report: FailureReport) -> ExitStatus {
    var report = report
    guard root.exitCode(for: error) != .success else {
      do {
        // Groups are "SECRETS" and not "SECRETS SUBCOMMANDS".
        try StandardOutput.line(root.fullMessage(for: error).replacing(" SUBCOMMANDS:\n", with: ":\n"))
        return .done
      } catch {
        report.tell(error)
        return error.status
      }
    }
    let named = words.first.flatMap { name in
      commands.first { $0.configuration.commandName == name }
    }
    // "get", or "reader test".
    report.command = named?.configuration.commandName
    if let group = report.command, words.count > 1,
      named?.configuration.subcommands.contains(where: { $0.configuration.commandName == words[1] }) == true
    {
      report.command = "\(group) \(words[1])"
    }
    let help = report.command.map { "'\(name) \($0) --help' explains" } ?? "'\(name) --help' lists the commands"
    let failure =
      missingCommand(words, named?.configuration.subcommands, help) ?? mistake(root.message(for: error), help)
    report.tell(failure)
    return failure.status
  }

  /// The failure for a missing or unknown command. The parser would complain about the options that follow it.
  private static func missingCommand(
    _ words: [String], _ ofGroup: [any ParsableCommand.Type]?, _ help: String
  ) -> Failure? {
    let (word, known) = ofGroup.map { (words.dropFirst().first, $0) } ?? (words.first, commands)
    guard !known.isEmpty else { return nil }
    let names = known.compactMap { $0.configuration.commandName }
    if let word, names.contains(word) { return nil }
    guard let word, !GlobalWords.all.contains(String(word.prefix { $0 != "=" })) else {
      return .usage("no command is named", advice: help)
    }
    if let other = elsewhere[words.prefix(ofGroup == nil ? 1 : 2).joined(separator: " ")] {
      return .usage("no command '\(word)'", advice: "'\(other)' does that")
    }
    return word.hasPrefix("-") ? nil : noCommand(word, among: names, help: help)
  }

  /// The failure for what the parser reports. It knows the nearest option for a mistyped one.
  private static func mistake(_ message: String, _ help: String) -> Failure {
    let line = oneLine(message)
    let parts = line.split(separator: ". Did you mean ", maxSplits: 1)
    guard parts.count == 2 else { return .usage(line, advice: help) }
    return .usage(String(parts[0]), advice: "did you mean \(parts[1]) \(help)")
  }

  /// Turns the parser's message, which lists values on separate lines and ends with a full stop, into one line.
  private static func oneLine(_ message: String) -> String {
    var line = ""
    var listing = false
    for part in message.split(separator: "\n") {
      let isValue = part.hasPrefix("  - ")
      if !line.isEmpty { line += isValue && listing ? ", " : " " }
      line += isValue ? part.dropFirst(4) : part
      listing = isValue
    }
    return line.hasSuffix(".") ? String(line.dropLast()) : line
  }

  /// The failure for an unknown command.
  ///
  /// - Parameter known: the commands that there are.
  private static func noCommand(_ word: String, among known: [String], help: String) -> Failure {
    let meant = NearestCommand.of(word, among: known, synonyms).map { "did you mean '\($0)'? " } ?? ""
    return .usage("no command '\(word)'", advice: meant + help)
  }
}

/// Allows global options before the command's name: `whorl --store DIR get NAME`. The parser accepts them only after
/// it.
struct GlobalWords {
  private static let withValue = ["--config", "--store", "--passcode-fd", "--reader"]
  private static let flags = ["--json", "--verbose"]
  static let all = withValue + flags
  /// Commands with subcommands.
  private let groups: [String]

  /// - Parameter commands: those of the program.
  init(commands: [any ParsableCommand.Type]) {
    groups = commands.filter { !$0.configuration.subcommands.isEmpty }.compactMap { $0.configuration.commandName }
  }

  /// The words with leading global options moved behind the command's name, before its other options. If an option
  /// occurs twice, the last one counts.
  func inPlace(_ words: [String]) -> [String] {
    var leading = 0
    while leading < words.count {
      let name = String(words[leading].prefix { $0 != "=" })
      guard Self.flags.contains(name) || Self.withValue.contains(name) else { break }
      leading += Self.withValue.contains(name) && name == words[leading] ? 2 : 1
    }
    guard leading > 0, leading < words.count else { return words }
    let rest = words[leading...]
    let name = rest.prefix(groups.contains(words[leading]) ? 2 : 1).prefix { !$0.hasPrefix("-") }
    return Array(name) + words[..<leading] + rest[name.endIndex...]
  }
}

/// The command that a person probably meant by an unknown word.
enum NearestCommand {
  /// - Parameters:
  ///   - known: the commands that there are.
  ///   - synonyms: what they do, in the words of other programs.
  static func of(_ word: String, among known: [String], _ synonyms: [String: String]) -> String? {
    let word = word.lowercased()
    if let meant = synonyms[word], known.contains(meant) { return meant }
    // A short word is near to too many others.
    let limit = word.count < 5 ? 1 : 2
    let near = known.map { ($0, distance(from: Array(word), to: Array($0))) }.filter { $0.1 <= limit }
    return near.min { $0.1 < $1.1 }?.0
  }

  /// How many letters have to be added, left out, replaced, or exchanged with their neighbour (the optimal string
  /// alignment distance).
  private static func distance(from word: [Character], to other: [Character]) -> Int {
    var rows = [Array(0...other.count)]
    for (row, letter) in word.enumerated() {
      var next = [row + 1]
      for (column, wanted) in other.enumerated() {
        var least = min(rows[row][column + 1] + 1, next[column] + 1, rows[row][column] + (letter == wanted ? 0 : 1))
        if row > 0, column > 0, letter == other[column - 1], word[row - 1] == wanted {
          least = min(least, rows[row - 1][column - 1] + 1)
        }
        next.append(least)
      }
      rows.append(next)
    }
    return rows[word.count][other.count]
  }
}
