public import Fingerprint

/// Why a TPM does not open the store whose keys it holds.
public enum TPMProblem: String, Sendable, Hashable, CaseIterable {
  /// The TPM cannot be reached, or the machine has none.
  case absent
  /// The TPM was cleared or replaced: it is not the one that the store was sealed in.
  case changed
  /// The TPM takes no passcode for a while, after too many wrong ones of any program.
  case lockedOut = "locked out"
  /// The registers that the store was sealed to have other values: the firmware, its settings or the boot were changed.
  case registersChanged = "registers changed"
  /// The TPM's storage hierarchy has an owner password.
  case ownerPassword = "owner password"
  /// The TPM refused for another reason.
  case refused
}

/// Why a credential of systemd does not open the store whose keys are sealed under it.
public enum CredentialProblem: String, Sendable, Hashable, CaseIterable {
  /// The service has none, or its settings exclude it.
  case absent
  /// The service has another one than the one that the store was sealed under.
  case changed
}

/// Why the machine did not give a permission that a program asked for.
public enum AuthorizationProblem: String, Sendable, Hashable, CaseIterable {
  /// The machine's rules do not allow it, or not where the program runs.
  case denied
  /// The person closed the question for the password.
  case dismissed
  /// It takes a password, and nobody is there to be asked for it.
  case nobodyToAsk = "nobody to ask"
  /// It takes a password, and is not asked for one here.
  case notAsked = "not asked"
  /// The password was wrong as often as it may be tried.
  case wrongPassword = "wrong password"
  /// The machine gives no answer.
  case unavailable
}

/// The errors of calls to the vault. Different outcomes have different cases; none carries a secret.
public enum VaultError: Error, Sendable, Hashable {
  // What was asked
  /// The name of an item breaks a rule; the value says which.
  case invalidName(String)
  /// The secret has more bytes than this.
  case secretTooLong(limit: Int)
  /// This finger is not enrolled on the reader.
  case fingerNotEnrolled(Finger)
  /// The touched finger is enrolled already; the value names it, where known.
  case fingerDuplicate(Finger?)
  /// No fingers are enrolled on this reader.
  case notEnrolled
  /// The fingers of this reader, which is not a physical one, count only once the passcode has accepted them.
  case fingersNotAccepted(ReaderDescription.Nature)
  /// The passcode to be set breaks a rule; the value says which.
  case invalidPasscode(String)
  /// A day of guesses finds the passcode to be set, for whoever has a copy of the store. The person may insist.
  case guessablePasscode
  /// Flags that have no meaning together; the value says which.
  case invalidAccessControl(String)
  /// An item with these primary attributes exists.
  case duplicateItem
  /// An item named by its reference does not exist any more.
  case itemGone
  /// The request itself makes no sense; the value says why.
  case invalidRequest(String)

  // Refused
  /// Three touches of one request did not match.
  case authenticationFailed
  /// The person, or the waiting program, cancelled the request.
  case cancelled
  /// The person chose the fallback, which the caller must provide under this policy.
  case userFallback
  /// The program that asked ended the request.
  case appCancelled
  /// The store or the session ended.
  case systemCancelled
  /// The context has been invalidated.
  case contextInvalidated
  /// Five touches in a row did not match. The passcode or the recovery key clears this.
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
  /// A person would have to be asked, which the caller forbids.
  case interactionNotAllowed
  /// The state of the caller's login session forbids it.
  case sessionRefused(SessionRefusal)
  /// Items of this accessibility are closed until their user unlocks them.
  case notUnlocked(Accessibility)
  /// The machine (polkit) did not authorize it; the second value names the action, and what is known besides.
  case notAuthorized(AuthorizationProblem, action: String)
  /// The enrolment set (or the passcode) the item was bound to is gone.
  case itemInvalidated(ItemName)
  /// The item belongs to the set of another reader.
  case differentReader(ItemName)
  /// The set changed between the touch and the unwrapping.
  case setChanged
  /// The reader's answer does not belong to the request that it was armed for.
  case touchRefused

  // Readers
  /// The reader failed; the value says why.
  case reader(ReaderError)
  /// The reader no longer holds the prints of these enrolled fingers. Items bound to the set are closed but not lost,
  /// until the reader lists the prints again or the fingers are removed with the passcode.
  case printsGone([Finger])

  // The store
  /// The configuration or an option cannot be used; the value says why.
  case configuration(String)
  /// There is no store at this path.
  case storeNotFound(String)
  /// There is a store at this path already.
  case storeExists(String)
  /// The directory cannot be trusted; the value says what is wrong and what to do.
  case unsafeDirectory(String)
  /// The file of the root key is missing or not this store's.
  case deviceKeyMissing
  /// The TPM that holds the store's keys does not open it; the second value adds what is known, or is empty.
  case tpm(TPMProblem, detail: String)
  /// The credential that the store's keys are sealed under does not open it; the second value adds what is known, or is
  /// empty.
  case credential(CredentialProblem, detail: String)
  /// The item's row does not verify; its name, where that can still be read.
  case itemDamaged(ItemName?)
  /// The database is damaged, belongs to another store, or has parts that Whorl did not write; the value says which.
  case storeDamaged(String)
  /// Database and manifest disagree: an earlier copy of one of them was put back, and nobody has accepted it yet.
  case restoreDetected
  /// An earlier copy was put back, and no record shows that its passcode is the last one: only the recovery key accepts
  /// it.
  case recoveryKeyRequired
  /// The store has reached its user's quota; the value is that limit in bytes.
  case storeFull(limit: Int)
  /// The store was made by a later version, in this format.
  case newerFormat(Int)
  /// The store was made by an earlier version, in this format, which is not read any more.
  case olderFormat(Int)

  // Encrypted files
  /// The passphrase does not open the encrypted file.
  case wrongPassphrase
  /// The encrypted file cannot be opened; the value says why.
  case fileUnreadable(String)

  // Passing
  /// Another program holds the store or the reader.
  case busy(String)
  /// Nobody touched the reader in time.
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
  /// The connection to the vault was lost after a change was sent. The change may have been made or not.
  case outcomeUnknown
}
