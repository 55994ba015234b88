/// A secret with several owners, wiped when the last one releases it. For closures and stored values, which cannot hold
/// a noncopyable `SecretBytes`.
package final class SharedSecret: Sendable {
  /// The secret, to be read in place.
  package let bytes: SecretBytes

  /// Takes over a secret.
  package init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

  /// A second secret with the same bytes.
  package func copy() -> SecretBytes { bytes.copy() }
}
