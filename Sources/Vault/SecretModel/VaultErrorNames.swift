// Errors of the vault by their names on the bus, and from the errors of files.

internal import Glibc
package import Primitives

extension VaultError {
  /// All that is known of the error.
  package var described: VaultErrorDescription { .of(self) }
  /// The name of the error, without its associated values.
  package var name: VaultErrorName { described.name }
  /// What the error means to a person.
  package var explanation: Explanation { described.explanation }

  /// The error with this name and these details; nil where the details are not those of the error.
  package init?(_ name: VaultErrorName, _ details: VaultErrorDetails) {
    guard let error = VaultErrorMakers.all[name]?(details) else { return nil }
    self = error
  }
}

extension VaultErrorName {
  /// The name on the bus, behind a prefix, and in the log: "ItemGone".
  package var word: String { self == .tpm ? "TPM" : rawValue.prefix(1).uppercased() + rawValue.dropFirst() }

  private static let byWord = Dictionary(uniqueKeysWithValues: allCases.map { ($0.word, $0) })

  /// Nil for a word that no error has.
  package init?(word: String) {
    guard let name = Self.byWord[word] else { return nil }
    self = name
  }
}

/// Makes errors from their names and details.
private enum VaultErrorMakers {
  static let all = {
    var makers = VaultError.withOtherDetails
    for error in VaultError.withoutDetails { makers[error.name] = { _ in error } }
    for make in VaultError.withText { makers[make("").name] = { $0.text.map(make) } }
    for make in VaultError.withNumber { makers[make(0).name] = { $0.number.map(make) } }
    for make in VaultError.withItem {
      makers[make(ItemName(unchecked: "", account: "")).name] = { $0.item.map(make) }
    }
    return makers
  }()
}

extension VaultError {
  /// The error for a system call that has failed on a file.
  ///
  /// - Parameters:
  ///   - what: what could not be done, such as "cannot make" and a path.
  ///   - code: its error number.
  package static func onFile(_ what: String, _ code: Int32 = errno) -> VaultError {
    [ENOSPC, EDQUOT].contains(code)
      ? .diskFull(what) : .inputOutput(unsafe "\(what): \(String(cString: strerror(code)))")
  }

  package static func onFile(_ failure: WholeFile.Failure) -> VaultError { onFile(failure.what, failure.code) }

  /// The error for a failed write.
  package static func onWriting(_ what: String, _ error: WriteError) -> VaultError {
    switch error {
    case .closed: .inputOutput("\(what): \(error)")
    case .system(let code): .onFile(what, code)
    }
  }
}

extension Explanation {
  /// What to do if the system has refused to read or write a file, with this error number.
  package static func advice(onFileError code: Int32) -> String {
    switch code {
    case ENOSPC, EDQUOT: Text.of("make room on the disk, then try again")
    case EROFS: Text.of("name another place: nothing can be written there")
    case EACCES, EPERM: Text.of("see who may read and write there")
    default: Text.of("check the disk's space and state, and who may read and write there")
    }
  }
}

extension VaultError {
  // What makes each error again from its name and details. Errors with details of other kinds than one text, number or
  // item have a function of their own.
  static let withoutDetails: [VaultError] = [
    .notEnrolled, .guessablePasscode, .duplicateItem, .itemGone, .authenticationFailed, .cancelled, .userFallback,
    .appCancelled, .systemCancelled, .contextInvalidated, .biometryLockout, .wrongPasscode, .wrongRecoveryKey,
    .malformedRecoveryKey, .wrongApplicationPassword, .passcodeNotSet, .interactionNotAllowed, .setChanged,
    .touchRefused, .deviceKeyMissing, .restoreDetected, .recoveryKeyRequired, .wrongPassphrase, .timedOut,
    .outcomeUnknown,
  ]
  static let withText: [@Sendable (String) -> VaultError] = [
    VaultError.invalidName, VaultError.invalidPasscode, VaultError.invalidAccessControl, VaultError.invalidRequest,
    VaultError.configuration, VaultError.storeNotFound, VaultError.storeExists, VaultError.unsafeDirectory,
    VaultError.storeDamaged, VaultError.fileUnreadable, VaultError.busy, VaultError.inputOutput,
    VaultError.diskFull, VaultError.internalError, VaultError.serviceUnavailable, VaultError.serviceStopped,
    VaultError.versionMismatch,
  ]
  static let withNumber: [@Sendable (Int) -> VaultError] = [
    VaultError.secretTooLong(limit:), VaultError.passcodeDelayed(seconds:),
    VaultError.applicationPasswordDelayed(seconds:), VaultError.storeFull(limit:),
    VaultError.passkeysFull(limit:), VaultError.newerFormat, VaultError.olderFormat,
  ]
  static let withItem: [@Sendable (ItemName) -> VaultError] = [VaultError.itemInvalidated, VaultError.differentReader]
  static let withOtherDetails: [VaultErrorName: @Sendable (VaultErrorDetails) -> VaultError?] = [
    .fingerNotEnrolled: { $0.word().map { .fingerNotEnrolled($0) } },
    .fingerDuplicate: { $0.isEmpty ? .fingerDuplicate(nil) : $0.word().map { .fingerDuplicate($0) } },
    .fingersNotAccepted: { $0.word().map { .fingersNotAccepted($0) } },
    .sessionRefused: { $0.word().map { .sessionRefused($0) } },
    .notUnlocked: { $0.word().map { .notUnlocked($0) } },
    .notAuthorized: { $0.wordAndText().map { .notAuthorized($0, action: $1) } },
    .reader: { $0.reader.map { .reader($0) } },
    .printsGone: { $0.words().map { .printsGone($0) } },
    .tpm: { $0.wordAndText().map { .tpm($0, detail: $1) } },
    .credential: { $0.wordAndText().map { .credential($0, detail: $1) } },
    .itemDamaged: { $0.isEmpty ? .itemDamaged(nil) : $0.item.map { .itemDamaged($0) } },
  ]
}
