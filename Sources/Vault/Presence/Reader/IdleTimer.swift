import Dispatch
import Synchronization
import VaultStore

/// Calls back once, after a timeout without activity.
///
/// Not `Task.sleep`: the timer of a cancelled sleep stays in memory until the sleep would have ended. A program that
/// reads hundreds of items a second would hold a minute's worth of such timers.
final class IdleTimer: Sendable {
  private static let queue = DispatchQueue(label: "whorl.timeouts")

  private let timeout: Duration
  private let activity: Activity
  private let expired: @Sendable () -> Void
  private let timer = Mutex<(any DispatchSourceTimer)?>(nil)

  init(_ timeout: Duration, _ activity: Activity, expired: @escaping @Sendable () -> Void) {
    (self.timeout, self.activity, self.expired) = (timeout, activity, expired)
    timer.withLock { timer in
      let source = DispatchSource.makeTimerSource(queue: Self.queue)
      source.setEventHandler { [weak self] in self?.look() }
      source.schedule(deadline: Self.deadline(after: timeout))
      source.activate()
      timer = source
    }
  }

  deinit { cancel() }

  func cancel() {
    timer.withLock { timer in
      timer?.cancel()
      timer = nil
    }
  }

  private func look() {
    let idle = activity.idle
    guard idle < timeout else { return expired() }
    timer.withLock { $0?.schedule(deadline: Self.deadline(after: timeout - idle)) }
  }

  private static func deadline(after duration: Duration) -> DispatchTime {
    let (seconds, attoseconds) = duration.components
    // A day at most, like the timeouts that can be configured.
    return .now() + .nanoseconds(Int(min(seconds, 86_400)) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
  }
}
