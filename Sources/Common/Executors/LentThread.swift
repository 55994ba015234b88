internal import Glibc

/// A thread that itself runs the vault's jobs that it enqueues, which saves two thread switches.
package protocol LentThread: AnyObject, Sendable {
  /// Runs a closure on this thread after the current one has returned. Called only on this thread.
  func adopt(_ body: @escaping @Sendable () -> Void)
  /// Whether the vault must continue on its own thread.
  var isTakenBack: Bool { get }
  /// Called on this thread before its code waits for other programs.
  func willWait()
}

/// The current thread, if it is lent.
package enum CurrentThread {
  /// Lends the current thread until it ends.
  package static func lend(_ thread: any LentThread) {
    guard lent !== thread else { return }
    // transfer full: the slot keeps this object for good, because threads that are lent like this never end.
    pthread_setspecific(key, Unmanaged.passRetained(Slot(thread)).toOpaque())
  }

  static var lent: (any LentThread)? {
    pthread_getspecific(key).map { Unmanaged<Slot>.fromOpaque($0).takeUnretainedValue().thread }
  }

  /// Call it before the vault's code waits for other programs. A lent thread that others need is then replaced by
  /// another one.
  package static func willWait() { lent?.willWait() }

  private final class Slot {
    let thread: any LentThread
    init(_ thread: any LentThread) { self.thread = thread }
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    precondition(pthread_key_create(&key, nil) == 0, "no slot for lent threads")
    return key
  }()
}
