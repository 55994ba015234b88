internal import SDBus

/// Ends a process that nobody uses: no call runs and no reader is open for a time.
package actor IdleEnd {
  package nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

  private let limit: Duration
  private let end: @Sendable () -> Void
  private var calls = 0
  private var isOpen = false
  private var timer: LoopTimer?

  /// - Parameter end: runs on the bus loop.
  package init(after limit: Duration, _ end: @escaping @Sendable () -> Void) {
    self.limit = limit
    self.end = end
  }

  /// The time runs from now on. It needs the bus loop, and so a thread.
  package nonisolated func begin() {
    BusLoop.shared.post { self.assumeIsolated { $0.look() } }
  }

  // To be called on the bus loop.
  nonisolated func callBegan() { note { $0.calls += 1 } }
  nonisolated func callEnded() { note { $0.calls -= 1 } }
  nonisolated func readerOpened() { note { $0.isOpen = true } }
  nonisolated func readerClosed() { note { $0.isOpen = false } }

  private nonisolated func note(_ change: @Sendable (isolated IdleEnd) -> Void) {
    assumeIsolated { idle in
      change(idle)
      idle.look()
    }
  }

  private func look() {
    timer?.cancel()
    timer = calls == 0 && !isOpen ? LoopTimer(after: limit, end) : nil
  }
}
