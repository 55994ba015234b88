/// How two keys on a curve make a secret: Apple's families, whose standard and cofactor forms are the same on the curves
/// there are.
package enum ExchangeScheme: Sendable, Hashable {
  /// The X coordinate of the common point, as long as one; not evenly distributed.
  case ecdh
  /// That, through the key derivation of X9.63.
  case ecdhX963(HashFunction)

  package func supports(_ algorithm: KeyAlgorithm) -> Bool { algorithm.family == .ec }
}
