import ArgumentParser
import Whorl

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
