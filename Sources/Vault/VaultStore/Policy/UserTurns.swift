package import Primitives

/// Schedules slow work of all vaults of a process, off their executors. Users take turns, and each has one at a time.
package struct UserTurns: Sendable {
  private let queue: FairQueue<UInt32>
  private let waitingLimit: Int
  private let what: String

  /// - Parameters:
  ///   - width: how many users have a turn at a time.
  ///   - waitingLimit: how many calls of one user may wait.
  ///   - what: the name of the work, for the error of a call over the limit.
  package init(width: Int, waitingLimit: Int, what: String) {
    queue = FairQueue(width: width, waitingLimit: waitingLimit)
    (self.waitingLimit, self.what) = (waitingLimit, what)
  }

  /// Waits for a turn of this user.
  ///
  /// - Throws: `busy` where too many calls wait, `cancelled` where the task was cancelled.
  package nonisolated(nonsending) func turn(for user: UInt32) async throws(VaultError) -> QueueTurn {
    guard !Task.isCancelled else { throw .cancelled }
    do throws(QueueRefusal) {
      return try await queue.turn(for: user)
    } catch .tooManyWait {
      throw .busy("\(waitingLimit) \(what)")
    } catch {
      throw .cancelled
    }
  }
}
