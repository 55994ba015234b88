/// What a token may be used for (CTAP 2.1, 6.5.5.7).
struct TokenPermissions: OptionSet, Sendable, Hashable {
  let rawValue: Int

  static let makeCredential = TokenPermissions(rawValue: 0x01)
  static let getAssertion = TokenPermissions(rawValue: 0x02)
  static let credentialManagement = TokenPermissions(rawValue: 0x04)
  static let offered: TokenPermissions = [.makeCredential, .getAssertion, .credentialManagement]
}
