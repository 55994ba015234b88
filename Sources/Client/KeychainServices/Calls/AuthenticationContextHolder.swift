package import SecretModel
package import Whorl

/// The value of `kSecUseAuthenticationContext`: an `LAContext`, which is in a higher layer.
package protocol AuthenticationContextHolder: AnyObject {
  /// The context in the vault, made at the first call.
  func authenticationContext() throws(VaultError) -> AuthenticationContext
  /// The reason to show if the query has none.
  var keychainReason: String? { get }
}
