package import Vault
package import Whorl

/// What `kSecUseAuthenticationContext` takes: an `LAContext`, which lives a layer above.
package protocol AuthenticationContextHolder: AnyObject {
  /// The context in the vault, with the options of now. Throws where it was invalidated, or no store can be opened.
  func authenticationContext() throws(VaultError) -> AuthenticationContext
  /// The reason to show where the query names none.
  var keychainReason: String? { get }
}
