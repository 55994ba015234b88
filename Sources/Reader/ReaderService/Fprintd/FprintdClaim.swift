internal import Executors
internal import Fingerprint
internal import SDBus

/// A reader that is claimed from fprintd for one action.
struct FprintdClaim: Sendable {
  /// How long an action waits for another program to release the reader, and how often it tries: fprintd does not
  /// signal the release.
  private static let patience = Duration.seconds(10)
  private static let pause = Duration.milliseconds(200)

  let path: String
  let user: ReaderUser
  let link: FprintdConnection

  /// Claims the reader, and waits while another program has it.
  ///
  /// - Parameter isOver: returns whether the claim is no longer wanted.
  nonisolated(nonsending) func take(unless isOver: () -> Bool) async throws(ReaderError) {
    _ = try await Self.takeFirstFree(of: [self], unless: isOver)
  }

  /// Claims the first of these readers that is free, and waits while other programs have all of them.
  nonisolated(nonsending) static func takeFirstFree(
    of claims: [FprintdClaim], unless isOver: () -> Bool
  ) async throws(ReaderError) -> FprintdClaim {
    var waited = Duration.zero
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

  /// Starts an action of the claimed reader. Releases the reader if fprintd refuses.
  func start(_ kind: FprintdAction.Kind, _ argument: String) async throws(ReaderError) {
    do throws(ReaderError) {
      try await link.call(path, FprintdNames.device, kind.start, [.string(argument)])
    } catch {
      await release()
      throw error
    }
  }

  /// Stops the action and releases the reader.
  func stop(_ kind: FprintdAction.Kind) async {
    // If fprintd no longer runs, there is nothing to stop. If the reader is gone, fprintd may return an error.
    if await !link.isOver { _ = try? await link.call(path, FprintdNames.device, kind.stop) }
    await release()
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
