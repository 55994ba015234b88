import ArgumentParser
import Processes

/// What every command is given for the programs that it executes.
typealias Hardening = Processes.Hardening

/// One command of the program.
protocol Command: ParsableCommand {
  var options: GlobalOptions { get }

  /// The command's name at the beginning of error messages.
  static var spoken: String { get }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure)
}

extension Command {
  static var spoken: String { configuration.commandName ?? _commandName }
}

struct Root: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "whorl",
    abstract: "Keep secrets behind a finger.",
    discussion: """
      A secret is stored under a rule, such as "only with one of the fingers enrolled today", and released only after \
      the fingerprint reader has matched a finger for that very request.

      Start with:
        whorl init                        make the store, set a passcode
        whorl enroll                      enrol the right index finger
        whorl set mail/alice              store a secret, typed or piped
        whorl get mail/alice              touch the reader, read it back
        whorl run --env PW=mail/alice -- COMMAND

      Secrets go to standard output and nothing else does. Failures are one line on standard error; the exit status is \
      64 for wrong usage, 65 damaged data, 66 no such item, finger or reader, 69 reader unavailable, 70 internal, \
      73 exists already, 74 input/output, 75 busy or timed out, 77 refused (no match, cancelled, locked out, wrong \
      passcode, set changed, nobody to ask), 78 bad configuration, 79 imported but for what is listed, and 1 where \
      docker-credential has told docker why. Ctrl-C and other signals end it by the signal.
      """,
    version: Version.text,
    subcommands: [
      Init.self, Enroll.self, Fingers.self, Unenroll.self, Set.self, Get.self, List.self, Remove.self, Run.self,
      Unlock.self, Lock.self, Passcode.self, Recover.self, Reseal.self, Status.self, Log.self, Migrate.self,
      Export.self, Import.self, Key.self, SSH.self, SecretServiceGroup.self, Backup.self, Restore.self,
      GitCredential.self, DockerCredential.self, Login.self,
      Doctor.self, Setup.self,
      Reader.self, Admin.self,
    ])
}

enum Version {
  static let text = "0.1.0"
}
