internal import Foundation
package import SecretModel
internal import Whorl

/// The failure of a call: its status, and a reason if there is one.
struct KeychainFailure: Error, Equatable {
  let status: OSStatus
  let why: String?
  /// The vault's error, if an authentication failed.
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

  /// The error that functions for keys report: for a failed authentication an `LAError`, else the status.
  var error: NSError {
    authentication?.authenticationError
      ?? NSError(status: status, why.map { "It failed: \($0)." } ?? words(for: status))
  }
}

extension VaultError {
  /// The status of a call.
  package var status: OSStatus { described.apple.status.rawValue }
}

/// Runs the body of a function that returns a status.
func status(_ body: () throws(KeychainFailure) -> Void) -> OSStatus {
  do throws(KeychainFailure) {
    try body()
    return errSecSuccess
  } catch {
    return error.status
  }
}

/// Runs the body of a function that returns a value or sets an error.
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
