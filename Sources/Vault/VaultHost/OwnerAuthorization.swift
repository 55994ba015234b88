package import SecretModel
package import SystemPolicy

extension Polkit {
  /// Has polkit ask the user for their own password before a program takes a place for them: makes their store, gives it
  /// a new key file or enrols its first finger.
  ///
  /// - Throws: `notAuthorized`, and `serviceUnavailable` where polkit cannot be asked.
  package func authorizeOwner(_ caller: Caller) async throws(VaultError) {
    let action = PolkitAction.own
    switch await authorize(action, for: caller, asking: true) {
    case .allowed: return
    case .denied: throw .notAuthorized(action.rawValue)
    case .dismissed: throw .notAuthorized("\(action.rawValue): the question for the password was closed")
    case .needsPassword:
      throw .notAuthorized("\(action.rawValue): nobody is there to be asked for the user's own password")
    case .unavailable(let words): throw .serviceUnavailable("polkit cannot be asked: \(words)")
    }
  }
}
