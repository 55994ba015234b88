import ArgumentParser
internal import SSHKeys
import SecretModel

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

extension Session {
  /// The keys for SSH in the store, oldest first.
  func sshKeys(in store: any VaultService, _ states: Swift.Set<Item.State> = [.living]) async throws(Failure)
    -> [SSHKey]
  {
    let items = try await explained { () async throws(VaultError) in try await store.allItems(SSHKey.search(states)) }
    return items.compactMap(SSHKey.init)
  }

  /// The keys that the words name: each the name of one key, or its id.
  func sshKeys(
    named names: [String], in store: any VaultService, _ states: Swift.Set<Item.State> = [.living]
  ) async throws(Failure) -> [SSHKey] {
    let all = try await sshKeys(in: store, states)
    var chosen: [SSHKey] = []
    for name in names {
      let found = all.filter { $0.id == ItemID(spoken: name) || $0.name == name }
      guard let key = found.first else {
        throw Failure(
          .notFound, "no SSH key \(name)", name: "errSecItemNotFound", advice: "'whorl ssh list' lists what there is")
      }
      guard found.count == 1 else {
        let ids = found.map(\.id.spoken).joined(separator: ", ")
        throw .usage("\(name) means several keys: \(ids)", advice: "name one by its id")
      }
      chosen.append(key)
    }
    return chosen
  }
}
