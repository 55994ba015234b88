internal import SecretModel
package import SessionPrompts
package import Whorl

/// What the agent needs of its process, the same for all clients.
package struct AgentConfiguration: Sendable {
  /// The address of the session's bus.
  package var bus: String
  /// Opens the store, for all clients.
  package var openStore: @Sendable () throws(VaultError) -> SecretStore
  /// Makes the prompt of a signature for a client.
  package var prompt: @Sendable (ClientProgram) -> any AuthenticationPrompt
  /// Writes a line for people.
  package var log: @Sendable (String) -> Void
  package var knownHosts: KnownHosts
  /// The socket of another SSH agent, which has the keys that are not in the vault; nil where there is none.
  package var upstream: String?
  /// How long the store stays open while no client needs it.
  package var unusedStoreTime = Duration.seconds(15)

  package init(
    bus: String, openStore: @escaping @Sendable () throws(VaultError) -> SecretStore,
    prompt: @escaping @Sendable (ClientProgram) -> any AuthenticationPrompt,
    log: @escaping @Sendable (String) -> Void,
    knownHosts: KnownHosts, upstream: String?
  ) {
    (self.bus, self.openStore, self.prompt, self.log) = (bus, openStore, prompt, log)
    (self.knownHosts, self.upstream) = (knownHosts, upstream)
  }
}
