import Presence
import SecretModel
import VaultItems
import VaultStore

/// Asks for what reading items requires, and releases nothing.
enum AskedProofs {
  static func ask(of vault: isolated Vault, toRead ids: [ItemID], _ request: Request) async throws(VaultError) {
    let context = try vault.presence.contexts.context(of: request)
    await vault.sessionLock.follow()
    let wanted = try vault.catalogue.toRead(.ids(ids), context)
    guard !wanted.allSatisfy(\.isOpen) else { return }
    let turn = try await vault.presence.contexts.turn(of: request)
    let needs = wanted.map(\.need)
    let evidence = try await vault.presence.authorizer.evidence(
      for: needs, reason: request.asking.reason, turn.context)
    let proofs = try evidence.current()
    guard needs.allSatisfy({ $0.satisfied(by: proofs) != nil }) else { throw .touchRefused }
    evidence.succeed()
  }
}
