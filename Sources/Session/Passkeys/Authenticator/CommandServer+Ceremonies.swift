internal import CBOR
internal import Keys
internal import Primitives
internal import SecretModel

extension CommandServer {
  func make(_ request: MakeCredential) async throws(CTAPStatus) -> CBORValue {
    let proof = try await proof(request.proof)
    guard let algorithm = request.algorithm else { throw .unsupportedAlgorithm }
    // `up` must not be false. `uv` is ignored, since `alwaysUv` verifies the user in any case.
    guard request.options.userPresence != false else { throw .invalidOption }
    guard !request.asksEnterpriseAttestation else { throw .invalidParameter }
    try check(proof, request.clientDataHash, .makeCredential, request.relyingParty)
    let vault = vault
    let words = CeremonyWords.make(for: request.relyingParty, as: request.user.promptName)
    let known = try await ask { () throws(VaultError) in try await vault.passkeys(for: request.relyingParty.text) }
    if known.contains(where: { request.excluded.contains($0.credentialID) }) {
      // Only after a touch, so that programs cannot find out which accounts exist.
      try await verify(proof != nil, words)
      throw .credentialExcluded
    }
    let new = NewPasskey(
      relyingParty: request.relyingParty.text, relyingPartyName: request.relyingPartyName, user: request.user,
      algorithm: algorithm, isDiscoverable: request.options.residentKey ?? false,
      protection: request.extensions.protection ?? .optional,
      repliesWithProtection: request.extensions.protection != nil, hasSecret: request.extensions.hasSecret,
      blob: request.extensions.blob, clientDataHash: request.clientDataHash)
    let ceremony: any PasskeyCeremony
    if let replaced = known.first(where: { request.replaces($0) }) {
      // The prompt of a token does not say that a passkey goes, so its touch does not do that.
      await endToken()
      ceremony = try await begin(.replace(replaced))
    } else {
      ceremony = try await self.ceremony(proof, for: .makeCredential, words)
    }
    let (_, signed) = try await use(ceremony) { ceremony throws(VaultError) in try await ceremony.make(new) }
    return [
      1: "packed", 2: .bytes(signed.authenticatorData),
      // Self attestation: the passkey's own key signs, and the model is not attested.
      3: ["alg": CBORValue(CredentialAlgorithm.number(algorithm)), "sig": .bytes(signed.signature)],
    ]
  }

  func assert(_ request: GetAssertion, _ channel: UInt32) async throws(CTAPStatus) -> CBORValue? {
    let proof = try await proof(request.proof)
    guard request.options.residentKey == nil else { throw .unsupportedOption }
    // The secret needs a present user (CTAP 2.1, 12.5).
    guard request.options.userPresence != false || request.secret == nil else { throw .unsupportedOption }
    try check(proof, request.clientDataHash, .getAssertion, request.relyingParty)
    let vault = vault
    let all = try await ask { () throws(VaultError) in try await vault.passkeys(for: request.relyingParty.text) }
    if request.purpose == .lookUp { return try lookUp(request, all, verified: proof != nil) }
    let secret = try request.secret.map { secret throws(CTAPStatus) in try self.secret(secret) }
    let words = CeremonyWords.signIn(to: request.relyingParty)
    var passkeys = PasskeyFilter.allowed(all, by: request.allowed, verified: true)
    guard !passkeys.isEmpty else {
      // `alwaysUv` verifies the user even if no passkey matches. Keep the token: platforms send a long list in parts.
      if proof == nil { try await verify(false, words) }
      throw .noCredentials
    }
    if request.allowed != nil { passkeys = [passkeys[0]] }
    let named = passkeys.count == 1 ? passkeys[0].user.promptName : nil
    let ceremony = try await ceremony(proof, for: .getAssertion, .signIn(to: request.relyingParty, as: named))
    let assertion = PasskeyAssertion(
      clientDataHash: request.clientDataHash, secretRequest: secret, wantsBlob: request.wantsBlob)
    let chosen = passkeys
    let signed = try await use(ceremony) { ceremony throws(VaultError) in
      try await ceremony.assert(chosen, assertion)
    }
    let answers = zip(chosen, signed).enumerated().map { number, pair -> CBORValue in
      let (passkey, signed) = pair
      var entries: [CBORValue: CBORValue] = [
        1: CredentialEntities.descriptor(passkey.credentialID), 2: .bytes(signed.authenticatorData),
        3: .bytes(signed.signature),
      ]
      if passkey.isDiscoverable { entries[4] = CredentialEntities.value(of: passkey.user) }
      if number == 0, chosen.count > 1 { entries[5] = CBORValue(chosen.count) }
      return .map(entries)
    }
    return begin(.assertions, answers, channel)
  }

  /// Answers which passkey of a list exists. No key is used without a touch: the flags say that no user was present, and
  /// the signature is invalid for every key. A request without a list gets no passkey, so that programs cannot find
  /// accounts whose IDs they do not know.
  private func lookUp(
    _ request: GetAssertion, _ all: [Passkey], verified: Bool
  ) throws(CTAPStatus) -> CBORValue {
    guard let list = request.allowed,
      let passkey = PasskeyFilter.allowed(all, by: list, verified: verified).first
    else { throw .noCredentials }
    let data = Digest.sha256(Array(request.relyingParty.text.utf8)) + [0, 0, 0, 0, 0]
    return [
      1: CredentialEntities.descriptor(passkey.credentialID), 2: .bytes(data),
      3: .bytes(passkey.algorithm == .ed25519 ? Self.noEdDSASignature : Self.noES256Signature),
    ]
  }

  /// An ECDSA signature in DER with r = s = 0, which is never valid.
  private static var noES256Signature: [UInt8] { [0x30, 6, 2, 1, 0, 2, 1, 0] }
  /// An Ed25519 signature whose S is not below the order of the curve, which is never valid.
  private static var noEdDSASignature: [UInt8] { [UInt8](repeating: 0xFF, count: 64) }

  /// The proof of a request. An empty one asks for a touch to choose this authenticator, and then throws.
  private func proof(_ proof: EmptyOr<TokenProof>?) async throws(CTAPStatus) -> TokenProof? {
    switch proof {
    case nil: return nil
    case .value(let proof): return proof
    case .empty:
      try await verify(false, .select)
      throw .pinInvalid
    }
  }

  private func check(
    _ proof: TokenProof?, _ clientDataHash: [UInt8], _ permission: TokenPermissions, _ relyingParty: RelyingPartyID
  ) throws(CTAPStatus) {
    guard let proof else { return }
    let token = try token(proof, over: clientDataHash, for: permission)
    guard token.relyingParty == relyingParty else { throw .pinAuthInvalid }
  }

  /// The token's ceremony, whose touch this request consumes, or a new one, which prompts.
  private func ceremony(
    _ proof: TokenProof?, for use: TokenPermissions, _ words: CeremonyWords
  ) async throws(CTAPStatus) -> any PasskeyCeremony {
    guard proof != nil else { return try await begin(words) }
    guard token?.permissions.announced == use, let ceremony = takeToken() else { throw .pinAuthInvalid }
    return ceremony
  }

  /// Consumes a touch for an answer without a signature.
  private func verify(_ fromToken: Bool, _ words: CeremonyWords) async throws(CTAPStatus) {
    if fromToken { return await endToken() }
    try await withCeremony(words) { ceremony throws(VaultError) in try await ceremony.verify() }
  }

  /// Decrypts the salts of `hmac-secret`.
  private func secret(_ secret: GetAssertion.Secret) throws(CTAPStatus) -> PasskeySecretRequest {
    let keys = try agreements.keys(with: secret.platformKey, secret.version)
    guard keys.version.verifies(secret.mac, key: keys.mac.bytes, secret.salts) else { throw .pinAuthInvalid }
    guard let salts = try? keys.decrypt(secret.salts), salts.count == 32 || salts.count == 64 else {
      throw .invalidLength
    }
    return PasskeySecretRequest(
      encryption: secret.version == .one ? .protocolOne : .protocolTwo, key: keys.encryption,
      salts: SharedSecret(salts))
  }
}

extension MakeCredential {
  /// Whether the new passkey takes the place of this one: there is one discoverable passkey for each account of a site
  /// (CTAP 2.1, 6.1.2).
  fileprivate func replaces(_ passkey: Passkey) -> Bool {
    options.residentKey == true && passkey.isDiscoverable && passkey.user.handle == user.handle
  }
}
