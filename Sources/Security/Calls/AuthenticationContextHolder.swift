package import Whorl

/// What `kSecUseAuthenticationContext` takes: an `LAContext`, which lives a layer above.
package protocol AuthenticationContextHolder: AnyObject {
  /// The context in the vault.
  var authenticationContext: AuthenticationContext { get }
  /// The reason to show where the query names none.
  var keychainReason: String? { get }
}
