public import KeychainServices

/// What stands for the fingers and companions that authentication relies on: compare hashes to learn of a change.
open class LADomainState: NSObject {
  /// The fingers.
  public let biometry: LADomainStateBiometry
  /// The companions: none here.
  public let companion: LADomainStateCompanion
  /// Stands for both parts together: that of the fingers, since there are no companions. Nil under the same conditions.
  public let stateHash: Data?

  init(biometryType: LABiometryType, stateHash: Data?) {
    biometry = LADomainStateBiometry(biometryType: biometryType, stateHash: stateHash)
    companion = LADomainStateCompanion()
    self.stateHash = stateHash
  }
}

/// The fingers' part of ``LADomainState``.
open class LADomainStateBiometry: NSObject {
  /// As ``LAContext/biometryType``.
  public let biometryType: LABiometryType
  /// As ``LAContext/evaluatedPolicyDomainState``.
  public let stateHash: Data?

  init(biometryType: LABiometryType, stateHash: Data?) {
    self.biometryType = biometryType
    self.stateHash = stateHash
  }
}

/// The companions' part of ``LADomainState``: Linux has none.
open class LADomainStateCompanion: NSObject {
  /// Nil always.
  public var stateHash: Data? { nil }

  override init() {}
}
