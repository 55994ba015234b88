internal import Security
package import Vault

extension LAError {
  /// What an evaluation of the vault's came to.
  package init(_ error: VaultError) { self.init(_nsError: error.authenticationError) }
}

extension LAError.Code {
  /// What people read of it where a caller shows `localizedDescription`.
  package var words: String { AuthenticationCode(rawValue: rawValue)?.words ?? "" }
}
