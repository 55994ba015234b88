internal import CLinux
internal import Glibc
internal import Synchronization

/// Ends somebody's waiting for a key.
final class Stopper: Sendable {
  let descriptor = eventfd(0, Int32(EFD_CLOEXEC))

  deinit { close(descriptor) }

  func stop() { eventfd_write(descriptor, 1) }

  var isStopped: Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    // Borrows the entry for the call.
    return poll(&entry, 1, 0) > 0
  }
}

/// The keys that are pressed on a terminal, one after the other, between ``Terminal/beginKeys()`` and its end.
struct Keys: ~Copyable {
  /// Who reads: where a question is asked, its answer is not for whoever only waits for Enter or Esc.
  enum Purpose {
    case question, watch
  }

  /// After an Esc, how long the rest of an escape sequence may take to come, in milliseconds.
  private static let escapeDelay: Int32 = 100
  /// How often somebody who may not read now looks again, in milliseconds.
  private static let patience: Int32 = 100
  /// How many questions are being asked.
  private static let questions = Mutex(0)

  private let terminal: Terminal
  private let stopper: Stopper
  private let purpose: Purpose
  private var decoder: KeyDecoder

  /// What was typed before is dropped: it is no answer.
  init(_ terminal: Terminal, _ purpose: Purpose, _ stopper: Stopper) {
    (self.terminal, self.purpose, self.stopper) = (terminal, purpose, stopper)
    var settings = termios()
    decoder = tcgetattr(terminal.descriptor, &settings) == 0 ? KeyDecoder(.init(settings)) : KeyDecoder()
    if purpose == .question { Self.questions.withLock { $0 += 1 } }
    terminal.discardInput()
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
    // A question may have been asked since the last look: its lock is held while a byte is taken.
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
