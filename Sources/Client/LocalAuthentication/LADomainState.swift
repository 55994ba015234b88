public import KeychainServices

/// Identifies the fingers and companions that authentication relies on. Compare the hashes to notice a change.
open class LADomainState: NSObject {
  /// The fingers.
  public let biometry: LADomainStateBiometry
  /// The companions: none here.
  public let companion: LADomainStateCompanion
  /// The state of both parts together: equal to that of the fingers, since there are no companions.
  public let stateHash: Data?

  init(biometryType: LABiometryType, stateHash: Data?) {
    biometry = LADomainStateBiometry(biometryType: biometryType, stateHash: stateHash)
    companion = LADomainStateCompanion()
    self.stateHash = stateHash
  }
}

/// The fingers' part of ``LADomainState``.
open class LADomainStateBiometry: NSObject {
  /// Like ``LAContext/biometryType``.
  public let biometryType: LABiometryType
  /// Like ``LAContext/evaluatedPolicyDomainState``.
  public let stateHash: Data?

  init(biometryType: LABiometryType, stateHash: Data?) {
    self.biometryType = biometryType
    self.stateHash = stateHash
  }
}

/// The companions' part of ``LADomainState``: Linux has none.
open class LADomainStateCompanion: NSObject {
  /// Always empty.
  public var availableCompanionTypes: Set<LACompanionType> { [] }
  /// Always nil.
  public var stateHash: Data? { nil }

  override init() {}

  /// Always nil.
  public func stateHash(for companionType: LACompanionType) -> Data? { nil }
}
