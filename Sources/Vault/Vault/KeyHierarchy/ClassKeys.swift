import Executors
package import SecretModel
import Synchronization

/// Which classes of a store's items are open, and the key that opens them, for as long as the process runs: whoever keeps
/// this value may close and open the database meanwhile.
///
/// Where the first unlock takes the passcode, the key of `after-first-unlock` is wrapped under the passcode key, and those
/// of the other classes under that key. This value holds that one key; each other is unwrapped for one use and wiped, so
/// that nothing of it is in memory while the user's sessions are locked (docs/decisions/0044).
package final class ClassKeys: Sendable {
  /// Without any unlock for so many nanoseconds since boot, the passcode is asked for again.
  ///
  /// Both limits are those of Apple Platform Security, "Passcodes and passwords": a passcode is required when the device
  /// has not been unlocked for more than 48 hours, or the passcode has not been used for 156 hours (six and a half days).
  static let unlockLimit: UInt64 = 48 * 3_600 * 1_000_000_000
  /// Without the passcode for so many nanoseconds since boot, it is asked for again.
  static let passcodeLimit: UInt64 = 156 * 3_600 * 1_000_000_000

  private struct Unlock {
    let key: SecretBox
    /// The database whose key it is.
    let databaseID: [UInt8]
    /// When the passcode was given, and when passcode or finger last were, in nanoseconds since boot.
    let passcode: UInt64
    var last: UInt64

    /// Nanoseconds until the passcode is asked for again; nil when it is now.
    func remaining(_ now: UInt64) -> UInt64? {
      let (sincePasscode, sinceLast) = (now &- passcode, now &- last)
      guard sincePasscode < ClassKeys.passcodeLimit, sinceLast < ClassKeys.unlockLimit else { return nil }
      return min(ClassKeys.passcodeLimit - sincePasscode, ClassKeys.unlockLimit - sinceLast)
    }
  }

  private struct State {
    var unlock: Unlock?
    /// Drops the key when its time is over, and not at the next use only.
    var expiring: Task<Void, Never>?
    var sessionsLocked = false
    /// How many times the sessions were locked.
    var locks: UInt64 = 0
  }

  /// What the first unlock takes at least, whatever the store says: one that says less is changed when its passcode is
  /// next given.
  let firstUnlock: FirstUnlock
  private let state = Mutex(State())

  package init(firstUnlock: FirstUnlock = .none) { self.firstUnlock = firstUnlock }

  /// Whether the passcode has opened something that is still open.
  package var isOpen: Bool { state.withLock { $0.unlock != nil } }

  /// The passcode was right: remembers the key that it opened.
  func open(_ key: SecretBox, of databaseID: [UInt8], _ clock: BootClock) {
    let now = clock.now()
    state.withLock { state in
      state.unlock = Unlock(key: key, databaseID: databaseID, passcode: now, last: now)
      state.expiring?.cancel()
      state.expiring = Task(executorPreference: BackgroundThread.shared) { [weak self] in
        // Looks again at least once an hour: a finger gives it more time, and a machine that slept has used some up.
        while !Task.isCancelled, let left = self?.expire(clock) {
          try? await Task.sleep(for: min(.nanoseconds(Int64(clamping: left)), .seconds(3_600)))
        }
      }
    }
  }

  /// A finger was right.
  func noteFinger(_ clock: BootClock) {
    let now = clock.now()
    state.withLock { state in
      if state.unlock?.remaining(now) != nil { state.unlock?.last = now }
    }
  }

  /// Forgets the key: the passcode is asked for again.
  func close() {
    state.withLock { state in
      state.unlock = nil
      state.expiring?.cancel()
      state.expiring = nil
    }
  }

  /// The key of `after-first-unlock`; nil until the passcode was given, and when it is to be given again.
  func key(of databaseID: [UInt8], _ clock: BootClock) -> SecretBox? {
    let now = clock.now()
    return state.withLock { state in
      if state.unlock?.remaining(now) == nil { state.unlock = nil }
      return state.unlock.flatMap { $0.databaseID == databaseID ? $0.key : nil }
    }
  }

  /// Forgets the key where its time is over. Gives the nanoseconds that it has left; nil where there is none.
  func expire(_ clock: BootClock) -> UInt64? {
    let now = clock.now()
    return state.withLock { state in
      let remaining = state.unlock?.remaining(now)
      if remaining == nil { state.unlock = nil }
      return remaining
    }
  }

  /// Whether all sessions of the user are locked, as far as was told.
  var sessionsAreLocked: Bool { state.withLock { $0.sessionsLocked } }

  /// All sessions of the user are locked now, or the machine is about to sleep.
  func sessionsLocked() {
    state.withLock { state in
      state.sessionsLocked = true
      state.locks += 1
    }
  }

  /// How many times the sessions were locked: to be taken before they are looked at.
  var locks: UInt64 { state.withLock { $0.locks } }

  /// What a look at the sessions has shown; nothing where they were locked since it began.
  func note(sessionsUnlocked: Bool, asOf locks: UInt64) {
    state.withLock { state in
      if state.locks == locks { state.sessionsLocked = !sessionsUnlocked }
    }
  }
}
