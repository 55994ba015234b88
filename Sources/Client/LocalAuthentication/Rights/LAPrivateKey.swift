// The key pair of a kept right.

public import KeychainServices
internal import Primitives
internal import SecretModel
internal import Synchronization
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

/// The public key of a saved right (LAPublicKey.h, macOS 13). Needs no authorization.
public final class LAPublicKey: NSObject, Sendable {
  private let key: SecKey

  init(_ key: SecKey) { self.key = key }

  /// The key in the form of `SecKeyCopyExternalRepresentation`: `04 ‖ X ‖ Y`.
  public var bytes: Data { get async throws { try await KeyWork.run { try self.exported() } } }

  /// The same for a completion handler.
  @preconcurrency
  public func exportBytes(completion handler: @escaping @Sendable (Data?, (any Error)?) -> Void) {
    KeyWork.run(handler) { try self.exported() }
  }

  /// Whether ``encrypt(_:algorithm:)`` takes the algorithm.
  public func canEncrypt(using algorithm: SecKeyAlgorithm) -> Bool {
    SecKeyIsAlgorithmSupported(key, .encrypt, algorithm)
  }

  /// Encrypts to the key.
  public func encrypt(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
    try await KeyWork.run { try self.encrypted(data, algorithm) }
  }

  /// The same for a completion handler.
  @preconcurrency
  public func encrypt(
    _ data: Data, algorithm: SecKeyAlgorithm, completion handler: @escaping @Sendable (Data?, (any Error)?) -> Void
  ) {
    KeyWork.run(handler) { try self.encrypted(data, algorithm) }
  }

  /// Whether ``verify(_:signature:algorithm:)`` takes the algorithm.
  public func canVerify(using algorithm: SecKeyAlgorithm) -> Bool {
    SecKeyIsAlgorithmSupported(key, .verify, algorithm)
  }

  /// Throws unless the signature of the data was made with the key.
  public func verify(_ signedData: Data, signature: Data, algorithm: SecKeyAlgorithm) async throws {
    _ = try await KeyWork.run { try self.verified(signedData, signature, algorithm) }
  }

  /// The same for a completion handler.
  @preconcurrency
  public func verify(
    _ signedData: Data, signature: Data, algorithm: SecKeyAlgorithm,
    completion handler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    KeyWork.run({ handler($1) }) { try self.verified(signedData, signature, algorithm) }
  }

  private func exported() throws -> Data {
    try KeyWork.result { SecKeyCopyExternalRepresentation(key, $0) }
  }

  private func encrypted(_ data: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
    try KeyWork.result { SecKeyCreateEncryptedData(key, algorithm, data as NSData, $0) }
  }

  private func verified(_ data: Data, _ signature: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
    try KeyWork.result {
      SecKeyVerifySignature(key, algorithm, data as NSData, signature as NSData, $0) ? NSData() : nil
    }
  }
}

/// Runs the blocking calls of Keychain Services away from the caller's thread.
enum KeyWork {
  static func run(
    _ handler: @escaping @Sendable (Data?, (any Error)?) -> Void, _ work: @escaping @Sendable () throws -> Data
  ) {
    reply {
      do {
        handler(try work(), nil)
      } catch {
        handler(nil, error)
      }
    }
  }

  static func run(_ work: @escaping @Sendable () throws -> Data) async throws -> Data {
    try await BlockingCall.run(work)
  }

  /// Returns the result of a call, or throws the error that it has set: an `LAError` if an authentication failed.
  static func result(_ call: (UnsafeMutablePointer<Unmanaged<CFError>?>) -> CFData?) throws -> Data {
    var problem: Unmanaged<CFError>?
    if let data = call(&problem) { return data as Data }
    throw error(problem)
  }

  /// The error of a call that failed.
  static func error(_ problem: Unmanaged<CFError>?) -> any Error {
    // The call returns its error retained.
    guard let error = problem?.takeRetainedValue() else { return LAError(.authenticationFailed) }
    if let error = error as? LAError { return error }
    return error
  }
}
