internal import Dispatch
internal import Glibc
internal import Synchronization

/// Waits for Enter on the terminal while a finger is awaited, for whoever wants the fallback. The terminal stays as it
/// is: a program that is ended by a signal meanwhile leaves nothing to put right.
final class FallbackKey: Sendable {
  private let ended = Mutex(false)

  /// Calls `chosen` once, from a thread of its own, unless ``stop()`` comes first. Nil where nobody can press a key: there
  /// is no terminal, or it listens to another program.
  init?(chosen: @escaping @Sendable () -> Void) {
    let terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
    guard terminal >= 0 else { return nil }
    guard tcgetpgrp(terminal) == getpgrp() else {
      close(terminal)
      return nil
    }
    // Keys from before the question are no answer to it.
    tcflush(terminal, TCIFLUSH)
    DispatchQueue(label: "whorl.fallback").async {
      let pressed = self.wait(on: terminal)
      close(terminal)
      if pressed { chosen() }
    }
  }

  /// Ends the waiting: what is typed from now on is somebody else's.
  func stop() { ended.withLock { $0 = true } }

  private func wait(on terminal: Int32) -> Bool {
    while true {
      var entry = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
      // Borrows the entry for the call.
      let ready = poll(&entry, 1, 100)
      let pressed: Bool? = ended.withLock { ended in
        guard !ended else { return false }
        // A terminal that is gone, or listens to another program by now, says nothing.
        guard entry.revents & Int16(POLLIN) != 0, tcgetpgrp(terminal) == getpgrp() else {
          ended = ready > 0
          return ready > 0 ? false : nil
        }
        // Taken inside the lock: a line that is typed after `stop` answers the next question.
        tcflush(terminal, TCIFLUSH)
        ended = true
        return true
      }
      if let pressed { return pressed }
    }
  }
}

/// The keys that are waited for, each for the request of one context.
final class FallbackKeys: Sendable {
  private let keys = Mutex<[ObjectIdentifier: FallbackKey]>([:])

  /// Whether the fallback of this request can be chosen with Enter; waits for it from now on.
  func watch(for session: PromptSession) -> Bool {
    let request = ObjectIdentifier(session.words)
    return keys.withLock { keys in
      // The call may have ended, and ``stop(_:)`` have come, before this.
      guard session.isAsking else { return false }
      if keys[request] == nil {
        keys[request] = FallbackKey { Task { await session.chooseFallback() } }
      }
      return keys[request] != nil
    }
  }

  func stop(_ session: PromptSession) {
    keys.withLock { $0.removeValue(forKey: ObjectIdentifier(session.words)) }?.stop()
  }
}
