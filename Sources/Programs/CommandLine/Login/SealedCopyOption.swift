import ArgumentParser
import SecretModel
import SecureMemory
import Settings
import Wallets

/// The option for the keys that a keyring's copy is sealed under.
struct SealedCopyOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "What opens the copy of the keyring's secret: recovery-key or passcode-and-recovery-key.",
      discussion:
        "Nobody can guess a recovery key. On a copy under the passcode, which is asked for, whoever reads that file can "
        + "try passcodes without being counted. Default: recovery-key.", valueName: "keys"))
  var sealedUnder: SealedCopy.Keys?

  /// Seals a copy under the chosen keys. Asks for the passcode if it is one of them.
  ///
  /// - Parameter answers: nil for those of the session.
  func copy(
    of secret: borrowing SecretBytes, in store: any VaultService, _ session: Session, _ answers: Answers? = nil
  ) async throws(Failure) -> SealedCopy {
    let keys = sealedUnder ?? .recoveryKey
    let secret = SharedSecret(secret.copy())
    let entries = LoginEntries(in: store)
    let copy: SealedCopy
    switch keys {
    case .recoveryKey:
      copy = try await session.explained { () async throws(VaultError) in
        try await entries.sealedCopy(of: secret.bytes, under: keys)
      }
    case .passcodeAndRecoveryKey:
      copy = try await session.asking(
        store, answers ?? session.answers(), reason: "make the copy of the keyring's secret"
      ) {
        try await entries.sealedCopy(of: secret.bytes, under: keys, $0)
      }
    }
    if copy.keys != keys {
      StandardError.line(
        "Only the recovery key opens the copy of the keyring's secret: in this store the passcode opens no copies.")
    }
    return copy
  }
}

extension SealedCopy.Keys: ExpressibleByArgument {}
