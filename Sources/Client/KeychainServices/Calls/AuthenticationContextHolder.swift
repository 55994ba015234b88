package import SecretModel
package import Whorl

/// What `kSecUseAuthenticationContext` takes: an `LAContext`, which lives a layer above.
package protocol AuthenticationContextHolder: AnyObject {
  /// The context in the vault, made when it is first asked for.
  func authenticationContext() throws(VaultError) -> AuthenticationContext
  /// The reason to show where the query names none.
  var keychainReason: String? { get }
}
