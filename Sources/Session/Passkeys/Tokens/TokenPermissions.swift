/// What a token may be used for (CTAP 2.1, 6.5.5.7).
struct TokenPermissions: OptionSet, Sendable, Hashable {
  let rawValue: Int

  static let makeCredential = TokenPermissions(rawValue: 0x01)
  static let getAssertion = TokenPermissions(rawValue: 0x02)
  static let credentialManagement = TokenPermissions(rawValue: 0x04)
  /// The one permission that the prompt of a token announces, and that its touch is for (decision 0167). The token has the
  /// others for requests that change and sign nothing: Chromium looks up the passkeys of a list of exclusions with
  /// `getAssertion`.
  var announced: TokenPermissions {
    [Self.makeCredential, .getAssertion].first { contains($0) } ?? .credentialManagement
  }

  static let offered: TokenPermissions = [.makeCredential, .getAssertion, .credentialManagement]
}
