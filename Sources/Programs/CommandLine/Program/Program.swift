import ArgumentParser
import CLinux
import Executors
import Glibc
import Processes
internal import PromptTexts
internal import TerminalLines

@main
enum Program {
  static func main() {
    GivenDescriptors.note()
    // Separate heaps for threads take time to set up, and the threads rarely allocate at the same time.
    whorl_use_one_heap()
    let hardening = Hardening()
    Interruption.begin()
    let words = GlobalWords.inPlace(Array(CommandLine.arguments.dropFirst()))
    let connection = CommandConnection(for: words)
    // Not in the cooperative pool, which would start a thread that tries to raise its priority. For an ordinary user
    // that fails, and writes a line to the system's log each time.
    Task.detached(executorPreference: BackgroundThread()) {
      let status = await run(words, connection, hardening)
      await connection.close()
      Terminal.leave()
      Interruption.end(with: status)
    }
    Interruption.serve()
  }

  private static func run(
    _ words: [String], _ connection: CommandConnection, _ hardening: Hardening
  ) async -> ExitStatus {
    var report = FailureReport(words)
    Interruption.report(as: report)
    do {
      try refuseBrokenText()
      if words.isEmpty, StandardOutput.isTerminal {
        for line in try await Overview(session: Session(GlobalOptions.parse([]), connection)).lines() {
          try StandardOutput.line(Visible.text(line))
        }
        return .done
      }
      if let page = try HelpPage.text(for: words) {
        try StandardOutput.line(page)
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

  /// The parser examines every option of every command, which takes longer than a whole `get`. So it is given only the
  /// named command. If that fails (help, a mistake), it starts again with all commands.
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
    guard Root.exitCode(for: error) != .success else {
      do {
        try StandardOutput.line(HelpPage.shown(Root.fullMessage(for: error)))
        return .done
      } catch {
        report.tell(error)
        return error.status
      }
    }
    let named = words.first.flatMap { name in
      Root.configuration.subcommands.first { $0.configuration.commandName == name }
    }
    // "get", or "reader test".
    report.command = named?.configuration.commandName
    if let group = report.command, words.count > 1,
      named?.configuration.subcommands.contains(where: { $0.configuration.commandName == words[1] }) == true
    {
      report.command = "\(group) \(words[1])"
    }
    let help = report.command.map { "'whorl \($0) --help' explains" } ?? "'whorl --help' lists the commands"
    let failure =
      missingCommand(words, named?.configuration.subcommands, help) ?? mistake(Root.message(for: error), help)
    report.tell(failure)
    return failure.status
  }

  /// The failure for a missing or unknown command. The parser would complain about the options that follow it.
  private static func missingCommand(
    _ words: [String], _ ofGroup: [any ParsableCommand.Type]?, _ help: String
  ) -> Failure? {
    let (word, known) = ofGroup.map { (words.dropFirst().first, $0) } ?? (words.first, Root.configuration.subcommands)
    guard !known.isEmpty else { return nil }
    let names = known.compactMap { $0.configuration.commandName }
    if let word, names.contains(word) { return nil }
    guard let word, !GlobalWords.all.contains(String(word.prefix { $0 != "=" })) else {
      return .usage("no command is named", advice: help)
    }
    return word.hasPrefix("-") ? nil : .noCommand(word, among: names, help: help)
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
}
