internal import Foundation
internal import SecretModel
internal import Whorl

/// What ends a call: its status, and why where there is more to say.
struct KeychainFailure: Error, Equatable {
  let status: OSStatus
  let why: String?
  /// What kept somebody from authenticating, where that is what ended the call.
  private(set) var authentication: VaultError?

  init(_ status: OSStatus, _ why: String? = nil) {
    self.status = status
    self.why = why
  }

  init(_ error: VaultError) {
    let why: String? =
      switch error {
      case .invalidRequest(let why), .invalidName(let why), .invalidAccessControl(let why): why
      default: nil
      }
    self.init(error.status, why)
    if [errSecUserCanceled, errSecInteractionNotAllowed, errSecAuthFailed].contains(status) { authentication = error }
  }

  /// `errSecParam`
  static let parameter = KeychainFailure(errSecParam)

  /// As the functions of keys report it: authentication in `LAError`'s codes, which only functions that answer a status
  /// turn into one; everything else as the status.
  var error: NSError {
    authentication?.authenticationError
      ?? NSError(status: status, why.map { "It failed: \($0)." } ?? words(for: status))
  }
}

/// Runs the body of a function that answers a status.
func status(_ body: () throws(KeychainFailure) -> Void) -> OSStatus {
  do throws(KeychainFailure) {
    try body()
    return errSecSuccess
  } catch {
    return error.status
  }
}

/// Runs the body of a function that answers a value or sets an error.
func value<Value>(
  _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?, _ body: () throws(KeychainFailure) -> Value
) -> Value? {
  do throws(KeychainFailure) {
    return try body()
  } catch let failure {
    error?.set(failure.error)
    return nil
  }
}

/// Calls the shared store and waits for it.
func call<Value: Sendable>(
  _ body: @escaping @Sendable (SecretStore) async throws(VaultError) -> Value
) throws(KeychainFailure) -> Value {
  do throws(VaultError) {
    let store = try SecretStore.shared()
    return try blocking { () async throws(VaultError) -> Value in try await body(store) }.get()
  } catch {
    throw KeychainFailure(error)
  }
}
