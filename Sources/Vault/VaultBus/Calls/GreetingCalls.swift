internal import SecretModel

/// Calls that the server object answers itself.
extension VaultCall {
  static let greetingCalls = [hello, cancel]

  package static let hello = VaultCall("Hello", takes: "uas", gives: "uas") { (_, _) async throws(VaultError) in [] }
  static let cancel = VaultCall("Cancel", endsWaiting: true) { (_, _) async throws(VaultError) in [] }
}
