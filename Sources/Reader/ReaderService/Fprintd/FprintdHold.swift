internal import Executors
internal import Fingerprint
internal import SDBus

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
      claim = taken
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
      if !keepingClaim { await claim.release() }
    }
  }

  /// Releases the claim, after the last action is stopped. If this takes too long, closes the connection: fprintd then
  /// ends the action and the claim, if it can, and the next call opens a new connection.
  nonisolated(nonsending) func release(within limit: Duration = stopLimit) async {
    BusLoop.shared.checkIsolated()
    if let claim {
      self.claim = nil
      afterwards { await claim.release() }
    }
    await ended(within: limit)
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
