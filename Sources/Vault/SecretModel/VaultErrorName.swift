/// The names of the errors, one for each case of ``VaultError``: on the bus behind a prefix, and in the log.
package enum VaultErrorName: String, CaseIterable, Sendable {
  case invalidName = "InvalidName"
  case secretTooLong = "SecretTooLong"
  case fingerNotEnrolled = "FingerNotEnrolled"
  case fingerDuplicate = "FingerDuplicate"
  case notEnrolled = "NotEnrolled"
  case fingersNotAccepted = "FingersNotAccepted"
  case invalidPasscode = "InvalidPasscode"
  case guessablePasscode = "GuessablePasscode"
  case invalidAccessControl = "InvalidAccessControl"
  case duplicateItem = "DuplicateItem"
  case itemGone = "ItemGone"
  case invalidRequest = "InvalidRequest"

  case authenticationFailed = "AuthenticationFailed"
  case cancelled = "Cancelled"
  case userFallback = "UserFallback"
  case appCancelled = "AppCancelled"
  case systemCancelled = "SystemCancelled"
  case contextInvalidated = "ContextInvalidated"
  case biometryLockout = "BiometryLockout"
  case wrongPasscode = "WrongPasscode"
  case wrongRecoveryKey = "WrongRecoveryKey"
  case malformedRecoveryKey = "MalformedRecoveryKey"
  case wrongApplicationPassword = "WrongApplicationPassword"
  case passcodeDelayed = "PasscodeDelayed"
  case applicationPasswordDelayed = "ApplicationPasswordDelayed"
  case passcodeNotSet = "PasscodeNotSet"
  case interactionNotAllowed = "InteractionNotAllowed"
  case sessionRefused = "SessionRefused"
  case notUnlocked = "NotUnlocked"
  case notAuthorized = "NotAuthorized"
  case itemInvalidated = "ItemInvalidated"
  case differentReader = "DifferentReader"
  case setChanged = "SetChanged"
  case touchRefused = "TouchRefused"

  case reader = "Reader"
  case printsGone = "PrintsGone"

  case configuration = "Configuration"
  case storeNotFound = "StoreNotFound"
  case storeExists = "StoreExists"
  case unsafeDirectory = "UnsafeDirectory"
  case deviceKeyMissing = "DeviceKeyMissing"
  case tpm = "TPM"
  case credential = "Credential"
  case itemDamaged = "ItemDamaged"
  case storeDamaged = "StoreDamaged"
  case restoreDetected = "RestoreDetected"
  case recoveryKeyRequired = "RecoveryKeyRequired"
  case newerFormat = "NewerFormat"
  case olderFormat = "OlderFormat"
  case storeFull = "StoreFull"

  case wrongPassphrase = "WrongPassphrase"
  case fileUnreadable = "FileUnreadable"

  case busy = "Busy"
  case timedOut = "TimedOut"
  case inputOutput = "InputOutput"
  case internalError = "InternalError"

  case serviceUnavailable = "ServiceUnavailable"
  case versionMismatch = "VersionMismatch"
  case outcomeUnknown = "OutcomeUnknown"
}

extension VaultError {
  /// The name of the error, without its associated values.
  package var name: VaultErrorName {
    switch self {
    case .invalidName: .invalidName
    case .secretTooLong: .secretTooLong
    case .fingerNotEnrolled: .fingerNotEnrolled
    case .fingerDuplicate: .fingerDuplicate
    case .notEnrolled: .notEnrolled
    case .fingersNotAccepted: .fingersNotAccepted
    case .invalidPasscode: .invalidPasscode
    case .guessablePasscode: .guessablePasscode
    case .invalidAccessControl: .invalidAccessControl
    case .duplicateItem: .duplicateItem
    case .itemGone: .itemGone
    case .invalidRequest: .invalidRequest
    case .authenticationFailed: .authenticationFailed
    case .cancelled: .cancelled
    case .userFallback: .userFallback
    case .appCancelled: .appCancelled
    case .systemCancelled: .systemCancelled
    case .contextInvalidated: .contextInvalidated
    case .biometryLockout: .biometryLockout
    case .wrongPasscode: .wrongPasscode
    case .wrongRecoveryKey: .wrongRecoveryKey
    case .malformedRecoveryKey: .malformedRecoveryKey
    case .wrongApplicationPassword: .wrongApplicationPassword
    case .passcodeDelayed: .passcodeDelayed
    case .applicationPasswordDelayed: .applicationPasswordDelayed
    case .passcodeNotSet: .passcodeNotSet
    case .interactionNotAllowed: .interactionNotAllowed
    case .sessionRefused: .sessionRefused
    case .notUnlocked: .notUnlocked
    case .notAuthorized: .notAuthorized
    case .itemInvalidated: .itemInvalidated
    case .differentReader: .differentReader
    case .setChanged: .setChanged
    case .touchRefused: .touchRefused
    case .reader: .reader
    case .printsGone: .printsGone
    case .configuration: .configuration
    case .storeNotFound: .storeNotFound
    case .storeExists: .storeExists
    case .unsafeDirectory: .unsafeDirectory
    case .deviceKeyMissing: .deviceKeyMissing
    case .tpm: .tpm
    case .credential: .credential
    case .itemDamaged: .itemDamaged
    case .storeDamaged: .storeDamaged
    case .restoreDetected: .restoreDetected
    case .recoveryKeyRequired: .recoveryKeyRequired
    case .newerFormat: .newerFormat
    case .olderFormat: .olderFormat
    case .storeFull: .storeFull
    case .wrongPassphrase: .wrongPassphrase
    case .fileUnreadable: .fileUnreadable
    case .busy: .busy
    case .timedOut: .timedOut
    case .inputOutput: .inputOutput
    case .internalError: .internalError
    case .serviceUnavailable: .serviceUnavailable
    case .versionMismatch: .versionMismatch
    case .outcomeUnknown: .outcomeUnknown
    }
  }
}
