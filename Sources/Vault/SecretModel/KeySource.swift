package import KeySchemes
package import SecureMemory

/// Where the private key of a new item comes from.
package enum KeySource: Sendable {
  /// It is made in the vault, which keeps it.
  case generated(KeyAlgorithm)
  /// It is brought, as programs give keys to an SSH agent: the contents of `SSH_AGENTC_ADD_IDENTITY`.
  case ssh(SharedSecret)
}
