import ArgumentParser
import CommandBase
import Glibc
import Processes
internal import Prompts
import SecretModel
import Settings

struct GnuPGGroup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gpg",
    abstract: "Let a finger give GnuPG the passphrases of its keys.",
    discussion: """
      The keys stay where GnuPG has them. Whorl keeps their passphrases, and gives each to GnuPG's agent after a touch.

      Examples:
        whorl gpg enable
        whorl gpg status
        whorl gpg disable
      """,
    subcommands: [GnuPGEnable.self, GnuPGDisable.self, GnuPGStatus.self])
}

struct GnuPGEnable: Command {
  static let configuration = CommandConfiguration(
    commandName: "enable",
    abstract: "Have GnuPG's agent ask Whorl for passphrases.",
    discussion: """
      Writes the line 'pinentry-program' into ~/.gnupg/gpg-agent.conf, or $GNUPGHOME/gpg-agent.conf, and has the agent \
      read it. Everything else in the file stays. A pinentry that the file names already asks for what Whorl does not \
      keep, and /usr/bin/pinentry where it names none. 'whorl gpg disable' makes the file what it was.

      Examples:
        whorl gpg enable
        whorl gpg enable --program ~/bin/pinentry-mine
      """)

  static let spoken = "gpg enable"

  @OptionGroup var options: GlobalOptions

  @Option(
    help: ArgumentHelp(
      "The program that the agent runs, in place of pinentry-whorl.",
      discussion: "Such as a script that runs 'whorl pinentry' with options.", valueName: "path"))
  var program: String?

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    // Without a store there is nothing to give.
    _ = try await session.openStore()
    let path = try NamedHelper(
      program, ofWhorl: GnuPGAgentFile.ownProgram, refusal: "GnuPG's agent passes no options on",
      scriptIn: "whorl pinentry"
    ).path(options)
    let file = try GnuPGAgentFile()
    let other = file.otherProgram
    guard other != path else {
      throw .usage(
        "\(file.path) names \(path) already", advice: "remove that line, so that another pinentry can ask")
    }
    try file.enable(path)
    GnuPGAgent.reload(hardening)
    if options.json { return try JSON.print(GnuPGReport(enabled: true, file: file.path, program: path, other: other)) }
    StandardError.line("Wrote \(Visible.text(file.path))")
    StandardError.line("GnuPG gets from Whorl what it keeps, after a touch. For the rest it asks as before, with")
    StandardError.line("\(Visible.text(other)), and Whorl offers to keep what you type.")
    StandardError.line("'whorl gpg disable' takes it back.")
  }
}

struct GnuPGDisable: Command {
  static let configuration = CommandConfiguration(
    commandName: "disable",
    abstract: "Give GnuPG its earlier pinentry again.",
    discussion: """
      Takes the line of Whorl's out of gpg-agent.conf, gives back the one that was there, and has the agent read the file. The \
      passphrases stay in the store: 'whorl rm gpg/KEYGRIP' removes one.

      Examples:
        whorl gpg disable
      """)

  static let spoken = "gpg disable"

  @OptionGroup var options: GlobalOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let file = try GnuPGAgentFile()
    let wasEnabled = try file.disable()
    if wasEnabled { GnuPGAgent.reload(hardening) }
    if options.json {
      return try JSON.print(GnuPGReport(enabled: false, file: file.path, program: nil, other: file.otherProgram))
    }
    StandardError.line(
      wasEnabled
        ? "GnuPG asks with \(Visible.text(file.otherProgram)) again. The passphrases stay in the store."
        : "Whorl is not in \(Visible.text(file.path)).")
  }
}

struct GnuPGStatus: Command {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show whether GnuPG's agent asks Whorl.",
    discussion: """
      Shows the program that the agent's configuration names, and the one that asks for what Whorl does not keep.

      Examples:
        whorl gpg status
      """)

  static let spoken = "gpg status"

  @OptionGroup var options: GlobalOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let file = try GnuPGAgentFile()
    let report = GnuPGReport(
      enabled: file.program != nil, file: file.path, program: file.program, other: file.otherProgram)
    if options.json { return try JSON.print(report) }
    try StandardOutput.columns([
      ("GnuPG asks Whorl", report.program.map { "yes, by \($0)" } ?? "no"), ("otherwise", report.other),
      ("file", report.file),
    ])
  }
}

private struct GnuPGReport: Encodable {
  var enabled: Bool
  /// The configuration of GnuPG's agent.
  var file: String
  /// What it names for Whorl.
  var program: String?
  /// What asks for a passphrase that Whorl does not keep.
  var other: String
}

private enum GnuPGAgent {
  /// Has a running agent read its configuration.
  static func reload(_ hardening: Hardening) {
    guard ChosenCommand(["gpgconf", "--reload", "gpg-agent"]).run(hardening) != 0 else { return }
    StandardError.line("GnuPG's agent was not told; it reads the file when it starts.")
  }
}
