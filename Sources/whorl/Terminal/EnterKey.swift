import CLinux
import Dispatch
import Glibc
import Synchronization

/// Watches the terminal for Enter while a finger is awaited. What is typed meanwhile does not show, since some people
/// type the passcode at once.
final class EnterKey: Sendable {
  /// Made readable to end the watching; nil once it has ended.
  private let stopper: Mutex<Int32?>

  /// Calls `pressed` once, from a thread of its own, unless ``stop()`` comes first.
  init(on terminal: Terminal, pressed: @escaping @Sendable () -> Void) {
    let descriptor = eventfd(0, Int32(EFD_CLOEXEC))
    stopper = Mutex(descriptor)
    // Keys from before the question are no answer to it.
    tcflush(terminal.descriptor, TCIFLUSH)
    terminal.hide()
    DispatchQueue(label: "enter-key").async {
      let entered = terminal.waitForLine(stop: descriptor)
      if entered { tcflush(terminal.descriptor, TCIFLUSH) }
      terminal.show()
      self.stopper.withLock { $0 = nil }
      close(descriptor)
      if entered { pressed() }
    }
  }

  /// Ends the watching.
  func stop() {
    stopper.withLock { if let descriptor = $0 { eventfd_write(descriptor, 1) } }
  }
}
