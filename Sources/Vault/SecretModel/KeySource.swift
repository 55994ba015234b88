package import KeySchemes
package import SecureMemory

/// The source of a new item's private key.
package enum KeySource: Sendable {
  /// It is generated in the vault, and stays there.
  case generated(KeyAlgorithm)
  /// It is imported in the format for SSH agents: the contents of `SSH_AGENTC_ADD_IDENTITY`.
  case ssh(SharedSecret)
  /// It is a passkey of another store or program: the bytes of a ``MovingPasskey``.
  case passkey(SharedSecret)
}
