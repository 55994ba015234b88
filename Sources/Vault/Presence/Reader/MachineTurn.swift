import Primitives
import VaultStore

/// This process's turn at the readers of the machine, where each user's vault is a process of its own: one process uses
/// them at a time, so that one touch cannot answer the requests of two users.
///
/// It is a file lock, which the kernel frees however the process ends.
package actor MachineTurn {
  /// What has to end before another process can use the readers.
  package enum Readers: Sendable {
    /// A system unit serves one connection at a time.
    case ofUnits
    /// This process has a reader process of its own, which has no reader open between requests.
    case ofOwnProcess
  }

  private let executor = VaultExecutor()
  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// How long the turn is kept after readers were only listed. The request for a finger that often follows then needs no
  /// new connection to a unit.
  private static let lingering = Duration.milliseconds(300)
  /// How often a process that waits looks.
  private static let look = Duration.milliseconds(50)
  /// How long a process that had the turn does not take it again: twice the time in which each that waits has looked.
  private static let pause = Duration.milliseconds(100)

  private let path: String
  private let readers: Readers
  private var lock: FileLock?
  /// How many requests of this process use the turn.
  private var users = 0
  /// Counts the ends of use, so that the timer of an earlier one ends nothing.
  private var ends = 0
  private var isFreeing = false
  private var freed: ContinuousClock.Instant?

  /// - Parameter path: of the lock, in a folder that only the vault processes can write to.
  package init(_ path: String, at readers: Readers) {
    self.path = path
    self.readers = readers
  }

  /// Waits until no other process uses the readers. ``giveBack(_:after:)`` has to follow.
  ///
  /// - Parameter told: called once if another process uses them for a second.
  /// - Throws: `cancelled` if the task is cancelled.
  func take(told: @Sendable () -> Void = {}) async throws(VaultError) {
    var looks = 0
    while lock == nil || isFreeing {
      guard !Task.isCancelled else { throw .cancelled }
      if !isFreeing, freed.map({ .now - $0 >= Self.pause }) ?? true, let taken = try FileLock.trying(path, .exclusive) {
        lock = taken
        break
      }
      looks += 1
      if looks == 20 { told() }
      try? await Pause.wait(for: Self.look)
    }
    users += 1
  }

  /// When the last scan of any process ended, if its finger was not seen to leave; 0 if it was. In nanoseconds since boot.
  var fingerMayRestSince: UInt64 { lock?.note ?? 0 }

  /// Notes for the next process when the last scan ended.
  func note(fingerMayRestSince time: UInt64) { lock?.leave(time) }

  /// What the turn was used for.
  enum Use {
    case request, list
  }

  /// Ends one use of the turn.
  ///
  /// - Parameter reader: what used the readers.
  func giveBack(_ reader: any FingerprintReader, after use: Use) async {
    users -= 1
    ends += 1
    guard users == 0 else { return }
    switch use {
    case .request: await free(ends, reader)
    case .list:
      let number = ends
      Task(executorPreference: BackgroundThread.shared) {
        try? await Pause.wait(for: Self.lingering)
        await self.free(number, reader)
      }
    }
  }

  private func free(_ number: Int, _ reader: any FingerprintReader) async {
    guard users == 0, ends == number else { return }
    isFreeing = true
    if case .ofUnits = readers { await reader.shutdown() }
    isFreeing = false
    lock = nil
    freed = .now
  }
}
