internal import Dispatch

/// Waits for Enter and Esc while a call runs. What else is typed is dropped and does not show: some people type the
/// passcode at once.
final class KeyWatch: Sendable {
  private let stopper = Stopper()
  private let ended = DispatchSemaphore(value: 0)

  /// Calls `pressed` with `enter` or `cancel` from a thread of its own, until ``stop()``. Nil where nobody can press a key:
  /// the terminal listens to another program, or has gone.
  init?(on terminal: Terminal, pressed: @escaping @Sendable (Key) -> Void) {
    guard terminal.isForeground, terminal.beginKeys() else { return nil }
    let (stopper, ended) = (stopper, ended)
    DispatchQueue(label: "whorl.keys").async {
      var keys = Keys(terminal, .watch, stopper)
      while let key = keys.next() {
        if key == .enter || key == .cancel { pressed(key) }
      }
      terminal.discardInput()
      terminal.endKeys()
      ended.signal()
    }
  }

  /// Ends the waiting, and returns when the terminal is as it was.
  func stop() {
    stopper.stop()
    ended.wait()
    ended.signal()
  }
}
