import Executors
package import Keys
import SecretModel
package import SecureMemory

/// Runs scrypt on passcodes and passwords, off the vaults' executors, for all vaults of a process.
///
/// scrypt takes 128 MiB and most of a second. One derivation for each user runs at a time, and two in all. Users take
/// turns, so that one who tries many passcodes does not keep others from unlocking. Those that wait keep only their
/// passcodes in memory, so a user may have as many as a script would start, and more than there are connections.
package final class ScryptQueue: Sendable {
  private let turns = UserTurns(width: 2, waitingLimit: 512, what: "passcodes and passwords wait to be checked")

  package init() {}

  /// The right to derive keys for a user, until this value is destroyed.
  package struct Turn: ~Copyable {
    private let turn: QueueTurn

    fileprivate init(_ turn: consuming QueueTurn) { self.turn = turn }

    nonisolated(nonsending)
      package func stretch(_ passcode: SharedSecret, _ parameters: Scrypt.Parameters, _ floor: Scrypt.Floor)
      async throws(VaultError) -> SharedSecret
    {
      try await BlockingCall.run { () throws(VaultError) in
        do throws(KeysError) {
          return SharedSecret(try Scrypt.derive(passcode: passcode.bytes, parameters: parameters, floor: floor))
        } catch {
          throw VaultError(cause: error)
        }
      }
    }
  }

  /// Waits until a key may be derived for this user.
  ///
  /// - Throws: `busy` where too many derivations wait, `cancelled` where the task was cancelled.
  package nonisolated(nonsending) func turn(for user: UInt32) async throws(VaultError) -> Turn {
    Turn(try await turns.turn(for: user))
  }
}

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
