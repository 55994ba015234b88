/// Why a TPM does not open the store whose keys it holds.
@nonexhaustive(warn)
public enum TPMProblem: String, Sendable, Hashable, CaseIterable {
  /// The TPM cannot be reached, or the machine has none.
  case absent
  /// The TPM was cleared or replaced: it is not the one that the store was sealed in.
  case changed
  /// The TPM refuses passcodes for a while, after too many wrong ones of any program.
  case lockedOut = "locked out"
  /// The registers that the store was sealed to have other values: the firmware, its settings or the boot were changed.
  case registersChanged = "registers changed"
  /// The TPM's storage hierarchy has an owner password.
  case ownerPassword = "owner password"
  /// The TPM refused for another reason.
  case refused
}

/// Why a credential of systemd does not open the store whose keys are sealed under it.
@nonexhaustive(warn)
public enum CredentialProblem: String, Sendable, Hashable, CaseIterable {
  /// The service has none, or its settings exclude it.
  case absent
  /// The service has another one than the one that the store was sealed under.
  case changed
}

/// Why the machine did not give a permission that a program asked for.
@nonexhaustive(warn)
public enum AuthorizationProblem: String, Sendable, Hashable, CaseIterable {
  /// The machine's rules do not allow it, or not for this program's session.
  case denied
  /// The person closed the password prompt.
  case dismissed
  /// It needs a password, and nobody can be asked.
  case nobodyToAsk = "nobody to ask"
  /// It needs a password, which is not asked for here.
  case notAsked = "not asked"
  /// The password was wrong in every allowed try.
  case wrongPassword = "wrong password"
  /// The machine does not answer.
  case unavailable
}
