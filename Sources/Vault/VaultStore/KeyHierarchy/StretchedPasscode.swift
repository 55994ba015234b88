package import Keys
package import SecureMemory

/// A key derived from a new passcode by scrypt, with its parameters.
package struct StretchedPasscode {
  package let parameters: Scrypt.Parameters
  package let key: SharedSecret

  package init(parameters: Scrypt.Parameters, key: SharedSecret) {
    self.parameters = parameters
    self.key = key
  }
}

extension ScryptQueue {
  /// Derives a key from a new passcode or password by scrypt, with a new salt.
  package nonisolated(nonsending) func stretchNew(_ passcode: SharedSecret, for user: UInt32, _ floor: Scrypt.Floor)
    async throws(VaultError) -> StretchedPasscode
  {
    let parameters: Scrypt.Parameters
    do {
      parameters = try .fresh(floor: floor)
    } catch {
      throw VaultError(cause: error)
    }
    let turn = try await turn(for: user)
    return StretchedPasscode(parameters: parameters, key: try await turn.stretch(passcode, parameters, floor))
  }
}
