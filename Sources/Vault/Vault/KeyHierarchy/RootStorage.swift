package import TPM

/// Where the machine keeps the keys of its stores' device slots.
package enum RootStorage: Sendable {
  /// In key files.
  case keyFile
  /// In this TPM. The guard notices stores that were put back as a whole; nil: nothing does.
  case tpm(TPM, RollbackGuard? = nil)
  /// In key files, since the machine has no TPM at this path. A store that was in a TPM is not moved to a key file:
  /// only ``keyFile``, which somebody chose, allows that.
  case withoutTPM(path: String)

  /// The guard of the stores in the TPM.
  var rollback: RollbackGuard? {
    guard case .tpm(_, let rollback) = self else { return nil }
    return rollback
  }

  /// The guard of a store whose keys are in this TPM; nil for one with a key file.
  func rollback(of tpm: TPM?) -> RollbackGuard? {
    guard tpm != nil else { return nil }
    return rollback
  }

  /// The TPM, for a store whose keys are in one.
  func requireTPM() throws(VaultError) -> TPM {
    switch self {
    case .tpm(let tpm, _): return tpm
    case .keyFile: throw .tpm(.absent, detail: "the settings exclude it")
    case .withoutTPM(let path): throw .tpm(.absent, detail: "there is no \(path)")
    }
  }
}

extension VaultError {
  init(tpm error: TPMError) {
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
