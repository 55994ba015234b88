// The command line: begin with `Root`, the list of its commands. `CommandProgram` runs the named one.

import ArgumentParser
import CommandBase
internal import Prompts
import Settings

@main
enum Program: CommandProgram {
  static let root: any ParsableCommand.Type = Root.self
  static let synonyms = [
    "add": "set", "agent": "ssh", "cat": "get", "create": "init", "delete": "rm", "exec": "run", "fill": "inject",
    "keyring": "login", "list": "ls", "new": "init", "otp": "code", "password": "passcode", "pin": "passcode",
    "print": "get", "put": "set", "read": "get", "remove": "rm", "save": "set", "show": "get", "store": "set",
    "totp": "code", "wallet": "login",
  ]

  static let elsewhere = ["test", "record"].reduce(into: [:]) { $0["reader \($1)"] = "whorl-reader-kit \($1)" }

  static func lines(for words: [String], _ connection: CommandConnection) async throws -> [String]? {
    if words.isEmpty, StandardOutput.isTerminal {
      return try await Overview(session: Session(GlobalOptions.parse([]), connection)).lines().map(Visible.text)
    }
    return words.prefix(2) == ["help", "exit-statuses"] ? [HelpPage.exitStatuses] : nil
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

/// Help that the parser does not have: `whorl help exit-statuses`.
enum HelpPage {
  static let exitStatuses =
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
}
