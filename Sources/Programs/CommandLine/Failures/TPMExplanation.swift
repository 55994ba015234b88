import Whorl

extension Failure {
  /// The failure of a store whose keys are in a TPM that does not open it.
  init(tpm problem: TPMProblem, detail: String) {
    let why = detail.isEmpty ? "" : ": \(detail)"
    switch problem {
    case .absent:
      self.init(
        .unavailable, "the TPM that the store's keys are kept in cannot be used\(why)",
        name: "errSecNotAvailable",
        advice: "turn it on in the firmware's settings; if it is gone, an administrator sets 'tpm = no' in "
          + "/etc/whorl/whorld.conf, and 'whorl recover' takes the recovery key")
    case .changed:
      self.init(
        .damaged, "the TPM was cleared or replaced since the store's keys were sealed in it",
        name: "errSecInvalidKeychain", advice: "'whorl recover' seals them again with the recovery key")
    case .lockedOut:
      self.init(
        .refused, "the TPM takes no passcode for a while, after too many wrong ones of any program or user",
        name: "errSecAuthFailed", advice: "wait, or 'whorl recover' with the recovery key")
    case .registersChanged:
      self.init(
        .damaged, "the firmware, its settings or the boot changed since the store's keys were sealed to them",
        name: "errSecInvalidKeychain",
        advice: "'whorl recover' takes the recovery key and seals them again, to nothing of these")
    case .ownerPassword:
      self.init(
        .configuration, "the TPM's owner hierarchy has a password, which Whorl does not have",
        name: "errSecNotAvailable",
        advice: "an administrator removes it ('tpm2_changeauth -c owner -p PASSWORD'), or sets 'tpm = no' in "
          + "/etc/whorl/whorld.conf")
    case .refused:
      self.init(
        .unavailable, "the TPM refused\(why)", name: "errSecNotAvailable",
        advice: "try again after a restart of the machine; 'whorl recover' takes the recovery key")
    }
  }
}

extension Failure {
  /// The failure of a store whose keys are sealed under a credential of systemd that does not open it.
  init(credential problem: CredentialProblem, detail: String) {
    let why = detail.isEmpty ? "" : ": \(detail)"
    switch problem {
    case .absent:
      self.init(
        .unavailable, "the systemd credential that the store's keys are sealed under is not there\(why)",
        name: "errSecNotAvailable",
        advice:
          "an administrator puts it back into /etc/credstore.encrypted; if it is gone, they make a new one, or set "
          + "'credential = no' in /etc/whorl/whorld.conf, and 'whorl recover' takes the recovery key")
    case .changed:
      self.init(
        .damaged, "the systemd credential is another one than the store's keys were sealed under",
        name: "errSecInvalidKeychain",
        advice: "an administrator gives the service the earlier one as well (whorld.conf(5)), or 'whorl recover' seals "
          + "them again with the recovery key")
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
