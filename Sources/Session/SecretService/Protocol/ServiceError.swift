internal import SecretModel
internal import Whorl

/// Why a call is refused, as clients see it.
enum ServiceError: Error, Sendable, Hashable {
  /// The item or its collection is locked, or nobody touched the reader in time.
  case isLocked
  /// The vault's process ended before it answered, or cannot be started. Nothing is locked, and nothing was changed.
  case vaultEnded
  /// The vault's process ended during a change, which it may have made or not.
  case outcomeUnknown
  /// The item exists, but its secret cannot be released.
  case unreadable(String)
  case noSession
  case noSuchObject
  case unknownMethod(String)
  case unknownInterface(String)
  case unknownProperty(String)
  /// The property cannot be set.
  case readOnly(String)
  case invalidArguments(String)
  case notSupported(String)
  case limitsExceeded(String)
  case accessDenied(String)
  case failed(String)

  init(_ error: VaultError) {
    switch error {
    case .itemGone: self = .noSuchObject
    case .interactionNotAllowed, .notUnlocked, .sessionRefused, .timedOut, .cancelled, .appCancelled,
      .authenticationFailed, .biometryLockout, .wrongPasscode, .passcodeDelayed:
      self = .isLocked
    // The service closes no context that it still uses, so an invalid one means that the vault has ended.
    case .systemCancelled, .contextInvalidated, .serviceUnavailable, .serviceStopped: self = .vaultEnded
    case .outcomeUnknown: self = .outcomeUnknown
    case .itemDamaged:
      self = .unreadable(
        "the item was damaged or tampered with, and its secret is not released: put it back from a backup, or delete it"
      )
    case .itemInvalidated:
      self = .unreadable(
        "the fingers or the passcode that the item requires are gone, and it can never be read: delete it")
    case .secretTooLong(let limit): self = .invalidArguments("a secret has at most \(limit) bytes")
    case .invalidRequest(let why): self = .invalidArguments(why)
    default: self = .failed(error.explanation.what)
    }
  }

  /// The D-Bus name of the error.
  var name: String {
    switch self {
    case .isLocked: "org.freedesktop.Secret.Error.IsLocked"
    case .vaultEnded: "\(ServiceName.own).Error.VaultEnded"
    case .outcomeUnknown: "\(ServiceName.own).Error.OutcomeUnknown"
    case .noSession: "org.freedesktop.Secret.Error.NoSession"
    case .noSuchObject: "org.freedesktop.Secret.Error.NoSuchObject"
    case .unknownMethod: "org.freedesktop.DBus.Error.UnknownMethod"
    case .unknownInterface: "org.freedesktop.DBus.Error.UnknownInterface"
    case .unknownProperty: "org.freedesktop.DBus.Error.UnknownProperty"
    case .readOnly: "org.freedesktop.DBus.Error.PropertyReadOnly"
    case .invalidArguments: "org.freedesktop.DBus.Error.InvalidArgs"
    case .notSupported: "org.freedesktop.DBus.Error.NotSupported"
    case .limitsExceeded: "org.freedesktop.DBus.Error.LimitsExceeded"
    case .accessDenied: "org.freedesktop.DBus.Error.AccessDenied"
    case .failed, .unreadable: "org.freedesktop.DBus.Error.Failed"
    }
  }

  /// For people.
  var message: String {
    switch self {
    case .isLocked: "it is locked"
    case .vaultEnded: "Whorl's vault has ended and does not answer, and nothing was changed: try again"
    case .outcomeUnknown:
      "Whorl's vault has ended during the change, which it may have made or not: look before trying again"
    case .noSession: "there is no such session of this program"
    case .noSuchObject: "there is no such object"
    case .unknownMethod(let name), .unknownInterface(let name), .unknownProperty(let name): "there is no \(name) here"
    case .readOnly(let property): "\(property) cannot be set"
    case .invalidArguments(let why), .notSupported(let why), .limitsExceeded(let why), .accessDenied(let why),
      .failed(let why), .unreadable(let why):
      why
    }
  }
}
