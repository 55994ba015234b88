internal import Primitives
package import SecretModel
package import Vault

extension OwnersChange {
  /// What polkit's dialogue says. The service has no language; polkit translates it.
  var question: String {
    switch self {
    case .newStore: Text.of("Type your login password to let Whorl make your store of secrets")
    case .storeOfBackup:
      Text.of("Type your login password to let Whorl bring your store of secrets back from a backup")
    case .newDeviceKey:
      Text.of("Type your login password to let Whorl give your store of secrets a new key for this computer")
    case .firstFinger:
      Text.of("Type your login password to let Whorl let a first finger open your store of secrets")
    case .newRecoveryKey:
      Text.of("Type your login password to let Whorl replace the recovery key of your store of secrets")
    }
  }
}

extension Polkit {
  /// Has polkit ask users for their own password before a program makes such a change of their store.
  ///
  /// - Throws: `notAuthorized`.
  package func authorizeOwner(_ caller: Caller, _ change: OwnersChange) async throws(VaultError) {
    try await require(.own, of: caller, asking: true, message: change.question)
  }

  /// Asks polkit, without a question to the user, whether a program may change the fingers that open its user's store.
  ///
  /// - Throws: `notAuthorized`.
  package func authorizeFingers(_ caller: Caller) async throws(VaultError) {
    try await require(.enroll, of: caller, asking: false)
  }

  /// Has polkit ask for an administrator's password before a finger is enrolled, where only administrators may enrol.
  ///
  /// - Throws: `notAuthorized`.
  package func authorizeEnrolment(_ caller: Caller, by enrollers: Enrollers) async throws(VaultError) {
    switch enrollers {
    case .users: return
    case .administrators: try await require(.enrollAsAdministrator, of: caller, asking: true)
    }
  }

  /// Asks polkit whether a program may test the reader. By default polkit asks for an administrator's password.
  ///
  /// - Throws: `notAuthorized`.
  package func authorizeTest(_ caller: Caller) async throws(VaultError) {
    try await require(.manage, of: caller, asking: true)
  }

  /// How often a person may type a wrong password before the request ends.
  private static let tries = 3

  /// - Parameter asking: whether polkit may ask for a password. It is asked for again where it was wrong, so that the
  ///   answers which a person has given to Whorl before are not lost by a typing error.
  private func require(
    _ action: PolkitAction, of caller: Caller, asking: Bool, message: String? = nil
  ) async throws(VaultError) {
    var verdict = await authorize(action, for: caller, asking: asking, message: message)
    for _ in 1..<Self.tries where verdict == .wrongPassword {
      verdict = await authorize(action, for: caller, asking: asking, message: message)
    }
    let problem: AuthorizationProblem
    var known = action.rawValue
    switch verdict {
    case .allowed: return
    case .denied: problem = .denied
    case .dismissed: problem = .dismissed
    case .wrongPassword: problem = .wrongPassword
    case .needsPassword: problem = asking ? .nobodyToAsk : .notAsked
    case .unavailable(let words):
      problem = .unavailable
      known += ": \(words)"
    }
    throw .notAuthorized(problem, action: known)
  }
}
