internal import CBOR
internal import SecretModel

/// `authenticatorCredentialManagement` (CTAP 2.1, 6.8).
struct CredentialManagement: Sendable, Hashable {
  enum Action: Sendable, Hashable {
    case metadata
    case relyingParties
    case nextRelyingParty
    case credentials(relyingPartyHash: [UInt8])
    case nextCredential
    case delete(credentialID: [UInt8])
    case update(credentialID: [UInt8], Passkey.User)
  }

  let action: Action
  let proof: TokenProof?
  /// The bytes that the proof authenticates.
  let message: [UInt8]

  init(_ fields: CTAPFields) throws(CTAPStatus) {
    let number = try fields.required(1, \.integer)
    guard let subcommand = UInt8(exactly: number), (1...7).contains(subcommand) else { throw .invalidSubcommand }
    let parameters = try fields.fields(2)
    // Canonical CBOR has one encoding, so this equals the bytes received.
    message = [subcommand] + (fields[2]?.encoded ?? [])
    // The subcommands that fetch the next entry have no proof.
    let continues = number == 3 || number == 5
    proof = continues ? nil : try TokenProof(fields, mac: 4, version: 3)
    guard continues || proof != nil else { throw .tokenRequired }
    action =
      switch number {
      case 1: .metadata
      case 2: .relyingParties
      case 3: .nextRelyingParty
      case 4: .credentials(relyingPartyHash: try Self.required(parameters).required(1, \.byteString))
      case 5: .nextCredential
      case 6: .delete(credentialID: try Self.credentialID(parameters))
      default:
        .update(
          credentialID: try Self.credentialID(parameters),
          try CredentialEntities.user(try CTAPFields(try Self.required(parameters).required(3) { $0 })))
      }
  }

  private static func required(_ parameters: CTAPFields?) throws(CTAPStatus) -> CTAPFields {
    guard let parameters else { throw .missingParameter }
    return parameters
  }

  private static func credentialID(_ parameters: CTAPFields?) throws(CTAPStatus) -> [UInt8] {
    let descriptor = try CTAPFields(try required(parameters).required(2) { $0 })
    return try descriptor.required("id", \.byteString)
  }
}
