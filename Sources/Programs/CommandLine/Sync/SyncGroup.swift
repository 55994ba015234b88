import ArgumentParser
import Settings

struct SyncGroup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync",
    abstract: "Keep the same secrets on several computers, over a git repository.",
    discussion: """
      Each of your computers has keys of its own, and lets another one in after you have said yes on both. What they \
      share is in a git repository of yours, on any server, in a folder or on a stick: encrypted for your computers and \
      their recovery keys, with no name in clear. Only items that are added are shared, each with its rule.

      On the first computer:
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
