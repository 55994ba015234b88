internal import Fingerprint
package import SDBus
package import SecretModel

extension TPMProblem: BusCodable {}
extension CredentialProblem: BusCodable {}
extension AuthorizationProblem: BusCodable {}

extension VaultError {
  /// The name of the D-Bus error, and its arguments after the text: the case's associated values without nils.
  package var busForm: (name: VaultErrorName, details: [BusValue]) { (name, details) }

  private var details: [BusValue] {
    switch self {
    case .invalidName(let why): [why.busValue]
    case .secretTooLong(let limit): [limit.busValue]
    case .fingerNotEnrolled(let finger): [finger.busValue]
    case .fingerDuplicate(let finger): finger.map { [$0.busValue] } ?? []
    case .fingersNotAccepted(let nature): [nature.busValue]
    case .invalidPasscode(let why): [why.busValue]
    case .invalidAccessControl(let why): [why.busValue]
    case .invalidRequest(let why): [why.busValue]
    case .passcodeDelayed(let seconds): [seconds.busValue]
    case .applicationPasswordDelayed(let seconds): [seconds.busValue]
    case .sessionRefused(let refusal): [refusal.busValue]
    case .notUnlocked(let accessibility): [accessibility.busValue]
    case .notAuthorized(let problem, let action): [problem.busValue, action.busValue]
    case .itemInvalidated(let name): [name.busValue]
    case .differentReader(let name): [name.busValue]
    case .reader(let error): [error.busValue]
    case .printsGone(let fingers): [fingers.busValue]
    case .configuration(let why): [why.busValue]
    case .storeNotFound(let path): [path.busValue]
    case .storeExists(let path): [path.busValue]
    case .unsafeDirectory(let why): [why.busValue]
    case .tpm(let problem, let detail): [problem.busValue, detail.busValue]
    case .credential(let problem, let detail): [problem.busValue, detail.busValue]
    case .itemDamaged(let name): name.map { [$0.busValue] } ?? []
    case .storeDamaged(let what): [what.busValue]
    case .newerFormat(let format): [format.busValue]
    case .olderFormat(let format): [format.busValue]
    case .storeFull(let limit): [limit.busValue]
    case .fileUnreadable(let why): [why.busValue]
    case .busy(let holder): [holder.busValue]
    case .inputOutput(let what): [what.busValue]
    case .internalError(let place): [place.busValue]
    case .serviceUnavailable(let why): [why.busValue]
    case .versionMismatch(let version): [version.busValue]
    default: []
    }
  }

  /// - Throws: `invalidRequest` where the details are not those of the error.
  package init(_ name: VaultErrorName, details: [BusValue]) throws(VaultError) {
    func detail<Value: BusCodable>(_: Value.Type = Value.self) throws(VaultError) -> Value {
      guard let value = details.first else { throw .unreadable("the error \(name.rawValue)") }
      return try Value(bus: value)
    }
    func both<Value: BusCodable>() throws(VaultError) -> (Value, String) {
      guard details.count == 2 else { throw .unreadable("the error \(name.rawValue)") }
      return (try detail(), try String(bus: details[1]))
    }
    func optional<Value: BusCodable>(_: Value.Type = Value.self) throws(VaultError) -> Value? {
      details.isEmpty ? nil : try detail()
    }
    switch name {
    case .invalidName: self = .invalidName(try detail())
    case .secretTooLong: self = .secretTooLong(limit: try detail())
    case .fingerNotEnrolled: self = .fingerNotEnrolled(try detail())
    case .fingerDuplicate: self = .fingerDuplicate(try optional())
    case .notEnrolled: self = .notEnrolled
    case .fingersNotAccepted: self = .fingersNotAccepted(try detail())
    case .invalidPasscode: self = .invalidPasscode(try detail())
    case .guessablePasscode: self = .guessablePasscode
    case .invalidAccessControl: self = .invalidAccessControl(try detail())
    case .duplicateItem: self = .duplicateItem
    case .itemGone: self = .itemGone
    case .invalidRequest: self = .invalidRequest(try detail())
    case .authenticationFailed: self = .authenticationFailed
    case .cancelled: self = .cancelled
    case .userFallback: self = .userFallback
    case .appCancelled: self = .appCancelled
    case .systemCancelled: self = .systemCancelled
    case .contextInvalidated: self = .contextInvalidated
    case .biometryLockout: self = .biometryLockout
    case .wrongPasscode: self = .wrongPasscode
    case .wrongRecoveryKey: self = .wrongRecoveryKey
    case .malformedRecoveryKey: self = .malformedRecoveryKey
    case .wrongApplicationPassword: self = .wrongApplicationPassword
    case .passcodeDelayed: self = .passcodeDelayed(seconds: try detail())
    case .applicationPasswordDelayed: self = .applicationPasswordDelayed(seconds: try detail())
    case .passcodeNotSet: self = .passcodeNotSet
    case .interactionNotAllowed: self = .interactionNotAllowed
    case .sessionRefused: self = .sessionRefused(try detail())
    case .notUnlocked: self = .notUnlocked(try detail())
    case .notAuthorized:
      let (problem, action): (AuthorizationProblem, String) = try both()
      self = .notAuthorized(problem, action: action)
    case .itemInvalidated: self = .itemInvalidated(try detail())
    case .differentReader: self = .differentReader(try detail())
    case .setChanged: self = .setChanged
    case .touchRefused: self = .touchRefused
    case .reader: self = .reader(try detail())
    case .printsGone: self = .printsGone(try detail())
    case .configuration: self = .configuration(try detail())
    case .storeNotFound: self = .storeNotFound(try detail())
    case .storeExists: self = .storeExists(try detail())
    case .unsafeDirectory: self = .unsafeDirectory(try detail())
    case .deviceKeyMissing: self = .deviceKeyMissing
    case .tpm:
      let (problem, detail): (TPMProblem, String) = try both()
      self = .tpm(problem, detail: detail)
    case .credential:
      let (problem, detail): (CredentialProblem, String) = try both()
      self = .credential(problem, detail: detail)
    case .itemDamaged: self = .itemDamaged(try optional())
    case .storeDamaged: self = .storeDamaged(try detail())
    case .restoreDetected: self = .restoreDetected
    case .recoveryKeyRequired: self = .recoveryKeyRequired
    case .newerFormat: self = .newerFormat(try detail())
    case .olderFormat: self = .olderFormat(try detail())
    case .storeFull: self = .storeFull(limit: try detail())
    case .wrongPassphrase: self = .wrongPassphrase
    case .fileUnreadable: self = .fileUnreadable(try detail())
    case .busy: self = .busy(try detail())
    case .timedOut: self = .timedOut
    case .inputOutput: self = .inputOutput(try detail())
    case .internalError: self = .internalError(try detail())
    case .serviceUnavailable: self = .serviceUnavailable(try detail())
    case .versionMismatch: self = .versionMismatch(try detail())
    case .outcomeUnknown: self = .outcomeUnknown
    }
  }

  /// The error that a vault answered with. An unknown one is from a vault of another version.
  package init(busName: String, message: String, details: [BusValue]) {
    if busName.hasPrefix(VaultInterface.errorPrefix),
      let name = VaultErrorName(rawValue: String(busName.dropFirst(VaultInterface.errorPrefix.count))),
      let known = try? VaultError(name, details: details)
    {
      self = known
    } else {
      self = .versionMismatch("the vault answered \(busName): \(message)")
    }
  }
}

/// An error inside an answer or an event: its name and its associated values.
extension VaultError: BusCodable {
  static var busSignature: String { "(sav)" }

  var busValue: BusValue {
    let (name, details) = busForm
    return .structure([.string(name.rawValue), .array(of: "v", details.map { .variant($0) })])
  }

  init(bus value: BusValue) throws(VaultError) {
    guard let parts = value.asStructure, parts.count == 2, let name = parts[0].asString, let details = parts[1].asArray
    else { throw .unreadable(Self.self) }
    self.init(
      busName: VaultInterface.errorPrefix + name, message: "", details: details.compactMap(\.asVariant))
  }
}
