/// The ways for two keys on a curve to agree on a secret. Apple also has standard and cofactor variants of each, which
/// give the same result on the supported curves.
package enum ExchangeScheme: Sendable, Hashable {
  /// The X coordinate of the shared point, with the length of a coordinate. It is not uniformly distributed.
  case ecdh
  /// The shared X coordinate, passed through the key derivation of X9.63.
  case ecdhX963(HashFunction)

  package func supports(_ algorithm: KeyAlgorithm) -> Bool { algorithm.family == .ec }
}
