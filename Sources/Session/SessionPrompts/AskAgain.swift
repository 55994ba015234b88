package import SecretModel

/// Asks the person, and once more if the vault ends meanwhile: the person has refused nothing. A call that nobody waits for
/// any more does not ask again.
///
/// - Parameter ask: asks in a context of its own, for something that made twice is the same as made once: a read, a
///   signature, an unlock.
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
