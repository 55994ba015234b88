package import SecretModel

/// Asks the person, and once more if the vault ends meanwhile, since that is not a refusal. A cancelled call does not
/// ask again.
///
/// - Parameter ask: asks in a new context for something idempotent: a read, a signature or an unlock.
package func askAgainWhereVaultEnds<Value: Sendable>(
  _ ask: () async throws(VaultError) -> Value
) async throws(VaultError) -> Value {
  do throws(VaultError) {
    return try await ask()
  } catch .systemCancelled, .contextInvalidated, .outcomeUnknown {
    guard !Task.isCancelled else { throw .appCancelled }
    return try await ask()
  }
}
