internal import Dispatch
internal import Glibc
internal import Prompts
internal import Synchronization

/// Waits for Enter and Esc on the terminal of a client while the person is asked for a finger there.
///
/// Meanwhile echo, line mode and signal keys are off. For Ctrl-C and the like it restores the settings before it sends
/// the signal to the client, since a shell keeps the settings that it finds when a program ends. Other keys are
/// dropped, since some people start to type the passcode. The settings are also restored while the client is stopped,
/// in the background, or not alone in the foreground.
package final class ClientTerminalKeys: Sendable {
  /// How often it is checked whether the client is in the foreground, in milliseconds.
  private static let patience: Int32 = 200
  /// How long after an Esc the rest of an escape sequence may arrive, in milliseconds.
  private static let escapeDelay: Int32 = 100

  /// The instances that read keys now, and whether the program is about to end.
  private static let running = Mutex((keys: [ObjectIdentifier: ClientTerminalKeys](), hasLeft: false))

  private let terminal: ClientTerminal
  private let mode: TerminalMode
  private let stopper = Stopper()
  private let ended = DispatchSemaphore(value: 0)

  /// Calls `pressed` with `enter` or `cancel` on a thread of its own, until ``stop()``.
  ///
  /// - Returns: nil if keys cannot be read: there is unread input of another program, another program has changed the
  ///   terminal's mode, or the client is not alone in the foreground.
  init?(on terminal: ClientTerminal, pressed: @escaping @Sendable (Key) -> Void) {
    guard terminal.foregroundGroup != nil, let descriptor = terminal.opened(O_RDWR) else { return nil }
    self.terminal = terminal
    mode = TerminalMode(of: descriptor)
    let isRunning = Self.running.withLock { running in
      // Outside of line mode an incomplete line counts as unread, too.
      guard !running.hasLeft, mode.begin(), !mode.hasInput else { return false }
      running.keys[ObjectIdentifier(self)] = self
      return true
    }
    guard isRunning else {
      mode.end()
      return nil
    }
    DispatchQueue(label: "whorl.client-keys").async { [self] in
      watch(pressed)
      mode.end()
      ended.signal()
    }
  }

  /// Stops reading, and returns when the terminal's settings are restored.
  func stop() {
    stopper.stop()
    ended.wait()
    ended.signal()
    Self.running.withLock { _ = $0.keys.removeValue(forKey: ObjectIdentifier(self)) }
  }

  /// Restores the settings of all clients' terminals. Called when the program is about to end.
  package static func leave() {
    let keys = running.withLock { running in
      running.hasLeft = true
      return Array(running.keys.values)
    }
    for each in keys { each.stop() }
  }

  private func watch(_ pressed: (Key) -> Void) {
    var decoder = KeyDecoder(mode.keys)
    // After Ctrl-Z the client needs a moment to stop.
    var isStopping = false
    while true {
      let group = isStopping ? nil : terminal.foregroundGroup
      let mayRead = group != nil && mode.begin()
      if !mayRead { mode.end() }
      isStopping = false
      var entries = [
        pollfd(fd: stopper.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: mode.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      // Borrows the entries for the call.
      let ready = poll(&entries, mayRead ? 2 : 1, decoder.isUndecided ? Self.escapeDelay : Self.patience)
      if ready < 0, errno != EINTR { return }
      if ready > 0, entries[0].revents != 0 { return }
      if ready == 0, decoder.isUndecided, let key = decoder.pause() { pressed(key) }
      // The client may have been stopped while this waited.
      guard ready > 0, mayRead, let group, terminal.foregroundGroup == group else { continue }
      var byte: UInt8 = 0
      // Writes at most one byte.
      let count = read(mode.descriptor, &byte, 1)
      // The terminal was closed.
      if count == 0 || count < 0 && errno != EAGAIN && errno != EINTR { return }
      if count == 1, let signal = mode.signal(of: byte) {
        mode.end()
        // Fails for programs of another user, such as those that sudo runs.
        kill(-group, signal)
        if signal != SIGTSTP { return }
        isStopping = true
      } else if count == 1, let key = decoder.take(byte), key == .enter || key == .cancel {
        pressed(key)
      }
    }
  }
}

/// The settings of a terminal, with echo and line mode turned off for a while.
private final class TerminalMode: Sendable {
  let descriptor: Int32
  /// The settings before and after the change; nil while nothing is changed.
  private let changed = Mutex<(before: termios, during: termios)?>(nil)

  /// Takes ownership of the descriptor.
  init(of descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  private var now: termios? {
    var settings = termios()
    return tcgetattr(descriptor, &settings) == 0 ? settings : nil
  }

  /// The bytes that edit a line.
  var keys: KeyDecoder.Settings { now.map { KeyDecoder.Settings($0) } ?? KeyDecoder.Settings() }

  /// Whether there is unread input.
  var hasInput: Bool {
    var count: Int32 = 0
    // The kernel writes the number of bytes.
    return ioctl(descriptor, UInt(FIONREAD), &count) != 0 || count > 0
  }

  /// The signal of a key, such as SIGINT for Ctrl-C.
  func signal(of byte: UInt8) -> Int32? {
    guard byte != 0, let before = changed.withLock({ $0?.before }), before.c_lflag & tcflag_t(ISIG) != 0 else {
      return nil
    }
    let keys = withUnsafeBytes(of: before.c_cc) { bytes in
      [(VINTR, SIGINT), (VQUIT, SIGQUIT), (VSUSP, SIGTSTP)].map { (bytes[Int($0)], $1) }
    }
    return keys.first { $0.0 == byte }?.1
  }

  /// Turns echo, line mode and signal keys off, also if another program has turned them on again.
  ///
  /// - Returns: false if another program has changed the terminal's mode.
  func begin() -> Bool {
    changed.withLock { changed in
      guard let now else { return false }
      if let changed, now.isSame(as: changed.during) { return true }
      // Without echo a program may be asking for a password.
      guard now.c_lflag & tcflag_t(ICANON | ECHO) == tcflag_t(ICANON | ECHO) else { return false }
      var during = now
      during.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
      guard tcsetattr(descriptor, TCSANOW, &during) == 0, let set = self.now else { return false }
      changed = (now, set)
      return true
    }
  }

  /// Restores the settings, unless another program has changed them since.
  func end() {
    changed.withLock { changed in
      guard var old = changed, let now, now.isSame(as: old.during) else { return }
      tcsetattr(descriptor, TCSANOW, &old.before)
      changed = nil
    }
  }
}

extension termios {
  /// Whether the modes are the same.
  fileprivate func isSame(as other: termios) -> Bool {
    (c_iflag, c_oflag, c_cflag, c_lflag) == (other.c_iflag, other.c_oflag, other.c_cflag, other.c_lflag)
  }
}
