// A context, in which a person is asked: what it may ask, what happens in it, what the person answers, and the enrolled
// fingers.

package import Primitives
import Synchronization

/// An event of a context and its number; the first is number 1. An answer carries the number of its question, so that a
/// late answer is not taken for another question's.
package struct NumberedEvent: Sendable {
  package let number: Int
  package let event: AuthenticationEvent
}

/// The events of an authentication context in order, for its one listener.
package struct ContextEvents: AsyncSequence, Sendable {
  private let stream: AsyncStream<NumberedEvent>
  private let source: EventSource

  package init(_ stream: AsyncStream<NumberedEvent>, _ source: EventSource) {
    self.stream = stream
    self.source = source
  }

  /// The number of the last event so far, received or not; 0 before the first. All events of a call are sent before the
  /// call returns.
  package var lastNumber: Int { source.lastNumber }
  /// The counts of the events so far.
  package var tally: EventTally { source.tally }

  package func makeAsyncIterator() -> AsyncStream<NumberedEvent>.Iterator { stream.makeAsyncIterator() }
}

/// The vault's end of a context's events.
package final class EventSource: Sendable {
  private let continuation: AsyncStream<NumberedEvent>.Continuation
  private let state = Mutex((last: 0, tally: EventTally()))

  package init(_ continuation: AsyncStream<NumberedEvent>.Continuation) { self.continuation = continuation }

  package var lastNumber: Int { state.withLock { $0.last } }
  /// The counts of the events so far.
  package var tally: EventTally { state.withLock { $0.tally } }

  /// Numbers the event and sends it to the listener.
  @discardableResult
  package func yield(_ event: AuthenticationEvent) -> Int {
    // Under the lock, so that the listener gets the events in the order of their numbers.
    state.withLock { state in
      state.last += 1
      state.tally.count(event)
      continuation.yield(NumberedEvent(number: state.last, event: event))
      return state.last
    }
  }

  /// Sends an event that came from another process with its number. Nil is an event that this version does not know:
  /// only its number counts. Ignores an event whose number is not greater than the last.
  ///
  /// - Returns: whether the number was greater than the last.
  @discardableResult
  package func yield(_ event: AuthenticationEvent?, number: Int) -> Bool {
    state.withLock { state in
      guard number > state.last else { return false }
      state.last = number
      if let event { continuation.yield(NumberedEvent(number: number, event: event)) }
      return true
    }
  }

  /// Counts a wrong passcode. The listener notices it only if another one is asked for.
  package func noteWrongPasscode() { state.withLock { $0.tally.noteWrongPasscode() } }

  package func finish() { continuation.finish() }
}

/// How a context prompts the person.
package struct ContextOptions: Sendable {
  /// Whether to refuse calls that need a finger or a passcode, instead of asking.
  package var interactionNotAllowed: Bool
  /// How long to wait for the next touch; nil for as long as the reader waits.
  package var timeout: Duration?
  /// Whether to ask for the passcode instead of the finger if the item allows it.
  package var preferPasscode: Bool
  /// Whether the caller can answer the passcode itself, so that asking for it does not count as interaction.
  package var passcodeSupplied: Bool

  /// Whether a passcode that can be guessed in a day is accepted, because the person insists.
  package var allowsGuessablePasscode = false

  /// When the fallback is offered.
  package var fallback: Fallback = .atOnce
  /// Whether later calls of the context reuse what was shown in it, until it is invalidated.
  package var keepsEvidence = false
  /// The maximum age of an earlier match of the same user that replaces a touch. Only with `keepsEvidence`.
  package var reuseDuration: Duration = .zero

  /// The upper limit of ``reuseDuration``: Apple's `LATouchIDAuthenticationMaximumAllowableReuseDuration`.
  package static let longestReuse: Duration = .seconds(300)

  package enum Fallback: String, Sendable {
    case atOnce = "at-once"
    /// After the first touch that does not match, if the passcode may take the finger's place.
    case afterNoMatch = "after-no-match"
    /// After the first touch that does not match. If the passcode may not take the finger's place, choosing the
    /// fallback ends the call with `userFallback`.
    case callersAfterNoMatch = "callers-after-no-match"
    case never
  }

  package init(
    interactionNotAllowed: Bool = false, timeout: Duration? = .seconds(60), preferPasscode: Bool = false,
    passcodeSupplied: Bool = false
  ) {
    self.passcodeSupplied = passcodeSupplied
    self.interactionNotAllowed = interactionNotAllowed
    self.timeout = timeout
    self.preferPasscode = preferPasscode
  }
}

/// A response of the person or the prompt. `question` is the number of the event that asked.
package enum ContextResponse: ~Copyable, Sendable {
  /// The wanted secret. Does nothing if this question is no longer open.
  case secret(question: Int, SecretBytes)
  /// Declines the question.
  case decline(question: Int)
  /// The prompt for the touch is shown: the reader may be armed.
  case ready(question: Int)
  /// Chooses the fallback in place of the touch: the passcode, or the caller's own. Does nothing if the wanted touch
  /// has no fallback.
  case fallback
  /// Ends the request of the same user that the notice with this number named (``ReaderUse/program(_:items:)``), as if
  /// the person had cancelled it, and puts this one before the user's others. Does nothing if another request is using
  /// the reader by now.
  case reject(notice: Int)
  /// Ends the running call with ``VaultError/cancelled``.
  case cancel
}

/// The two policies of LocalAuthentication: the proof that is wanted.
public enum AuthenticationPolicy: Int, Sendable {
  /// A finger; no passcode in its place.
  case biometrics = 1
  /// A finger, or the passcode.
  case deviceOwner = 2
}

/// The fingers enrolled on one reader.
package struct SetStatus: Sendable {
  package var reader: ReaderIdentity
  package var nature: ReaderDescription.Nature
  package var fingers: [EnrolledFinger]
  /// SHA-256 over the set. It changes with every change of the set, and never returns to an earlier value.
  package var digest: [UInt8]
  /// Items bound to this set.
  package var boundItems: Int

  package init(
    reader: ReaderIdentity, nature: ReaderDescription.Nature, fingers: [EnrolledFinger], digest: [UInt8],
    boundItems: Int
  ) {
    self.reader = reader
    self.nature = nature
    self.fingers = fingers
    self.digest = digest
    self.boundItems = boundItems
  }
}

package struct EnrolledFinger: Sendable, Hashable {
  package var finger: Finger
  package var onChip: Bool
  /// Seconds since 1970.
  package var enrolled: Int64

  package init(finger: Finger, onChip: Bool, enrolled: Int64) {
    self.finger = finger
    self.onChip = onChip
    self.enrolled = enrolled
  }
}

/// What a change of the enrolment set did.
package struct SetChange: Sendable {
  package var finger: Finger?
  package var fingers: [EnrolledFinger]
  /// Items that died with the old set.
  package var lost: [ItemName]

  package init(finger: Finger?, fingers: [EnrolledFinger], lost: [ItemName]) {
    self.finger = finger
    self.fingers = fingers
    self.lost = lost
  }
}
