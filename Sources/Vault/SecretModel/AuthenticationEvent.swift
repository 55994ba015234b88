public import Fingerprint

/// Names an authentication context: unguessable, and good only in the vault that made it.
package struct ContextHandle: Sendable, Hashable {
  package let bytes: [UInt8]

  package init(bytes: [UInt8]) { self.bytes = bytes }
}

/// What happens while a context authenticates or enrols; whoever shows the prompt reads these in order.
public enum AuthenticationEvent: Sendable {
  /// A touch is wanted: ask for it. The reader is armed, or waits until the prompt stands.
  case touchWanted(TouchRequest)
  /// A finger is on the sensor, or has left it.
  case fingerPresent(Bool)
  /// The touch could not be read; it costs nothing.
  case retry(RetryReason)
  /// The touch was read and is nobody's. `remaining` touches are left in this request.
  case noMatch(remaining: Int)
  /// The touch was one of the fingers asked for.
  case matched
  /// One enrolment stage is done.
  case enrolmentStage(completed: Int, of: Int)
  /// No finger can be asked for; the passcode is asked for next, where the item allows it.
  case fingerUnavailable(VaultError)
  /// A secret is wanted: answer with the context or cancel.
  case secretWanted(SecretRequest)
  /// Something the person should know that stops nothing.
  case notice(Notice)
}

/// What a touch is wanted for.
public struct TouchRequest: Sendable {
  /// What the match will be used for; a match for one purpose serves no other.
  public enum Purpose: Sendable {
    /// Reading these items, for the caller's stated reason.
    case read(items: [ItemName], reason: String?)
    /// Showing that an enrolled person is there: a policy or an access control by itself.
    case evaluate(reason: String?)
    /// Enrolling this finger.
    case enroll(Finger)
    /// The confirming touch at the end of an enrolment.
    case confirm(Finger)
  }

  /// Why the finger is asked for; to be shown.
  public var purpose: Purpose
  /// Which reader waits.
  public var reader: ReaderDescription
  /// Whether the fallback may be chosen instead: the passcode or, where the policy knows none, the caller's own.
  public var passcodeInstead: Bool

  /// Whether the reader is armed only when whoever shows the prompt has said that it stands (`ContextResponse.ready`).
  package var awaitsPrompt: Bool

  package init(purpose: Purpose, reader: ReaderDescription, passcodeInstead: Bool, awaitsPrompt: Bool = false) {
    self.purpose = purpose
    self.reader = reader
    self.passcodeInstead = passcodeInstead
    self.awaitsPrompt = awaitsPrompt
  }
}

/// A secret the vault needs from the person.
public enum SecretRequest: Sendable {
  /// The passcode; `attempt` counts from 1.
  case passcode(attempt: Int)
  /// A passcode to set; what the person chooses.
  case newPasscode
  /// The recovery key that was shown when the passcode was set.
  case recoveryKey
  /// The password this item was stored under.
  case applicationPassword(ItemName)
}

/// What the person should know, though nothing waits for it.
public enum Notice: Sendable {
  /// The chip holds prints this store does not know.
  case unknownPrintsOnChip(Int)
  /// The reader's chip does not hold the prints of these enrolled fingers any more: what is bound to the set is closed.
  case goneFromChip([Finger])
  /// The fingers were changed in fprintd by another program: these are gone or were enrolled anew; the items died with
  /// the set.
  case changedElsewhere([Finger], lost: [ItemName])
  /// The print could not be removed from the chip, for this reason.
  case leftOnChip(Finger, ReaderError)
  /// The last wrong passcode starts a delay, in seconds.
  case passcodeDelay(Int)
  /// Another request has the reader; this one waits for its turn.
  case readerInUse(ReaderUse)
}

/// Whose request has the reader while another waits.
public enum ReaderUse: Sendable, Hashable {
  /// A program of the same user: its name, where that is known, and the items it is about to read.
  case program(String?, items: [ItemName])
  /// Another user's, of which no more is told.
  case anotherUser
}
