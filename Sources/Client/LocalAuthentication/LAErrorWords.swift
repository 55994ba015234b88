internal import KeychainServices
package import SecretModel

extension LAError {
  /// What an evaluation of the vault's came to.
  package init(_ error: VaultError) { self.init(_nsError: error.authenticationError) }

  /// A policy wants a companion device, which Linux has none of.
  static var noCompanion: LAError {
    LAError(.companionNotAvailable, userInfo: [NSLocalizedDescriptionKey: Code.companionNotAvailable.words])
  }
}

extension LAError.Code {
  /// What people read of it where a caller shows `localizedDescription`.
  package var words: String { AuthenticationCode(rawValue: rawValue)?.words ?? "" }
}
