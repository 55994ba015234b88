import ArgumentParser
internal import SecretModel

struct SSH: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ssh",
    abstract: "Make, bring in, show and remove keys for SSH.",
    discussion: """
      The keys are made in the vault and never leave it. whorl-agent gives ssh, git and ssh-keygen their public halves, \
      and has the vault sign after a touch.

      Examples:
        whorl ssh add work
        whorl ssh enable
        whorl ssh public work
      """,
    subcommands: [
      SSHAdd.self, SSHList.self, SSHRemove.self, SSHPublic.self, SSHCertificate.self, SSHEnable.self, SSHDisable.self,
    ])
}
