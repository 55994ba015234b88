internal import Executors
internal import Fingerprint
internal import SDBus

/// A claim of one of fprintd's readers, which keeps other programs from using it.
struct FprintdClaim: Sendable {
  /// How long to wait for another program to release the reader.
  private static let patience = Duration.seconds(10)
  /// The first pause between two tries, since fprintd does not signal the release. Each pause is twice as long as the
  /// one before, up to the longest.
  private static let firstPause = Duration.milliseconds(200)
  private static let longestPause = Duration.seconds(2)

  let path: String
  let user: ReaderUser
  let link: FprintdConnection

  /// Claims the first of these readers that is free, and waits while other programs have all of them.
  ///
  /// - Parameter isOver: returns whether the claim is no longer wanted.
  nonisolated(nonsending) static func takeFirstFree(
    of claims: [FprintdClaim], unless isOver: () -> Bool
  ) async throws(ReaderError) -> FprintdClaim {
    var waited = Duration.zero
    var pause = firstPause
    while true {
      var busy = ReaderError.absent
      for claim in claims {
        // Do not interrupt the call if the task is cancelled: it would be unknown whether the reader is claimed.
        switch await Task(executorPreference: LoopTasks.shared, operation: { await claim.refusal() }).value {
        case nil:
          guard Task.isCancelled || isOver() else { return claim }
          await claim.release()
          throw .cancelled
        case .busy(let holder)?: busy = .busy(holder: holder)
        case .some(let error): throw error
        }
      }
      guard waited < patience, !isOver() else { throw busy }
      do { try await Pause.wait(for: pause) } catch { throw .cancelled }
      waited += pause
      pause = min(pause * 2, longestPause, max(patience - waited, .milliseconds(1)))
    }
  }

  private func refusal() async -> ReaderError? {
    do throws(ReaderError) {
      try await link.call(path, FprintdNames.device, "Claim", [.string(user.name)])
      return nil
    } catch {
      return error
    }
  }

  /// Starts an action of the claimed reader.
  func start(_ kind: FprintdAction.Kind, _ argument: String) async throws(ReaderError) {
    try await link.call(path, FprintdNames.device, kind.start, [.string(argument)])
  }

  /// Stops the action.
  func stop(_ kind: FprintdAction.Kind) async {
    // If fprintd no longer runs, there is nothing to stop. If the reader is gone, fprintd may return an error.
    if await !link.isOver { _ = try? await link.call(path, FprintdNames.device, kind.stop) }
  }

  /// Runs to its end even if the task is cancelled. If fprintd refuses, closing the connection releases the reader.
  func release() async {
    await Task(executorPreference: LoopTasks.shared) {
      do throws(ReaderError) {
        try await link.call(path, FprintdNames.device, "Release")
      } catch {
        await link.close()
      }
    }.value
  }
}
