public import Fingerprint

/// Everything that can end a call to the vault. Outcomes stay distinct; none carries a secret.
public enum VaultError: Error, Sendable, Hashable {
  // What was asked
  /// The name of an item breaks a rule; the value says which.
  case invalidName(String)
  /// The secret has more bytes than this.
  case secretTooLong(limit: Int)
  /// This finger is not enrolled on the reader.
  case fingerNotEnrolled(Finger)
  /// The finger that was touched is enrolled already, as the one named where that is known.
  case fingerDuplicate(Finger?)
  /// No fingers are enrolled on this reader.
  case notEnrolled
  /// The fingers of this reader, which is not a physical one, count only once the passcode has accepted them.
  case fingersNotAccepted(ReaderDescription.Nature)
  /// The passcode to be set breaks a rule; the value says which.
  case invalidPasscode(String)
  /// Flags that have no meaning together; the value says which.
  case invalidAccessControl(String)
  /// An item with these primary attributes exists.
  case duplicateItem
  /// An item that was meant by its reference does not exist any more.
  case itemGone
  /// The request itself makes no sense; the value says why.
  case invalidRequest(String)

  // Refused
  /// Three touches of one request matched nobody.
  case authenticationFailed
  /// The person, or whoever waits, ended the request.
  case cancelled
  /// The person chose the fallback, which is the caller's own business under this policy.
  case userFallback
  /// The program that asked ended the request.
  case appCancelled
  /// The store or the session went away.
  case systemCancelled
  /// The context has been invalidated.
  case contextInvalidated
  /// Five touches in a row matched nobody: the passcode or the recovery key clears it.
  case biometryLockout
  /// The passcode was wrong as often as may be tried in one request.
  case wrongPasscode
  /// A recovery key, but not this store's.
  case wrongRecoveryKey
  /// Not a recovery key at all: a typing error.
  case malformedRecoveryKey
  /// The item is stored under another application password.
  case wrongApplicationPassword
  /// Too many wrong passcodes: wait this many seconds.
  case passcodeDelayed(seconds: Int)
  /// Too many wrong application passwords for an item: wait this many seconds.
  case applicationPasswordDelayed(seconds: Int)
  /// What was asked needs a passcode, and none is set.
  case passcodeNotSet
  /// Somebody would have to be asked, which the caller forbids.
  case interactionNotAllowed
  /// The state of the caller's login session forbids it.
  case sessionRefused(SessionRefusal)
  /// Items of this accessibility are closed until their user unlocks them.
  case notUnlocked(Accessibility)
  /// polkit did not authorize it; the value names the action.
  case notAuthorized(String)
  /// The enrolment set (or the passcode) the item was bound to is gone.
  case itemInvalidated(ItemName)
  /// The item belongs to the set of another reader.
  case differentReader(ItemName)
  /// The set changed between the touch and the unwrapping.
  case setChanged
  /// What the reader answered was not for the request it was armed for.
  case touchRefused

  // Readers
  /// The reader could not do its part; the value says why.
  case reader(ReaderError)
  /// The reader does not hold the prints of these enrolled fingers any more. What is bound to the set stays closed, and
  /// nothing is lost: until the reader lists them again, or the passcode takes them out of the set.
  case printsGone([Finger])

  // The store
  /// The configuration, or what stands in for it, cannot be used; the value says why.
  case configuration(String)
  /// There is no store at this path.
  case storeNotFound(String)
  /// There is a store at this path already.
  case storeExists(String)
  /// The directory may not be trusted: what is wrong, and what to do.
  case unsafeDirectory(String)
  /// The file of the root key is missing or not this store's.
  case deviceKeyMissing
  /// The item's row does not verify; its name, where that can still be read.
  case itemDamaged(ItemName?)
  /// The database is damaged, foreign, or has planted parts; the value says what.
  case storeDamaged(String)
  /// Database and manifest disagree: an earlier copy of one of them was put back, and nobody has accepted it yet.
  case restoreDetected
  /// An earlier copy was put back, and no record vouches for its passcode: only the recovery key accepts it.
  case recoveryKeyRequired
  /// The store has as many bytes as its user may fill; the value is that limit.
  case storeFull(limit: Int)
  /// The store was made by a later version, in this format.
  case newerFormat(Int)
  /// The store was made by an earlier version, in this format, which is not read any more.
  case olderFormat(Int)

  // Passing
  /// Another program holds the store or the reader.
  case busy(String)
  /// Nobody touched the reader or answered in time.
  case timedOut
  /// The system refused to read or write; the value says what.
  case inputOutput(String)
  /// A defect of this library; the value says where.
  case internalError(String)

  // The vault's process
  /// The vault's process cannot be started or reached; the value says why. Nothing has been changed.
  case serviceUnavailable(String)
  /// The vault's process is of a version that does not understand this program; the value says which.
  case versionMismatch(String)
  /// The connection to the vault was lost after a change was sent: it may have been made or not.
  case outcomeUnknown
}
