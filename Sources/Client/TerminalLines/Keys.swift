internal import CLinux
internal import Glibc
internal import Synchronization

/// Ends a wait for a key.
package final class Stopper: Sendable {
  package let descriptor = eventfd(0, Int32(EFD_CLOEXEC))

  deinit { close(descriptor) }

  package init() {}

  package func stop() { eventfd_write(descriptor, 1) }

  var isStopped: Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    // Borrows the entry for the call.
    return poll(&entry, 1, 0) > 0
  }
}

/// The keys pressed on a terminal, between ``Terminal/beginKeys()`` and ``Terminal/endKeys()``.
struct Keys: ~Copyable {
  /// Why keys are read. While a question is asked, a watch for Enter and Esc reads nothing, so that it does not take
  /// the answer.
  enum Purpose {
    case question, watch
  }

  /// How long after an Esc the rest of an escape sequence may arrive, in milliseconds.
  private static let escapeDelay: Int32 = 100
  /// How often a watch checks whether it may read again, in milliseconds.
  private static let patience: Int32 = 100
  /// The number of questions that are being asked.
  private static let questions = Mutex(0)

  private let terminal: Terminal
  private let stopper: Stopper
  private let purpose: Purpose
  private var decoder: KeyDecoder

  init(_ terminal: Terminal, _ purpose: Purpose, _ stopper: Stopper) {
    (self.terminal, self.purpose, self.stopper) = (terminal, purpose, stopper)
    var settings = termios()
    decoder = tcgetattr(terminal.descriptor, &settings) == 0 ? KeyDecoder(.init(settings)) : KeyDecoder()
    if purpose == .question { Self.questions.withLock { $0 += 1 } }
  }

  deinit {
    if purpose == .question { Self.questions.withLock { $0 -= 1 } }
  }

  /// Waits for a key; nil when the stopper, the end of the program or the end of the terminal comes first.
  mutating func next() -> Key? {
    while true {
      var entries = [
        pollfd(fd: stopper.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: Terminal.leaving, events: Int16(POLLIN), revents: 0),
        pollfd(fd: terminal.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      let mayRead = terminal.isForeground && (purpose == .question || Self.questions.withLock { $0 == 0 })
      if mayRead { terminal.refreshKeys() }
      // Borrows the entries for the call.
      let ready = poll(
        &entries, mayRead ? 3 : 2, mayRead ? (decoder.isUndecided ? Self.escapeDelay : Self.patience) : Self.patience)
      if ready < 0, errno != EINTR { return nil }
      if ready > 0, entries[0].revents != 0 || entries[1].revents != 0 { return nil }
      if ready == 0, mayRead, decoder.isUndecided, let key = decoder.pause() { return key }
      if ready > 0, mayRead, entries[2].revents != 0 {
        switch readByte() {
        case .byte(let byte): if let key = decoder.take(byte) { return key }
        case .nothing: break
        case .gone: return nil
        }
      }
    }
  }

  private enum Reading {
    case byte(UInt8)
    case nothing
    case gone
  }

  private func readByte() -> Reading {
    // A question may have begun since the last check. The lock is held during the read, so that none begins now.
    Self.questions.withLock { questions in
      guard purpose == .question || questions == 0 else { return .nothing }
      var byte: UInt8 = 0
      // Writes at most one byte.
      switch read(terminal.descriptor, &byte, 1) {
      case 1: return .byte(byte)
      case 0: return .gone
      default: return errno == EAGAIN || errno == EINTR ? .nothing : .gone
      }
    }
  }
}
