// The claim of a reader of fprintd, and how long it is kept.

internal import Primitives
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
  ///
  /// - Returns: whether fprintd has refused.
  @discardableResult
  func release() async -> Bool {
    await Task(executorPreference: LoopTasks.shared) {
      do throws(ReaderError) {
        try await link.call(path, FprintdNames.device, "Release")
        return false
      } catch {
        let isRefused = await !link.isOver
        await link.close()
        return isRefused
      }
    }.value
  }
}

/// The claim of the open reader of fprintd. Claiming opens the device, which takes some readers many seconds, so the
/// first action that needs the claim takes it, and it is kept until the reader is closed or the machine sleeps.
///
/// `@unchecked Sendable`: used only on the bus loop.
final class FprintdHold: @unchecked Sendable {
  /// How long fprintd may take to stop a scan and to release its reader.
  private static let stopLimit = Duration.seconds(10)

  private let connector: FprintdConnector
  private var claim: FprintdClaim?
  /// Whether the reader is being claimed.
  private(set) var isTaking = false
  /// The task that stops the last action or releases the claim. The answer of an action does not wait for it.
  private var ending: Task<Void, Never>?
  /// Whether fprintd has refused to release the last claim.
  private(set) var isRefused = false

  init(_ connector: FprintdConnector) { self.connector = connector }

  /// The claim; nil if there is none, or fprintd has ended since.
  nonisolated(nonsending) func current() async -> FprintdClaim? {
    guard let claim, await !claim.link.isOver else { return nil }
    return claim
  }

  /// Claims the first of these readers that is free.
  ///
  /// - Parameter isOver: returns whether the claim is no longer wanted.
  nonisolated(nonsending) func take(
    firstFreeOf readers: [FprintdClaim], unless isOver: () -> Bool
  ) async throws(ReaderError) -> FprintdClaim {
    BusLoop.shared.checkIsolated()
    isTaking = true
    defer { isTaking = false }
    do throws(ReaderError) {
      let taken = try await FprintdClaim.takeFirstFree(of: readers, unless: isOver)
      (claim, isRefused) = (taken, false)
      return taken
    } catch {
      // An fprintd without clients ends after a while, which frees a reader that it keeps for nobody.
      await connector.drop()
      throw error
    }
  }

  /// Gives up a call that claims the reader: fprintd releases what it claims for a connection that has ended.
  nonisolated(nonsending) func giveUpTaking() async { if isTaking { await connector.drop() } }

  /// Stops the action, without waiting for it: if the reader was unplugged, fprintd may never answer.
  ///
  /// - Parameter isTold: whether this fprintd reports fingers. Others may still be stopping the action when they answer.
  func stop(_ action: FprintdAction, keepingClaim: Bool, isTold: Bool) {
    BusLoop.shared.checkIsolated()
    guard let claim else { return }
    if !keepingClaim { self.claim = nil }
    afterwards {
      await claim.stop(action.kind)
      if !isTold { await action.lastStatus() }
      if !keepingClaim { await self.release(claim) }
    }
  }

  /// Releases the claim, after the last action is stopped. If this takes too long, closes the connection: fprintd then
  /// ends the action and the claim, if it can, and the next call opens a new connection.
  nonisolated(nonsending) func release(within limit: Duration = stopLimit) async {
    BusLoop.shared.checkIsolated()
    if let claim {
      self.claim = nil
      afterwards { await self.release(claim) }
    }
    await ended(within: limit)
  }

  private func release(_ claim: FprintdClaim) async {
    if await claim.release() { isRefused = true }
  }

  /// Waits until the last action is stopped, or its claim released, with the same limit as ``release(within:)``.
  nonisolated(nonsending) func ended(within limit: Duration = stopLimit) async {
    guard let ending else { return }
    let hangUp = Task(executorPreference: LoopTasks.shared) { [connector] in
      try await Pause.wait(for: limit)
      await connector.drop()
    }
    await ending.value
    hangUp.cancel()
  }

  private func afterwards(_ body: @escaping @Sendable () async -> Void) {
    let last = ending
    ending = Task(executorPreference: LoopTasks.shared) {
      await last?.value
      await body()
    }
  }
}
