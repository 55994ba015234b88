internal import CBOR
internal import Primitives
internal import SecretModel

/// `authenticatorMakeCredential` (CTAP 2.1, 6.1).
struct MakeCredential: Sendable, Hashable {
  let clientDataHash: [UInt8]
  let relyingParty: RelyingPartyID
  let relyingPartyName: String
  let user: Passkey.User
  /// The first of the list that is supported; nil if none is.
  let algorithm: KeyAlgorithm?
  let excluded: [[UInt8]]
  let extensions: Extensions
  let options: CeremonyOptions
  let proof: EmptyOr<TokenProof>?
  let asksEnterpriseAttestation: Bool

  struct Extensions: Sendable, Hashable {
    let protection: Passkey.Protection?
    let hasSecret: Bool
    let blob: [UInt8]?
  }

  init(_ fields: CTAPFields) throws(CTAPStatus) {
    clientDataHash = try ClientDataHash.read(fields, 1)
    let party = try CTAPFields(try fields.required(2) { $0 })
    relyingParty = try CredentialEntities.relyingParty(try party.required("id", \.string))
    relyingPartyName = CredentialEntities.truncated(try party.optional("name", \.string) ?? "")
    user = try CredentialEntities.user(try CTAPFields(try fields.required(3) { $0 }))
    algorithm = try Self.algorithm(in: try fields.required(4, \.elements))
    excluded = try CredentialEntities.identifiers(try fields.optional(5, \.elements) ?? [])
    extensions = try Extensions(try fields.fields(6))
    options = try CeremonyOptions(try fields.fields(7))
    proof = try EmptyOr.proof(fields, mac: 8, version: 9)
    asksEnterpriseAttestation = fields[10] != nil
  }

  private static func algorithm(in list: [CBORValue]) throws(CTAPStatus) -> KeyAlgorithm? {
    var chosen: KeyAlgorithm?
    // Read all of them, since any malformed one is an error.
    for element in list {
      let fields = try CTAPFields(element)
      let (number, type) = (try fields.required("alg", \.integer), try fields.required("type", \.string))
      guard chosen == nil, .text(type) == CredentialEntities.type else { continue }
      chosen = CredentialAlgorithm.algorithm(number)
    }
    return chosen
  }
}

extension MakeCredential.Extensions {
  fileprivate init(_ fields: CTAPFields?) throws(CTAPStatus) {
    var protection: Passkey.Protection?
    if let level = try fields?.optional("credProtect", \.integer) {
      guard let known = Passkey.Protection(rawValue: level) else { throw .invalidOption }
      protection = known
    }
    self.protection = protection
    hasSecret = try fields?.optional("hmac-secret", \.boolean) ?? false
    blob = try fields?.optional("credBlob", \.byteString)
  }
}

/// The algorithms of passkeys and their COSE numbers.
enum CredentialAlgorithm {
  /// In the order of preference.
  static let numbers = [COSEAlgorithm.es256, COSEAlgorithm.edDSA]

  static func algorithm(_ number: Int) -> KeyAlgorithm? {
    switch number {
    case COSEAlgorithm.es256: .ec(.p256)
    case COSEAlgorithm.edDSA: .ed25519
    default: nil
    }
  }

  static func number(_ algorithm: KeyAlgorithm) -> Int {
    algorithm == .ed25519 ? COSEAlgorithm.edDSA : COSEAlgorithm.es256
  }
}
