public import Fingerprint

/// Names an authentication context. It cannot be guessed, and is valid only in the vault that made it.
package struct ContextHandle: Sendable, Hashable {
  package let bytes: [UInt8]

  package init(bytes: [UInt8]) { self.bytes = bytes }
}

/// The events of a context that authenticates or enrols. The prompt receives them in order.
public enum AuthenticationEvent: Sendable {
  /// A touch is wanted: ask for it. The reader is armed already, or will be when the prompt is shown.
  case touchWanted(TouchRequest)
  /// A finger is on the sensor, or has left it.
  case fingerPresent(Bool)
  /// The touch could not be read. It does not count as a failure.
  case retry(RetryReason)
  /// The touch was read and did not match. `remaining` touches are left in this request.
  case noMatch(remaining: Int)
  /// The touch matched one of the wanted fingers.
  case matched
  /// One enrolment stage is done.
  case enrolmentStage(completed: Int, of: Int)
  /// No finger can be asked for; the passcode is asked for next, if the item allows it.
  case fingerUnavailable(VaultError)
  /// A secret is wanted: answer, decline or cancel.
  case secretWanted(SecretRequest)
  /// Information for the person. The call continues.
  case notice(Notice)
}

/// The purpose of a touch.
public struct TouchRequest: Sendable {
  /// What the match will be used for. A match for one purpose is not used for another.
  public enum Purpose: Sendable {
    /// Reading these items, for the reason that the caller gives.
    case read(items: [ItemName], reason: String?)
    /// Evaluating a policy or an access control, without reading an item.
    case evaluate(reason: String?)
    /// Enrolling this finger.
    case enroll(Finger)
    /// The confirming touch at the end of an enrolment.
    case confirm(Finger)
  }

  /// Why the finger is asked for, for the prompt.
  public var purpose: Purpose
  /// The reader to touch.
  public var reader: ReaderDescription
  /// Whether the fallback may be chosen instead: the passcode or, under a policy without a passcode, the caller's own.
  public var passcodeInstead: Bool

  /// Whether no other attached reader could be confused with this one.
  package var isOnlyReader: Bool
  /// Whether the reader is armed only after the prompt has reported that it is shown (`ContextResponse.ready`).
  package var awaitsPrompt: Bool

  package init(
    purpose: Purpose, reader: ReaderDescription, passcodeInstead: Bool, isOnlyReader: Bool = false,
    awaitsPrompt: Bool = false
  ) {
    self.purpose = purpose
    self.reader = reader
    self.passcodeInstead = passcodeInstead
    self.isOnlyReader = isOnlyReader
    self.awaitsPrompt = awaitsPrompt
  }
}

/// A secret the vault needs from the person.
public enum SecretRequest: Sendable {
  /// The passcode; `attempt` counts from 1.
  case passcode(attempt: Int)
  /// A new passcode, which the person chooses.
  case newPasscode
  /// The recovery key that was shown when the passcode was set.
  case recoveryKey
  /// The password this item was stored under.
  case applicationPassword(ItemName)
}

/// Information for the person. No answer is expected.
public enum Notice: Sendable {
  /// The number of prints on the chip that this store does not know.
  case unknownPrintsOnChip(Int)
  /// The reader's chip no longer holds the prints of these enrolled fingers. Items bound to the set are closed.
  case goneFromChip([Finger])
  /// Another program changed fprintd's fingers: these were removed or enrolled again. The items bound to the set died.
  case changedElsewhere([Finger], lost: [ItemName])
  /// The print could not be removed from the chip, for this reason.
  case leftOnChip(Finger, ReaderError)
  /// The last wrong passcode starts a delay, in seconds.
  case passcodeDelay(Int)
  /// Another request is using the reader. This one waits for its turn.
  case readerInUse(ReaderUse)
  /// The person did not answer in time. The call ends with `timedOut`.
  case unanswered
  /// Another program of the user ended this request to use the reader itself. The value is its name, where known.
  case rejected(by: String?)
}

/// Who is using the reader while a request waits.
public enum ReaderUse: Sendable, Hashable {
  /// A program of the same user: its name, where known, and the items that it is about to read. It can be rejected.
  case program(String?, items: [ItemName])
  /// A program of the same user with a private vault. No more is known about it.
  case otherVault
  /// Another user's program, without details.
  case anotherUser
}
