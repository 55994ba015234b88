public import KeychainServices
internal import SecretModel
internal import Whorl

/// The secret of a saved right (LASecret.h, macOS 13). Can be read only while the right is authorized.
public final class LASecret: NSObject, Sendable {
  private let id: ItemID
  private let proof: RightProof

  init(_ id: ItemID, _ proof: RightProof) {
    self.id = id
    self.proof = proof
  }

  /// The data that the right was saved with.
  ///
  /// Throws an ``LAError`` if the right is not authorized, and `errSecItemNotFound` for a right that was saved without
  /// a secret.
  public var rawData: Data { get async throws { try await KeyWork.run { try self.data() } } }

  /// The same for a completion handler.
  @preconcurrency
  public func loadData(completion handler: @escaping @Sendable (Data?, (any Error)?) -> Void) {
    KeyWork.run(handler) { try self.data() }
  }

  private func data() throws -> Data {
    let id = id
    do {
      return try proof.use { context in
        let data: Result<Data?, VaultError> = blocking { () async throws(VaultError) in
          let released = try await SecretStore.shared().secrets(of: [id], using: context)
          return RightSecret.data(released[0].secret)
        }
        guard let data = try data.get() else { throw VaultError.itemGone }
        return data
      }
    } catch let error as VaultError {
      throw error.rightError
    }
  }
}
