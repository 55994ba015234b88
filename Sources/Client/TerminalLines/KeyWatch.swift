internal import Dispatch

/// Waits for Enter, Esc and Ctrl-R while a call runs. Other keys are dropped and not shown, since some people start to
/// type the passcode.
package final class KeyWatch: Sendable {
  private let stopper = Stopper()
  private let ended = DispatchSemaphore(value: 0)

  /// What Ctrl-R sends. Not a letter: people may start to type the passcode.
  package static let reject = Key.text(0x12)

  /// Calls `pressed` with `enter`, `cancel` or ``reject`` on a thread of its own, until ``stop()``. Nil where no key
  /// can be read: the program is in the background, or the terminal is gone.
  package init?(on terminal: Terminal, pressed: @escaping @Sendable (Key) -> Void) {
    guard terminal.isForeground, terminal.beginKeys() else { return nil }
    // Discard earlier input here, not on the thread: when that starts, the prompt may be shown and a key pressed for it.
    terminal.discardInput()
    let (stopper, ended) = (stopper, ended)
    DispatchQueue(label: "whorl.keys").async {
      var keys = Keys(terminal, .watch, stopper)
      while let key = keys.next() {
        if key == .enter || key == .cancel || key == Self.reject { pressed(key) }
      }
      terminal.discardInput()
      terminal.endKeys()
      ended.signal()
    }
  }

  /// Stops, and returns when the terminal's settings have been restored.
  package func stop() {
    stopper.stop()
    ended.wait()
    ended.signal()
  }
}
