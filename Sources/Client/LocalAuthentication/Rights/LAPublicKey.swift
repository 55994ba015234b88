public import KeychainServices
internal import Synchronization

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
