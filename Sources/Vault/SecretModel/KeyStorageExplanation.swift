extension TPMProblem {
  var apple: AppleError {
    switch self {
    case .absent, .ownerPassword, .refused: .status(.errSecNotAvailable)
    case .changed, .registersChanged: .status(.errSecInvalidKeychain)
    case .lockedOut: .status(.errSecAuthFailed)
    }
  }

  var kind: FailureKind {
    switch self {
    case .absent, .refused: .unavailable
    case .changed, .registersChanged: .damaged
    case .lockedOut: .refused
    case .ownerPassword: .configuration
    }
  }

  /// What it means to a person that the TPM does not open the store.
  package func explanation(_ detail: String) -> Explanation {
    let detail = detail.isEmpty ? nil : detail
    return switch self {
    case .absent:
      Explanation(
        "the machine's security chip (TPM), which keeps the store's keys, cannot be used",
        advice: "turn it on in the firmware's settings; if it is gone, an administrator sets 'tpm = no' in "
          + "/etc/whorl/whorld.conf, and 'whorl recover' takes the recovery key", detail: detail)
    case .changed:
      Explanation(
        "the machine's security chip (TPM) was cleared or replaced since the store's keys were sealed in it",
        advice: "'whorl recover' seals them again with the recovery key", detail: detail)
    case .lockedOut:
      Explanation(
        "the machine's security chip (TPM) takes no passcode for a while, after too many wrong ones of any program or "
          + "user", advice: "wait, or 'whorl recover' with the recovery key", detail: detail)
    case .registersChanged:
      Explanation(
        "the firmware, its settings or the boot changed since the store's keys were sealed to them",
        advice: "'whorl recover' takes the recovery key and seals them again, independently of these", detail: detail)
    case .ownerPassword:
      Explanation(
        "the machine's security chip (TPM) has an owner's password, which Whorl does not have",
        advice: "an administrator removes it ('tpm2_changeauth -c owner -p PASSWORD'), or sets 'tpm = no' in "
          + "/etc/whorl/whorld.conf", detail: detail)
    case .refused:
      Explanation(
        "the machine's security chip (TPM) has refused",
        advice: "try again after a restart of the machine; 'whorl recover' takes the recovery key", detail: detail)
    }
  }
}

extension Explanation {
  /// The keys of a store are in a file, and the machine has no TPM that could take them.
  package static func noTPMForKeyFile(_ detail: String) -> Explanation {
    Explanation(
      "this store keeps its keys in a file, and no security chip (TPM) is there that could take them",
      advice: "nothing has changed, and the store works as before; if the machine has a chip, turn it on in the "
        + "firmware's settings", detail: detail)
  }
}

extension CredentialProblem {
  var apple: AppleError { .status(self == .absent ? .errSecNotAvailable : .errSecInvalidKeychain) }
  var kind: FailureKind { self == .absent ? .unavailable : .damaged }

  /// What it means to a person that the credential does not open the store.
  package func explanation(_ detail: String) -> Explanation {
    let detail = detail.isEmpty ? nil : detail
    return switch self {
    case .absent:
      Explanation(
        "the systemd credential that the store's keys are sealed under is not there",
        advice:
          "an administrator puts it back into /etc/credstore.encrypted; if it is gone, they make a new one, or set "
          + "'credential = no' in /etc/whorl/whorld.conf, and 'whorl recover' takes the recovery key", detail: detail)
    case .changed:
      Explanation(
        "the systemd credential is another one than the store's keys were sealed under",
        advice: "an administrator gives the service the earlier one as well (whorld.conf(5)), or 'whorl recover' seals "
          + "them again with the recovery key", detail: detail)
    }
  }
}
