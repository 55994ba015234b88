internal import Executors
internal import KeychainServices
internal import SecretModel
internal import Whorl

/// Links a key or a secret to its right, without keeping the right's authorization alive.
final class RightProof: Sendable {
  private weak let authorization: RightAuthorization?

  init(_ authorization: RightAuthorization) { self.authorization = authorization }

  /// Runs a call with the context of the authorized right. Ends the authorization if the call fails with an error of
  /// authentication.
  func use<Value>(_ call: (AuthenticationContext) throws -> Value) throws -> Value {
    guard let authorization else { throw LAError(VaultError.interactionNotAllowed) }
    let proven: Result<AuthenticationContext, VaultError> = blocking { () async throws(VaultError) in
      try await authorization.provenContext()
    }
    let context: AuthenticationContext
    do throws(VaultError) {
      context = try proven.get()
    } catch {
      throw LAError(error)
    }
    do {
      return try call(context)
    } catch {
      if error is LAError || (error as? VaultError)?.rightError is LAError { authorization.end(context) }
      throw error
    }
  }
}
