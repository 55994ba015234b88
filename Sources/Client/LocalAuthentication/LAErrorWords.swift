internal import KeychainServices
package import SecretModel

extension LAError {
  /// The error for an error of the vault.
  package init(_ error: VaultError) { self.init(_nsError: error.authenticationError) }

  /// The error of a policy that requires a companion device, which Linux does not have.
  static var noCompanion: LAError {
    LAError(.companionNotAvailable, userInfo: [NSLocalizedDescriptionKey: Code.companionNotAvailable.words])
  }
}

extension LAError.Code {
  /// The text of `localizedDescription`.
  package var words: String { AuthenticationCode(rawValue: rawValue)?.words ?? "" }
}
