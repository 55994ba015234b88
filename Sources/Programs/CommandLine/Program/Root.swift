import ArgumentParser

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
      CommandGroup(name: "Secrets", subcommands: [Get.self, SetItem.self, List.self, Remove.self, Run.self]),
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
          PasskeyGroup.self, SecretServiceGroup.self, SSH.self, GitCredential.self, DockerCredential.self,
        ]),
      CommandGroup(name: "Machines", subcommands: [SyncGroup.self]),
      CommandGroup(
        name: "Moving",
        subcommands: [Backup.self, Restore.self, Export.self, Import.self, Key.self, Migrate.self]),
      CommandGroup(name: "Readers", subcommands: [Reader.self]),
    ])
}
