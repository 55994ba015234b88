package import TPM

/// What the keys of a store's device slot and of its passcode's slot are sealed in.
package enum DeviceSeal: Sendable {
  /// The device slot's key is in a file beside the database, and the passcode's slot has scrypt alone.
  case keyFile
  case credential(Credential)
  /// With the registers that the keys are sealed to.
  case tpm(TPM)

  package var isKeyFile: Bool {
    if case .keyFile = self { true } else { false }
  }

  package var tpm: TPM? {
    if case .tpm(let tpm) = self { tpm } else { nil }
  }

  package var tier: VaultStatus.Tier {
    switch self {
    case .keyFile: .keyFile
    case .credential(let credential): credential.isSealedByTPM ? .credentialOfTPM : .credential
    case .tpm: .tpm
    }
  }
}
