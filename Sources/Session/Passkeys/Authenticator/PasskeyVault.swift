package import SecretModel

/// What the authenticator needs of the vault.
package protocol PasskeyVault: Sendable {
  /// Whether a finger or the passcode can be asked for now. Shows no prompt.
  func canAsk() async -> Bool
  /// How many failed touches are left before lockout: 5 until the lockout, then 0, since the vault does not report the
  /// failures before it. Shows no prompt.
  func tries() async -> Int
  /// How many more passkeys fit.
  func capacity() async throws(VaultError) -> Int
  /// The passkeys of a relying party, or with nil all of them, in any order. Shows no prompt.
  func passkeys(for relyingParty: String?) async throws(VaultError) -> [Passkey]
  /// Begins a ceremony. Shows no prompt yet.
  func begin(_ words: CeremonyWords) async throws(VaultError) -> any PasskeyCeremony
  /// Changes the names of a passkey's user, after a prompt with these words.
  func update(_ id: ItemID, user: Passkey.User, _ words: CeremonyWords) async throws(VaultError)
  /// Deletes a passkey, after a prompt with these words.
  func delete(_ id: ItemID, _ words: CeremonyWords) async throws(VaultError)
  /// Deletes all passkeys after a finger and the passcode, in a prompt that names their number. Throws and deletes none
  /// if the user refuses.
  func reset(_ passkeys: [ItemID], _ words: CeremonyWords) async throws(VaultError)
}

/// One authentication context of the vault, for one ceremony. Cancelling the task of a call cancels its prompt.
package protocol PasskeyCeremony: Sendable {
  /// Asks the user for a proof, which the next call uses.
  func verify() async throws(VaultError)
  /// Makes a passkey. Asks first, unless ``verify()`` has.
  func make(_ passkey: NewPasskey) async throws(VaultError) -> (Passkey, SignedCeremony)
  /// Signs in with each of these passkeys of one relying party, for one touch. Asks first, unless ``verify()`` has.
  func assert(_ passkeys: [Passkey], _ assertion: PasskeyAssertion) async throws(VaultError) -> [SignedCeremony]
  /// Ends the ceremony. Proofs that were not used are discarded.
  func end() async
}

extension CTAPStatus {
  /// The status code for an error of the vault.
  init(_ error: VaultError) {
    self =
      switch error {
      case .cancelled, .userFallback, .appCancelled, .systemCancelled, .contextInvalidated, .authenticationFailed,
        .wrongPasscode, .touchRefused:
        .operationDenied
      case .timedOut: .userActionTimeout
      case .biometryLockout, .passcodeDelayed: .uvBlocked
      case .storeFull, .passkeysFull: .keyStoreFull
      case .itemGone, .itemInvalidated: .noCredentials
      case .invalidRequest, .invalidAccessControl: .invalidParameter
      case .interactionNotAllowed, .sessionRefused, .notUnlocked, .notAuthorized, .notEnrolled, .passcodeNotSet,
        .storeNotFound:
        .notAllowed
      default: .other
      }
  }
}
