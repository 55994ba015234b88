internal import GRDB
internal import Keys
package import SecretModel
internal import TPM

extension VaultError {
  /// The error for a failure of what the store stands on: SQLite, the cryptographic library, or the TPM. An error of the
  /// vault stays as it is.
  package init(cause error: any Error) {
    switch error {
    case let error as VaultError: self = error
    case let error as DatabaseError: self.init(database: error)
    case let error as KeysError: self.init(keys: error)
    case let error as TPMError: self.init(tpm: error)
    default: self = .internalError("\(type(of: error))")
    }
  }

  /// SQL arguments are never part of the text.
  private init(database error: DatabaseError) {
    let text = error.message ?? "SQLite error \(error.resultCode.rawValue)"
    switch error.resultCode {
    case .SQLITE_BUSY, .SQLITE_LOCKED: self = .busy("another program has held the store for ten seconds")
    case .SQLITE_NOTADB, .SQLITE_CORRUPT: self = .storeDamaged(text)
    case .SQLITE_FULL: self = .diskFull("the store cannot be written")
    case .SQLITE_IOERR, .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM: self = .inputOutput(text)
    default: self = .internalError(text)
    }
  }

  /// Callers handle expected authentication failures themselves,
  /// so one that gets here means damage.
  private init(keys error: KeysError) {
    switch error {
    case .authenticationFailed: self = .storeDamaged("a sealed part does not verify")
    case .badParameters(let what): self = .storeDamaged(what)
    default: self = .internalError("OpenSSL: \(error)")
    }
  }

  private init(tpm error: TPMError) {
    switch error {
    case .absent(let why): self = .tpm(.absent, detail: why)
    case .changed: self = .tpm(.changed, detail: "")
    case .lockedOut: self = .tpm(.lockedOut, detail: "")
    case .registersChanged: self = .tpm(.registersChanged, detail: "")
    case .ownerPassword: self = .tpm(.ownerPassword, detail: "")
    case .wrongAuthorization: self = .tpm(.refused, detail: "wrong authorization")
    case .refused(let what): self = .tpm(.refused, detail: what)
    }
  }
}
