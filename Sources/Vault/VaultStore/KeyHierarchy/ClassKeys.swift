package import Primitives
package import SecretModel
import Synchronization

/// Holds which classes of a store's items are open, and the key that opens them. It outlives a database that is closed
/// and reopened.
///
/// If the first unlock takes the passcode, the key of `after-first-unlock` is wrapped under the passcode key, and the
/// keys of the other classes under the key of `after-first-unlock`. This value holds the key of `after-first-unlock`
/// alone. The others are unwrapped for one use and wiped, so that they are not in memory while the user's sessions are
/// locked (docs/decisions/0044).
package final class ClassKeys: Sendable {
  /// The passcode must be given again this many nanoseconds after the last unlock.
  ///
  /// Both limits are those of Apple Platform Security, "Passcodes and passwords": a passcode is required when the device
  /// has not been unlocked for more than 48 hours, or the passcode has not been used for 156 hours (six and a half days).
  static let unlockLimit: UInt64 = 48 * 3_600 * 1_000_000_000
  /// The passcode must be given again this many nanoseconds after it was last given.
  static let passcodeLimit: UInt64 = 156 * 3_600 * 1_000_000_000

  private struct Unlock {
    let key: SharedSecret
    /// The database that the key belongs to.
    let databaseID: [UInt8]
    /// When the passcode was given, and when a passcode or finger was last given, in nanoseconds since boot.
    let passcode: UInt64
    var last: UInt64

    /// Nanoseconds until the passcode must be given again; nil if it must be given now.
    func remaining(_ now: UInt64) -> UInt64? {
      let (sincePasscode, sinceLast) = (now &- passcode, now &- last)
      guard sincePasscode < ClassKeys.passcodeLimit, sinceLast < ClassKeys.unlockLimit else { return nil }
      return min(ClassKeys.passcodeLimit - sincePasscode, ClassKeys.unlockLimit - sinceLast)
    }
  }

  private struct State {
    var unlock: Unlock?
    /// Drops the key when it expires, rather than at its next use.
    var expiring: Task<Void, Never>?
    var sessionsLocked = false
    /// How often the sessions were locked.
    var locks: UInt64 = 0
    /// How often the key was dropped.
    var drops: UInt64 = 0
  }

  /// The least that the first unlock requires, whatever the store's own rule. A store that requires less is changed
  /// when its passcode is next given. If this is the passcode, no login opens the store.
  package let firstUnlock: FirstUnlock
  /// Grows whenever the key is kept or dropped, the sessions are locked, or ``Store`` changes what proves its owner.
  package let changes = GrowingCount()
  private let state = Mutex(State())

  package init(firstUnlock: FirstUnlock = .none) { self.firstUnlock = firstUnlock }

  /// Keeps the key that the right passcode has opened.
  package func open(_ key: SharedSecret, of databaseID: [UInt8], _ clock: BootClock) {
    defer { changes.increment() }
    let now = clock.now()
    state.withLock { state in
      state.unlock = Unlock(key: key, databaseID: databaseID, passcode: now, last: now)
      state.expiring?.cancel()
      state.expiring = Task(executorPreference: BackgroundThread.shared) { [weak self] in
        // Checks at least once an hour, since a finger extends the time, and time passes while the machine sleeps.
        while !Task.isCancelled, let left = self?.expire(clock) {
          try? await Pause.wait(for: min(.nanoseconds(Int64(clamping: left)), .seconds(3_600)))
        }
      }
    }
  }

  /// Notes that a finger matched, which extends the time.
  package func noteFinger(_ clock: BootClock) {
    let now = clock.now()
    state.withLock { state in
      if state.unlock?.remaining(now) != nil { state.unlock?.last = now }
    }
  }

  /// Drops the key: the passcode must be given again.
  package func close() {
    defer { changes.increment() }
    state.withLock { state in
      state.unlock = nil
      state.drops += 1
      state.expiring?.cancel()
      state.expiring = nil
    }
  }

  /// The key of `after-first-unlock`; nil before the passcode was given, and after the key has expired.
  func key(of databaseID: [UInt8], _ clock: BootClock) -> SharedSecret? {
    guard expire(clock) != nil else { return nil }
    return state.withLock { state in state.unlock.flatMap { $0.databaseID == databaseID ? $0.key : nil } }
  }

  /// Drops the key if it has expired. Returns the nanoseconds that it has left; nil without a key.
  package func expire(_ clock: BootClock) -> UInt64? {
    let now = clock.now()
    let (remaining, isDropped): (UInt64?, Bool) = state.withLock { state in
      let remaining = state.unlock?.remaining(now)
      guard remaining == nil, state.unlock != nil else { return (remaining, false) }
      state.unlock = nil
      state.drops += 1
      return (nil, true)
    }
    if isDropped { changes.increment() }
    return remaining
  }

  /// Whether all sessions of the user are locked, as last reported.
  var sessionsAreLocked: Bool { state.withLock { $0.sessionsLocked } }

  /// Notes that all sessions of the user are locked, or that the machine is about to sleep.
  package func sessionsLocked() {
    defer { changes.increment() }
    state.withLock { state in
      state.sessionsLocked = true
      state.locks += 1
    }
  }

  /// How often the sessions were locked. Read it before asking for the state of the sessions.
  var locks: UInt64 { state.withLock { $0.locks } }

  /// How often what was open has been closed, even if it was opened again since: by locked sessions, a lock or time.
  package var closings: Int { state.withLock { Int(clamping: $0.locks + $0.drops) } }

  /// Notes the state of the sessions, unless they were locked since the question was asked.
  func note(sessionsUnlocked: Bool, asOf locks: UInt64) {
    state.withLock { state in
      if state.locks == locks { state.sessionsLocked = !sessionsUnlocked }
    }
  }
}
