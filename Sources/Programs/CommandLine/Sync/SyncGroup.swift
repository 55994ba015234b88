import ArgumentParser

struct SyncGroup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync",
    abstract: "Keep the same secrets on several machines, over a git repository.",
    discussion: """
      Machines that share secrets are a circle. Each has keys of its own, and lets another one in after a finger or the \
      passcode. What they share is in a git repository of yours, on any server, in a folder or on a stick: encrypted in \
      the vault, to the machines of the circle and the recovery key, with no name in clear. Only items that are added \
      are shared, each with its rule.

      On the first machine:
        whorl sync init git@example.com:me/secrets.git
        whorl sync add mail/alice
      On the second one, and then on the first:
        whorl sync join git@example.com:me/secrets.git
        whorl sync approve

      Without a command it tells how things stand, as 'whorl sync status' does.
      """,
    subcommands: [
      SyncStatusCommand.self, SyncInit.self, SyncJoin.self, SyncApprove.self, SyncConfirm.self, SyncRemoveMachine.self,
      SyncNow.self,
      SyncAdd.self, SyncLeave.self, SyncResolve.self, SyncRemoteCommand.self, SyncRecover.self, SyncIdentity.self,
      SyncWatch.self,
    ],
    defaultSubcommand: SyncStatusCommand.self)
}
