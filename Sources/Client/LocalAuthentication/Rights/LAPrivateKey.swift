public import KeychainServices
internal import SecretModel
internal import Whorl

/// The private key of a saved right: a P-256 key made in the vault, which never leaves it (LAPrivateKey.h, macOS 13).
///
/// Its calls never prompt. They fail with `LAError.notInteractive` unless the right exists and is authorized.
public final class LAPrivateKey: NSObject, Sendable {
  /// The public half.
  public let publicKey: LAPublicKey
  private let item: Item
  private let proof: RightProof

  init?(_ item: Item, _ proof: RightProof) {
    guard let publicKey = SecKeyCopyPublicKey(SecKey(item, context: nil, reason: nil)) else { return nil }
    self.item = item
    self.proof = proof
    self.publicKey = LAPublicKey(publicKey)
  }

  /// Whether ``sign(_:algorithm:)`` takes the algorithm.
  public func canSign(using algorithm: SecKeyAlgorithm) -> Bool { supports(.sign, algorithm) }

  /// Signs in the vault.
  public func sign(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
    try await KeyWork.run { try self.signed(data, algorithm) }
  }

  /// The same for a completion handler.
  @preconcurrency
  public func sign(
    _ data: Data, algorithm: SecKeyAlgorithm, completion handler: @escaping @Sendable (Data?, (any Error)?) -> Void
  ) {
    KeyWork.run(handler) { try self.signed(data, algorithm) }
  }

  /// Whether ``decrypt(_:algorithm:)`` takes the algorithm.
  public func canDecrypt(using algorithm: SecKeyAlgorithm) -> Bool { supports(.decrypt, algorithm) }

  /// Decrypts in the vault.
  public func decrypt(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
    try await KeyWork.run { try self.decrypted(data, algorithm) }
  }

  /// The same for a completion handler.
  @preconcurrency
  public func decrypt(
    _ data: Data, algorithm: SecKeyAlgorithm, completion handler: @escaping @Sendable (Data?, (any Error)?) -> Void
  ) {
    KeyWork.run(handler) { try self.decrypted(data, algorithm) }
  }

  /// Whether ``exchangeKeys(publicKey:algorithm:parameters:)`` takes the algorithm.
  public func canExchangeKeys(using algorithm: SecKeyAlgorithm) -> Bool { supports(.keyExchange, algorithm) }

  /// Agrees on a secret in the vault with the owner of a public key.
  ///
  /// - Parameters:
  ///   - publicKey: the other side's public key, on P-256: `04 ‖ X ‖ Y`.
  ///   - algorithm: one of those that ``canExchangeKeys(using:)`` takes.
  ///   - parameters: under the raw values of `SecKeyKeyExchangeParameter`.
  public func exchangeKeys(publicKey: Data, algorithm: SecKeyAlgorithm, parameters: [AnyHashable: Any]) async throws
    -> Data
  {
    let dictionary = Parameters(parameters)
    return try await KeyWork.run { try self.agreed(publicKey, algorithm, dictionary) }
  }

  /// The same for a completion handler.
  @preconcurrency
  public func exchangeKeys(
    publicKey: Data, algorithm: SecKeyAlgorithm, parameters: [AnyHashable: Any],
    completion handler: @escaping @Sendable (Data?, (any Error)?) -> Void
  ) {
    let dictionary = Parameters(parameters)
    KeyWork.run(handler) { try self.agreed(publicKey, algorithm, dictionary) }
  }

  private func supports(_ operation: SecKeyOperationType, _ algorithm: SecKeyAlgorithm) -> Bool {
    SecKeyIsAlgorithmSupported(SecKey(item, context: nil, reason: nil), operation, algorithm)
  }

  private func signed(_ data: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
    try use { SecKeyCreateSignature($0, algorithm, data as NSData, $1) }
  }

  private func decrypted(_ data: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
    try use { SecKeyCreateDecryptedData($0, algorithm, data as NSData, $1) }
  }

  private func agreed(_ peer: Data, _ algorithm: SecKeyAlgorithm, _ parameters: Parameters) throws -> Data {
    var problem: Unmanaged<CFError>?
    let attributes: [CFString: Any] = [
      kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPublic,
    ]
    guard let other = SecKeyCreateWithData(peer as NSData, attributes as CFDictionary, &problem) else {
      throw KeyWork.error(problem)
    }
    return try use { SecKeyCopyKeyExchangeResult($0, algorithm, other, parameters.dictionary, $1) }
  }

  /// Uses the key with the right's proof alone.
  private func use(_ call: (SecKey, UnsafeMutablePointer<Unmanaged<CFError>?>) -> CFData?) throws -> Data {
    try proof.use { context in
      let key = SecKey(item, context: context, reason: nil)
      return try KeyWork.result { call(key, $0) }
    }
  }
}

/// The parameters of a key exchange, copied.
private struct Parameters: @unchecked Sendable {
  // Unchecked: the values are a number and data, which nobody changes.
  let dictionary: CFDictionary

  init(_ parameters: [AnyHashable: Any]) { dictionary = NSDictionary(dictionary: parameters) }
}
