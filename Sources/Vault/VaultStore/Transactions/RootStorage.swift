/// Where the machine keeps the keys of its stores' device slots.
package struct RootStorage: Sendable {
  private enum MachineTPM: Sendable {
    /// The settings exclude it.
    case excluded
    /// The machine has none at this path. A store that was in a TPM is not moved to a lower tier; only ``excluded``
    /// allows that.
    case missing(path: String)
    /// Without a guard, a whole store that was put back is not detected.
    case present(TPM, RollbackGuard?)
  }

  /// When keys are sealed under a credential.
  package enum CredentialUse: String, Sendable, Hashable {
    /// Where there is a credential, and no TPM.
    case withoutTPM = "auto"
    /// Always: without a credential no store can be created.
    case always = "yes"
    /// Never, and no store that needs one opens.
    case never = "no"
  }

  private let machineTPM: MachineTPM
  private var credential: Credential?
  private var earlierCredential: Credential?
  private var credentialUse = CredentialUse.withoutTPM

  private init(_ machineTPM: MachineTPM) { self.machineTPM = machineTPM }

  /// In key files.
  package static let keyFile = RootStorage(.excluded)

  /// In this TPM. Without a guard, a whole store that was put back is not detected.
  package static func tpm(_ tpm: TPM, _ rollback: RollbackGuard? = nil) -> RootStorage {
    RootStorage(.present(tpm, rollback))
  }

  /// In key files, since the machine has no TPM at this path. A store that was in a TPM is not moved to a key file.
  package static func withoutTPM(path: String) -> RootStorage { RootStorage(.missing(path: path)) }

  /// The same storage with credentials.
  ///
  /// - Parameters:
  ///   - credential: the current credential; nil if there is none.
  ///   - earlier: the previous credential, which opens stores until they are sealed again.
  package func with(
    _ credential: Credential?, earlier: Credential? = nil, use: CredentialUse = .withoutTPM
  ) -> RootStorage {
    var storage = self
    (storage.credential, storage.earlierCredential, storage.credentialUse) = (credential, earlier, use)
    return storage
  }

  /// The guard for a store with this seal; nil for a store outside the TPM.
  package func rollback(of seal: DeviceSeal) -> RollbackGuard? {
    guard case .tpm = seal, case .present(_, let rollback) = machineTPM else { return nil }
    return rollback
  }
}

/// What keys are sealed in.
extension RootStorage {
  /// The seal for a new store, and for keys that are sealed again: the TPM, else a credential, else a key file, unless
  /// the settings choose otherwise.
  ///
  /// - Throws: `credential` where the settings require one that is not there.
  package func sealForNewKeys() throws(VaultError) -> DeviceSeal {
    if credentialUse == .always {
      guard let credential else { throw Self.noCredential }
      return .credential(credential)
    }
    if case .present(let tpm, _) = machineTPM { return .tpm(tpm) }
    if credentialUse == .withoutTPM, let credential { return .credential(credential) }
    return .keyFile
  }

  /// The seal that opens a slot. Keys that are sealed again use it as well, in a TPM with the same registers.
  ///
  /// - Throws: `tpm` or `credential` where the machine does not have it.
  package func seal(of slot: DeviceSlot) throws(VaultError) -> DeviceSeal {
    switch slot {
    case .keyFile: .keyFile
    case .credential(let id): .credential(try requireCredential(id))
    case .tpm(let sealed): .tpm(try requireTPM().sealing(to: sealed.registers))
    }
  }

  /// The seal for the new keys of a store whose device slot no longer opens. A store with a key file gets a key file
  /// again.
  ///
  /// - Parameter slot: the slot that no longer opens; nil where it cannot be read.
  /// - Throws: `tpm` or `credential` where the store would get a lower tier that nobody chose.
  package func seal(replacing slot: DeviceSlot?) throws(VaultError) -> DeviceSeal {
    let new: DeviceSeal
    switch slot {
    case nil, .keyFile: return .keyFile
    case .credential, .tpm: new = try sealForNewKeys()
    }
    switch (slot, new) {
    case (.tpm, .keyFile),
      (.tpm, .credential) where credentialUse != .always:
      if case .missing = machineTPM { _ = try requireTPM() }
    case (.credential, .keyFile) where credentialUse != .never: throw Self.noCredential
    default: break
    }
    return new
  }

  /// The TPM, for a store whose keys are in one.
  private func requireTPM() throws(VaultError) -> TPM {
    switch machineTPM {
    case .present(let tpm, _): return tpm
    case .excluded: throw .tpm(.absent, detail: "the settings exclude it")
    case .missing(let path): throw .tpm(.absent, detail: "there is no \(path)")
    }
  }

  /// The credential of this id, for a store whose keys are under one.
  private func requireCredential(_ id: [UInt8]) throws(VaultError) -> Credential {
    guard credentialUse != .never else { throw .credential(.absent, detail: "the settings exclude it") }
    let all = [credential, earlierCredential].compactMap(\.self)
    guard let known = all.first(where: { $0.id == id }) else {
      throw all.isEmpty ? Self.noCredential : .credential(.changed, detail: "")
    }
    return known
  }

  private static let noCredential = VaultError.credential(.absent, detail: "systemd gave the service none")

  /// The seal for keys that are sealed again.
  ///
  /// - Parameter registers: the PCRs that the keys are sealed to, in a TPM.
  /// - Throws: `tpm` or `credential` where the settings require one that is not there, `invalidRequest` where neither is
  ///   to be used, and for registers without a TPM.
  package func newSeal(to registers: PlatformRegisters) throws(VaultError) -> DeviceSeal {
    switch try sealForNewKeys() {
    case .tpm(let tpm): return .tpm(tpm.sealing(to: registers))
    case .credential(let credential):
      guard registers.isEmpty else {
        throw .invalidRequest("registers need a TPM: the store is sealed by a credential")
      }
      return .credential(credential)
    case .keyFile:
      if case .missing(let path) = machineTPM { throw .tpm(.absent, detail: "there is no \(path)") }
      throw .invalidRequest(
        "this store keeps its key in a file: private stores do, and those of a service with 'tpm = no' in whorld.conf "
          + "and without a credential")
    }
  }
}
