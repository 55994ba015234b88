package import Keys
package import Primitives
import SecretModel
import Synchronization

/// Runs scrypt on passcodes and passwords, off the vaults' executors, for all vaults of a process.
///
/// scrypt takes 128 MiB and most of a second. One derivation for each user runs at a time, and two in all, also where each
/// user's vault is a process of its own. Users take turns, so that one who tries many passcodes does not keep others from
/// unlocking. Those that wait keep only their passcodes in memory, so a user may have as many as a script would start, and
/// more than there are connections.
package final class ScryptQueue: Sendable {
  private static let width = 2
  /// How often a process that waits looks for a free place, and how long one that had a place takes none again.
  private static let (look, pause) = (Duration.milliseconds(20), Duration.milliseconds(50))

  private let turns = UserTurns(width: width, waitingLimit: 512, what: "passcodes and passwords wait to be checked")
  /// The locks of the places that all vault processes share; empty for a process that shares none.
  private let places: [String]
  private let freed = FreedPlace()

  /// - Parameter folder: of the locks that all vault processes share; nil: this process is alone.
  package init(sharedIn folder: String? = nil) {
    places = folder.map { folder in (0..<Self.width).map { "\(folder)/scrypt-\($0).lock" } } ?? []
  }

  /// When this process last had a place.
  fileprivate final class FreedPlace: Sendable {
    private let time = Mutex<ContinuousClock.Instant?>(nil)

    func note() { time.withLock { $0 = .now } }

    var isLongAgo: Bool { time.withLock { time in time.map { .now - $0 >= ScryptQueue.pause } ?? true } }
  }

  /// The right to derive keys for a user, until this value is destroyed.
  package struct Turn: ~Copyable {
    private let turn: QueueTurn
    private let place: FileLock?
    private let freed: FreedPlace

    fileprivate init(_ turn: consuming QueueTurn, _ place: FileLock?, _ freed: FreedPlace) {
      self.turn = turn
      self.place = place
      self.freed = freed
    }

    deinit { if place != nil { freed.note() } }

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
    let turn = try await turns.turn(for: user)
    return Turn(turn, try await place(), freed)
  }

  /// Waits for a place among those of all vault processes. The kernel frees it however this process ends.
  private nonisolated(nonsending) func place() async throws(VaultError) -> FileLock? {
    guard !places.isEmpty else { return nil }
    while true {
      if freed.isLongAgo {
        for place in places {
          if let lock = try FileLock.trying(place, .exclusive) { return lock }
        }
      }
      guard !Task.isCancelled else { throw .cancelled }
      try? await Pause.wait(for: Self.look)
    }
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
