public import ArgumentParser
public import Primitives
internal import Prompts
internal import Settings
internal import Whorl

/// The options of every command.
package struct GlobalOptions: ParsableArguments, Sendable {
  @Option(
    help: ArgumentHelp(
      "The configuration file.", discussion: "Default: $XDG_CONFIG_HOME/whorl/config.json.", valueName: "file"),
    completion: .file())
  package var config: String?

  @Option(
    help: ArgumentHelp(
      "The directory of a private store.",
      discussion: "Default: the store in the system service if that is installed, else $XDG_DATA_HOME/whorl.",
      valueName: "dir"),
    completion: .directory)
  package var store: String?

  @Option(
    help: ArgumentHelp(
      "Read the passcode from this descriptor.",
      discussion:
        "Its first line is the passcode; where an old and a new one are asked, the second line is the new one.",
      valueName: "n"),
    transform: GivenDescriptors.number)
  package var passcodeFd: Int32?

  @Option(
    help: ArgumentHelp(
      "The reader to use.", discussion: "\(ReaderSelection.forms). Default: auto.", valueName: "selection"))
  package var reader: ReaderSelection?

  @Flag(help: "Print JSON on standard output, and a failure as JSON on standard error.")
  package var json = false

  @Flag(help: "Show more about a failure: its name in Apple's libraries, the exit status and the cause.")
  package var verbose = false

  package init() {}
}

extension ReaderSelection: ExpressibleByArgument {
  /// Parses the value of `--reader`.
  public init?(argument: String) { self.init(argument) }
  /// The default's text in help.
  public var defaultValueDescription: String { description }
}
