import SecretModel
import Whorl

extension Failure {
  /// The failure for each error of the vault.
  init(_ error: VaultError) {
    let described = error.described
    self.init(ExitStatus(described.kind), described.explanation, name: described.apple.name)
    cause = error
    vaultHasEnded =
      switch error {
      case .systemCancelled, .contextInvalidated: true
      default: false
      }
  }
}

extension VaultError {
  /// Whether the store's own key is lost, so that only the recovery key opens the store.
  var isLostDeviceKey: Bool {
    switch self {
    case .deviceKeyMissing, .credential, .tpm(.absent, _), .tpm(.changed, _), .tpm(.registersChanged, _),
      .tpm(.refused, _):
      true
    default: false
    }
  }
}
