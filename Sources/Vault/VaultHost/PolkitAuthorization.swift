package import SecretModel
package import SystemPolicy

extension Polkit {
  /// Has polkit ask users for their own password before a program creates their store, gives it a new key file, enrols
  /// its first finger or replaces its recovery key.
  ///
  /// - Throws: `notAuthorized`, and `serviceUnavailable` where polkit cannot be asked.
  package func authorizeOwner(_ caller: Caller) async throws(VaultError) {
    try await require(.own, of: caller, asking: true)
  }

  /// Asks polkit, without a question to the user, whether a program may change the fingers that open its user's store.
  ///
  /// - Throws: `notAuthorized`, and `serviceUnavailable` where polkit cannot be asked.
  package func authorizeFingers(_ caller: Caller) async throws(VaultError) {
    try await require(.enroll, of: caller, asking: false)
  }

  /// Has polkit ask for an administrator's password before a finger is enrolled, where only administrators may enrol.
  ///
  /// - Throws: `notAuthorized`, and `serviceUnavailable` where polkit cannot be asked.
  package func authorizeEnrolment(_ caller: Caller, by enrollers: Enrollers) async throws(VaultError) {
    switch enrollers {
    case .users: return
    case .administrators: try await require(.enrollAsAdministrator, of: caller, asking: true)
    }
  }

  /// Asks polkit whether a program may test the reader. By default polkit asks for an administrator's password.
  ///
  /// - Throws: `notAuthorized`, and `serviceUnavailable` where polkit cannot be asked.
  package func authorizeTest(_ caller: Caller) async throws(VaultError) {
    try await require(.manage, of: caller, asking: true)
  }

  private func require(_ action: PolkitAction, of caller: Caller, asking: Bool) async throws(VaultError) {
    switch await authorize(action, for: caller, asking: asking) {
    case .allowed: return
    case .denied: throw .notAuthorized(action.rawValue)
    case .dismissed: throw .notAuthorized("\(action.rawValue): the question for the password was closed")
    case .needsPassword where asking:
      throw .notAuthorized("\(action.rawValue): nobody is there to be asked for the password")
    case .needsPassword: throw .notAuthorized("\(action.rawValue): it takes a password, and is not asked for one here")
    case .unavailable(let words): throw .serviceUnavailable("polkit cannot be asked: \(words)")
    }
  }
}
