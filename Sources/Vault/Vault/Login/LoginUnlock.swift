import Keys
package import Presence
import Primitives
package import SecretModel
import VaultItems
import VaultStore

/// How logins open a store of the service after its start.
struct LoginUnlock {
  /// After this many wrong passcodes in a row, login passwords are no longer tried as the passcode, so that they do not
  /// use up the tries without a delay.
  private static let wrongTriesOfLogins: UInt32 = 2

  let passcodes: Passcodes

  private var store: Store { passcodes.store }

  /// Chooses what opens the items after each start. Asks for the passcode.
  ///
  /// - Throws: `invalidRequest` for `none`, in a store whose first unlock takes no passcode, and for `login` where the
  ///   administrator requires the passcode.
  func setRule(_ rule: FirstUnlock, _ context: Context) async throws(VaultError) {
    guard rule != .none, store.classKeys.firstUnlock != .none else {
      throw .invalidRequest("what opens a store after a start can be chosen in the service alone: passcode or login")
    }
    guard rule == .passcode || store.classKeys.firstUnlock == .login else {
      throw .invalidRequest(
        "the administrator asks for the passcode after each start (require-passcode-after-boot in whorld.conf)")
    }
    let passcode = try await passcodes.prove(context)
    try store.commit { change in
      try passcode.requireCurrent(change)
      guard rule == .login else { return try change.remove(.loginKey) }
      guard let first = try change.openClassKeys(with: passcode.key.bytes) else {
        throw VaultError.storeDamaged("the key of the \(Accessibility.afterFirstUnlock.plainName) is gone")
      }
      try change.put(
        Slot(.loginKey, wrapping: first.bytes, under: store.keys.root, databaseID: store.keys.databaseID))
    }
    // The log may still hold a wrapping that needs no passcode.
    if rule != .login { store.database.forgetOldPages() }
  }

  /// Opens `after-first-unlock` for a login, if the store's rule allows it.
  ///
  /// - Returns: whether the class is open now.
  /// - Throws: `restoreDetected` where an earlier copy of the store was put back.
  func open() throws(VaultError) -> Bool {
    let (isOpen, first) = try store.read { snapshot -> (Bool, SharedSecret?) in
      if try snapshot.closed(.afterFirstUnlock) == nil { return (true, nil) }
      // The administrator may require the passcode even if the user has chosen the login before.
      guard store.classKeys.firstUnlock != .passcode, let slot = try snapshot.slot(.loginKey) else {
        return (false, nil)
      }
      guard !snapshot.authority.restored else { throw VaultError.restoreDetected }
      do {
        return (false, SharedSecret(try slot.unwrap(under: store.keys.root, databaseID: store.keys.databaseID)))
      } catch let error as KeysError {
        throw VaultError(cause: error)
      }
    }
    guard let first else { return isOpen }
    passcodes.opened(first)
    return true
  }

  /// Whether a login password may be tried as the passcode.
  var takesPasscode: Bool {
    get throws(VaultError) {
      try store.read { snapshot in
        try snapshot.slot(.passcode) != nil && !snapshot.authority.restored
          && snapshot.authority.lockout.passcode.failures < Self.wrongTriesOfLogins
      }
    }
  }
}

/// The calls about logins.
extension Vault {
  private var loginUnlock: LoginUnlock { LoginUnlock(passcodes: presence.passcodes) }

  /// Chooses what opens the items of a store of the service after each start. Asks for the passcode.
  package func setFirstUnlock(_ rule: FirstUnlock, _ request: Request) async throws(VaultError) {
    let turn = try await presence.contexts.turn(of: request)
    try await loginUnlock.setRule(rule, turn.context)
  }

  /// Opens `after-first-unlock` for a login of the owner, if the store's rule allows it. Returns whether it is open.
  func openForLogin() throws(VaultError) -> Bool { try loginUnlock.open() }

  /// Whether a login password may be tried as the passcode.
  func takesPasscodeOfLogin() throws(VaultError) -> Bool { try loginUnlock.takesPasscode }

  /// Asks for an enrolled finger, to authenticate the owner to a login program. The match releases nothing.
  func verifyForLogin(_ request: Request) async throws(VaultError) {
    let turn = try await presence.contexts.turn(of: request)
    try await presence.authorizer.verifyForLogin(turn.context)
  }
}
