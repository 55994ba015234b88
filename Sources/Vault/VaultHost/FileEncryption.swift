internal import Dispatch
internal import SecretModel

/// Encrypts and decrypts files on threads of its own, which block while the other end of the socket works.
enum FileEncryption {
  private static let threads = DispatchQueue(label: "whorl.files", attributes: .concurrent)

  static func run<Value: Sendable>(
    _ body: @escaping @Sendable () throws(VaultError) -> Value
  ) async throws(VaultError) -> Value {
    let result = await withCheckedContinuation { (ended: CheckedContinuation<Result<Value, VaultError>, Never>) in
      threads.async {
        ended.resume(returning: Result { () throws(VaultError) in try body() })
      }
    }
    return try result.get()
  }
}
