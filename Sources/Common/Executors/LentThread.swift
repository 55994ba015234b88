internal import Glibc

/// A thread that runs the vault's code where that is enqueued from it: that saves the change to the vault's own thread,
/// and the change back.
package protocol LentThread: AnyObject, Sendable {
  /// Runs something on this thread, from which alone it is called, when what is running now has returned.
  func adopt(_ body: @escaping @Sendable () -> Void)
  /// Whether the vault is to go on elsewhere.
  var isTakenBack: Bool { get }
  /// What runs on this thread, from which alone it is called, is about to wait for other programs.
  func willWait()
}

/// The lent thread that is running, if it is one.
package enum CurrentThread {
  /// Lends the current thread for as long as `body` runs.
  package static func lend(_ thread: any LentThread, during body: () -> Void) {
    let outer = pthread_getspecific(key)
    let slot = Slot(thread)
    defer { pthread_setspecific(key, outer) }
    withExtendedLifetime(slot) {
      // The thread's slot holds this object for as long as the body runs (transfer none).
      pthread_setspecific(key, Unmanaged.passUnretained(slot).toOpaque())
      body()
    }
  }

  /// Lends the current thread until it ends.
  package static func lend(_ thread: any LentThread) {
    guard lent !== thread else { return }
    // transfer full: the slot keeps this object for good, because the threads that are lent so never end.
    pthread_setspecific(key, Unmanaged.passRetained(Slot(thread)).toOpaque())
  }

  static var lent: (any LentThread)? {
    pthread_getspecific(key).map { Unmanaged<Slot>.fromOpaque($0).takeUnretainedValue().thread }
  }

  /// To be called where code of the vault is about to wait for other programs. A thread that others need too is
  /// replaced there meanwhile.
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
