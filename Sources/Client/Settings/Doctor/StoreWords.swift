package import Primitives
package import SecretModel

extension ReaderAdapter {
  /// Why `auto` uses this adapter.
  package var reason: String {
    "this store has \(rawValue) on record ('whorl reader use' changes it)"
  }
}

extension VaultStatus.Tier {
  /// A description of where the store's keys are, and whether the store is private.
  package func spoken(in place: StorePlace) -> String {
    switch (self, place) {
    case (.keyFile, .folder): "key file (private)"
    case (.keyFile, .own): "key file (system service)"
    case (.credential, _): "systemd credential (system service), no more than a key file: no TPM is known to seal it"
    case (.credentialOfTPM, _): "systemd credential sealed by the TPM (system service)"
    case (.tpm, _): "TPM (system service)"
    }
  }
}
