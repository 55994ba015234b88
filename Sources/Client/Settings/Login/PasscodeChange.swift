internal import SecretModel
package import Whorl

extension SecretStore {
  /// After a change of the passcode: forgets that the login password was seen to be the same, since a private store has no
  /// log that tells of the change.
  ///
  /// - Returns: whether the user has chosen that the two are the same, so that a login opens nothing until they are again.
  package func noteNewPasscode() async throws(VaultError) -> Bool {
    try await call { vault throws(VaultError) in
      let entries = LoginEntries(in: vault)
      guard try await entries.has(LoginItem(.passcode)) else { return false }
      try await entries.putLoginPasscode(isProven: false)
      return true
    }
  }
}
