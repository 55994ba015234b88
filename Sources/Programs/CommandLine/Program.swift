import ArgumentParser
import CLinux
import Executors
import Glibc
import Whorl

@main
enum Program {
  static func main() {
    GivenDescriptors.note()
    // A heap for each thread would take time, and the threads hardly ever allocate side by side.
    whorl_use_one_heap()
    let hardening = Hardening()
    Interruption.begin()
    let words = GlobalWords.inPlace(Array(CommandLine.arguments.dropFirst()))
    let connection = CommandConnection(for: words)
    // The shared pool of threads would start a thread of its own that tries to raise its priority, and for an ordinary
    // user writes a line to the system's log each time.
    Task.detached(executorPreference: BackgroundThread()) {
      let status = await run(words, connection, hardening)
      await connection.close()
      Terminal.leave()
      exit(status.rawValue)
    }
    Interruption.serve()
  }

  private static func run(
    _ words: [String], _ connection: CommandConnection, _ hardening: Hardening
  ) async -> ExitStatus {
    var spoken: String?
    do {
      try refuseBrokenText()
      switch try parse(words) {
      case let command as any Command:
        spoken = type(of: command).spoken
        Interruption.name(type(of: command).spoken)
        try await command.perform(Session(command.options, connection), hardening)
      case var command:
        // `whorl` and `whorl reader` alone: their help.
        try command.run()
      }
      return .done
    } catch let failure as Failure {
      // Whatever a signal made fail, it was the signal.
      let failure = Interruption.happened ? .cancelled : failure
      StandardError.line(failure.line(command: spoken))
      return failure.status
    } catch {
      return parsingEnded(error, words)
    }
  }

  /// The parser looks at every option of every command it is given, which takes longer than a whole `get`. So it is
  /// given the one that is named; where that is not all it takes (help, a mistake), it starts over with all of them.
  private static func parse(_ arguments: [String]) throws -> any ParsableCommand {
    if let name = arguments.first,
      let named = Root.configuration.subcommands.first(where: { $0.configuration.commandName == name }),
      named.configuration.subcommands.isEmpty,
      let command = try? named.parse(Array(arguments.dropFirst()))
    {
      return command
    }
    return try Root.parseAsRoot(arguments)
  }

  /// Text that is not UTF-8 would be repaired in silence, and two names could then mean one item.
  private static func refuseBrokenText() throws(Failure) {
    // Borrowed from the process for its whole life.
    for index in 1..<max(1, Int(CommandLine.argc)) {
      guard let word = CommandLine.unsafeArgv[index], String(validatingCString: word) == nil else { continue }
      throw .usage("argument \(index) is not UTF-8", advice: "write names in UTF-8")
    }
  }

  /// Help, version and completion scripts end the parsing as much as a mistake does.
  private static func parsingEnded(_ error: any Error, _ words: [String]) -> ExitStatus {
    guard Root.exitCode(for: error) != .success else {
      do {
        try StandardOutput.line(Root.fullMessage(for: error))
        return .done
      } catch {
        StandardError.line(error.line(command: nil))
        return error.status
      }
    }
    let named = words.first.flatMap { name in
      Root.configuration.subcommands.first { $0.configuration.commandName == name }
    }
    // "get", or "reader test".
    var name = named?.configuration.commandName
    if let group = name, words.count > 1,
      named?.configuration.subcommands.contains(where: { $0.configuration.commandName == words[1] }) == true
    {
      name = "\(group) \(words[1])"
    }
    let help = name.map { "'whorl \($0) --help' explains" } ?? "'whorl --help' lists the commands"
    let problem = missingCommand(words, named?.configuration.subcommands) ?? oneLine(Root.message(for: error))
    let failure = Failure.usage(problem, advice: help)
    StandardError.line(failure.line(command: name))
    return failure.status
  }

  /// Where no command is named, or one that is not there, the parser complains of the options that follow.
  private static func missingCommand(_ words: [String], _ ofGroup: [any ParsableCommand.Type]?) -> String? {
    let (word, known) = ofGroup.map { (words.dropFirst().first, $0) } ?? (words.first, Root.configuration.subcommands)
    guard !known.isEmpty else { return nil }
    let names = known.compactMap { $0.configuration.commandName }
    if let word, names.contains(word) { return nil }
    guard let word, !GlobalWords.all.contains(String(word.prefix { $0 != "=" })) else { return "no command is named" }
    return word.hasPrefix("-") ? nil : "no command '\(word)'"
  }

  /// The parser lists values on lines of their own, and ends its sentences.
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
}
