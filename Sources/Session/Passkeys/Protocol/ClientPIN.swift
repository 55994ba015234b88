internal import CBOR

/// The subcommands of `authenticatorClientPIN` (CTAP 2.1, 6.5) of an authenticator without a PIN.
enum ClientPIN: Sendable, Hashable {
  case keyAgreement(PINProtocol)
  case token(PINProtocol, platformKey: CBORValue, TokenPermissions, RelyingPartyID?)
  case uvRetries

  init(_ fields: CTAPFields) throws(CTAPStatus) {
    switch try fields.required(2, \.integer) {
    case 0x02: self = .keyAgreement(try Self.version(fields))
    case 0x06:
      let version = try Self.version(fields)
      let key = try fields.required(3) { $0 }
      let permissions = TokenPermissions(rawValue: try fields.required(9, \.integer))
      guard permissions.rawValue > 0 else { throw .invalidParameter }
      guard permissions.isSubset(of: .offered) else { throw .unauthorizedPermission }
      var relyingParty: RelyingPartyID?
      if let text = try fields.optional(10, \.string) { relyingParty = try CredentialEntities.relyingParty(text) }
      // A token for sign-ins or new passkeys must name the relying party.
      guard relyingParty != nil || permissions == .credentialManagement else { throw .missingParameter }
      self = .token(version, platformKey: key, permissions, relyingParty)
    case 0x07: self = .uvRetries
    default: throw .invalidSubcommand
    }
  }

  private static func version(_ fields: CTAPFields) throws(CTAPStatus) -> PINProtocol {
    try PINProtocol(number: try fields.required(1, \.integer))
  }
}
