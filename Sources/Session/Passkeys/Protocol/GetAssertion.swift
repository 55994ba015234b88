internal import CBOR
internal import Keys

/// `authenticatorGetAssertion` (CTAP 2.1, 6.2).
struct GetAssertion: Sendable, Hashable {
  let relyingParty: RelyingPartyID
  let clientDataHash: [UInt8]
  /// The only passkeys that may sign; nil for all discoverable ones.
  let allowed: [[UInt8]]?
  let secret: Secret?
  let wantsBlob: Bool
  let options: CeremonyOptions
  let proof: EmptyOr<TokenProof>?

  /// What the client does with the answer.
  enum Purpose: Sendable, Hashable {
    /// It uses the signature.
    case signature
    /// It only finds out which passkeys of its list exist.
    case lookUp
  }

  /// The input of the extension `hmac-secret`.
  struct Secret: Sendable, Hashable {
    let platformKey: CBORValue
    let salts: [UInt8]
    let mac: [UInt8]
    let version: PINProtocol
  }

  init(_ fields: CTAPFields) throws(CTAPStatus) {
    relyingParty = try CredentialEntities.relyingParty(try fields.required(1, \.string))
    clientDataHash = try ClientDataHash.read(fields, 2)
    let list = try fields.optional(3, \.elements) ?? []
    // An empty list counts as no list.
    allowed = list.isEmpty ? nil : try CredentialEntities.identifiers(list)
    let extensions = try fields.fields(4)
    secret = try extensions?.fields("hmac-secret").map { fields throws(CTAPStatus) in try Secret(fields) }
    wantsBlob = try extensions?.optional("credBlob", \.boolean) ?? false
    options = try CeremonyOptions(try fields.fields(5))
    proof = try EmptyOr.proof(fields, mac: 6, version: 7)
  }
}

extension GetAssertion {
  /// Most clients send `up` false to look passkeys up before they ask the user, and use no signature. The exceptions are
  /// a client that has the user verified for the request, one that has a token and no list to look up, and `ssh` with a
  /// key of `ssh-keygen -O no-touch-required`.
  ///
  /// The hash of the client data does not tell the two apart for a site: Chromium looks up with the hash of the sign-in
  /// that follows (decision 0166).
  var purpose: Purpose {
    guard options.userPresence == false, options.userVerification != true else { return .signature }
    guard allowed != nil else { return proof == nil ? .lookUp : .signature }
    return relyingParty.isOfSSH && !SSHLookUp.hashes.contains(clientDataHash) ? .signature : .lookUp
  }
}

/// What `ssh` asks to be signed when it looks a key up: 32 zeros, and before OpenSSH 8.9 nothing.
private enum SSHLookUp {
  static let hashes = [Digest.sha256([UInt8](repeating: 0, count: 32)), Digest.sha256([])]
}

extension GetAssertion.Secret {
  fileprivate init(_ fields: CTAPFields) throws(CTAPStatus) {
    platformKey = try fields.required(1) { $0 }
    salts = try fields.required(2, \.byteString)
    mac = try fields.required(3, \.byteString)
    // CTAP 2.0 only has protocol one.
    version = try PINProtocol(number: try fields.optional(4, \.integer) ?? PINProtocol.one.rawValue)
  }
}
