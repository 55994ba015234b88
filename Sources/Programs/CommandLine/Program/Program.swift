// The command line: begin with `Program`, which finds the command, runs it and reports its failure.

import ArgumentParser
import CLinux
import Glibc
import Primitives
import Processes
internal import Prompts
import Settings
import Whorl

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
      Interruption.end(with: status.rawValue)
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
      if words == ["--version"] {
        // The parser examines every command before it answers.
        try StandardOutput.line(Version.text)
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

/// The whole program: its help, and the list of its commands.
struct Root: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "whorl",
    abstract: "Keep secrets behind a finger.",
    discussion: """
      A secret is stored under a rule, such as "only with one of the fingers enrolled today", and released only after \
      the fingerprint reader has matched a finger for that very request.

      Start with:
        whorl setup                       look at this computer, and set up what you choose
        whorl set mail/alice              store a secret, typed or piped
        whorl get mail/alice              touch the reader, read it back
        whorl run --env PW=mail/alice -- COMMAND

      Secrets go to standard output and nothing else does. A failure is one line on standard error that says what to do. \
      'whorl help exit-statuses' lists the exit statuses.
      """,
    version: Version.text,
    groupedSubcommands: [
      CommandGroup(
        name: "Secrets",
        subcommands: [Get.self, SetItem.self, List.self, Remove.self, Run.self, Inject.self, Code.self]),
      CommandGroup(name: "Fingers", subcommands: [Enroll.self, Fingers.self, Unenroll.self]),
      CommandGroup(
        name: "Store",
        subcommands: [
          Setup.self, Status.self, Unlock.self, Lock.self, Passcode.self, Recover.self, Log.self, Doctor.self,
          Init.self, Reseal.self, Admin.self,
        ]),
      CommandGroup(name: "Login", subcommands: [Login.self]),
      CommandGroup(
        name: "Desktop",
        subcommands: [
          PasskeyGroup.self, SecretServiceGroup.self, SSH.self, BrowserGroup.self, GnuPGGroup.self, AgeGroup.self,
          GitCredential.self, DockerCredential.self, PinentryCommand.self, AgePluginCommand.self, MCPCommand.self,
        ]),
      CommandGroup(name: "Machines", subcommands: [SyncGroup.self]),
      CommandGroup(
        name: "Moving",
        subcommands: [Backup.self, Restore.self, Export.self, Import.self, Key.self, Migrate.self]),
      CommandGroup(name: "Readers", subcommands: [Reader.self]),
    ])
}

/// Allows global options before the command's name: `whorl --store DIR get NAME`. The parser accepts them only after
/// it.
enum GlobalWords {
  private static let withValue = ["--config", "--store", "--passcode-fd", "--reader"]
  private static let flags = ["--json", "--verbose"]
  static let all = withValue + flags
  /// Commands with subcommands.
  private static let groups = Root.configuration.subcommands.filter { !$0.configuration.subcommands.isEmpty }
    .compactMap { $0.configuration.commandName }

  /// The words with leading global options moved behind the command's name, before its other options. If an option
  /// occurs twice, the last one counts.
  static func inPlace(_ words: [String]) -> [String] {
    var leading = 0
    while leading < words.count {
      let name = String(words[leading].prefix { $0 != "=" })
      guard flags.contains(name) || withValue.contains(name) else { break }
      leading += withValue.contains(name) && name == words[leading] ? 2 : 1
    }
    guard leading > 0, leading < words.count else { return words }
    let rest = words[leading...]
    let name = rest.prefix(groups.contains(words[leading]) ? 2 : 1).prefix { !$0.hasPrefix("-") }
    return Array(name) + words[..<leading] + rest[name.endIndex...]
  }
}

/// Help that the parser does not have: `whorl help exit-statuses`, and messages for unknown commands.
enum HelpPage {
  /// The page for these words; nil if the parser has the help, or the words do not request any.
  static func text(for words: [String]) throws(Failure) -> String? {
    guard words.first == "help", let topic = words.dropFirst().first, !topic.hasPrefix("-") else { return nil }
    if topic == "exit-statuses" { return exitStatuses }
    let known = Root.configuration.subcommands.compactMap { $0.configuration.commandName }
    guard !known.contains(topic), topic != "help" else { return nil }
    throw .noCommand(topic, among: known, help: "'whorl --help' lists the commands")
  }

  private static let exitStatuses =
    """
    EXIT STATUSES of whorl:

    \(ExitStatus.allCases.map(line).joined(separator: "\n"))

    A signal such as Ctrl-C ends whorl as a signal does. 'whorl run' ends with the status of its command.
    --verbose adds the status, and the name of the error in Apple's libraries, to a message; --json gives them as JSON.
    """

  private static func line(_ status: ExitStatus) -> String {
    let number = String(status.rawValue)
    return String(repeating: " ", count: 5 - number.count) + "\(number)  \(status.meaning)"
  }

  /// The help of `whorl --help`, whose groups are "SECRETS" and not "SECRETS SUBCOMMANDS".
  static func shown(_ help: String) -> String { help.replacing(" SUBCOMMANDS:\n", with: ":\n") }
}

extension Failure {
  /// The failure for an unknown command.
  ///
  /// - Parameter known: the commands that there are.
  static func noCommand(_ word: String, among known: [String], help: String) -> Failure {
    let meant = NearestCommand.of(word, among: known).map { "did you mean '\($0)'? " } ?? ""
    return usage("no command '\(word)'", advice: meant + help)
  }
}

/// The command that a person probably meant by an unknown word.
enum NearestCommand {
  /// What commands do, in the words of other programs.
  private static let synonyms = [
    "add": "set", "agent": "ssh", "cat": "get", "create": "init", "delete": "rm", "exec": "run", "fill": "inject",
    "keyring": "login", "list": "ls", "new": "init", "otp": "code", "password": "passcode", "pin": "passcode",
    "print": "get", "put": "set", "read": "get", "remove": "rm", "save": "set", "show": "get", "store": "set",
    "totp": "code", "wallet": "login",
  ]

  /// - Parameter known: the commands that there are.
  static func of(_ word: String, among known: [String]) -> String? {
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
