internal import Keys
internal import Primitives
internal import Prompts
internal import SecretModel
internal import SessionPrompts
internal import Whorl

/// What a touch is kept for: a program that signs in to a host as a user with a key, for as many minutes as the key allows.
struct Grant: Hashable {
  var key: ItemID
  /// The certificate that signs in instead of the key; nil for the key itself.
  var certificate: [UInt8]?
  /// The program's identity.
  var program: String
  /// The host's public key.
  var host: [UInt8]
  var user: String
}

/// Makes signatures with the keys of the vault, after asking the person for what each key requires.
struct Signer: Sendable {
  let turns: PromptTurns
  let grants: KeptTouches<Grant>
  let lock: AgentLock
  /// Makes the prompt for a client.
  let prompt: @Sendable (ClientProgram) -> any AuthenticationPrompt
  let log: @Sendable (String) -> Void
  let hosts: KnownHosts

  /// Whether the key may sign for this purpose. A key that is restricted to hosts signs in only to these, and only
  /// through hosts that its rules allow.
  func allows(_ purpose: SignaturePurpose, with key: SSHKey) -> Bool {
    guard !key.hosts.isEmpty else { return true }
    guard case .signIn(let user, let host?) = purpose.target else { return false }
    // Each hop needs a rule of its own, as in OpenSSH. The first hop starts on this machine.
    let way = purpose.via + [host]
    return way.indices.allSatisfy { step in
      key.hosts.contains { rule in
        isNamed(rule.host, way[step])
          && (step == 0 ? rule.from == nil : rule.from.map { isNamed($0, way[step - 1]) } ?? false)
          // The agent does not learn the user name on intermediate hosts, so only the last hop's is checked.
          && (rule.user == nil || step < way.count - 1 || rule.user == user)
      }
    }
  }

  /// Whether `known_hosts` gives a host's key this name.
  private func isNamed(_ name: String, _ host: [UInt8]?) -> Bool {
    guard let host else { return false }
    return hosts.name(ofHostWith: host, candidates: [name]) == name
  }

  /// The signature in SSH's format; nil if it is refused.
  func signature(
    _ request: SignatureRequest, for purpose: SignaturePurpose, with key: SSHKey, of store: SecretStore,
    to peer: ClientProgram
  ) async -> [UInt8]? {
    let words = PurposeWords(hosts, candidates: hosts.candidates(in: peer.arguments))
      .text(of: purpose.target, via: purpose.via)
    let certificate = purpose.certificate.map {
      " and \(CertificateWords.text(of: $0, at: SystemClock.calendar.nanoseconds / 1_000_000_000))"
    }
    let means = "with the SSH key \(PromptLabel.word(key.name))\(certificate ?? "")"
    let reason = "\(words) \(means)"
    let use = KeyUse.sign(request.data, purpose.scheme)
    let granted = grant(for: purpose, with: key, to: peer)
    let sign: AskingRequest<[UInt8], VaultError> = { vault, asking throws(VaultError) in
      try await vault.useKey(key.id, use, asking).withUnsafeBytes { Array($0) }
    }
    /// The signature without a new touch.
    nonisolated(nonsending) func early() async throws(VaultError) -> [UInt8]? {
      guard let granted else { return nil }
      let earlier = try await grants.reuse(granted) { context throws(VaultError) in
        try await context.perform(nil, sign)
      }
      if earlier != nil { log("A touch from before holds to \(reason), asked by \(peer.words)") }
      return earlier
    }
    do throws(VaultError) {
      // Before taking a turn: a signature without a prompt does not wait for another program's prompt.
      var signature = try await early()
      if signature == nil { signature = try await Inquiry.withoutAsking(in: store, sign) }
      if signature == nil {
        signature = try await turns.run(for: peer.program) { () throws(VaultError) in
          // Another request of this program may have been granted a touch meanwhile.
          if let earlier = try await early() { return earlier }
          // Each request has its own context, so that no signature reuses another's touch unless the key allows it.
          var inquiry = Inquiry(reason, prompt: prompt(peer))
          inquiry.options.offersFallbackAtOnce = true
          inquiry.firstUnlock = .apart
          inquiry.repeatsWhereVaultEnds = true
          return try await inquiry.ask(
            in: store, keep: granted.map { granted in { keep($0, for: granted, with: key) } }, sign)
        }
      }
      guard let signature else { throw .cancelled }
      log("Signed, to \(reason), asked by \(peer.words)")
      return SSHSignature.encoded(signature, purpose.algorithm, of: purpose.key)
    } catch {
      log("refused to \(reason), asked by \(peer.words): \(error.explanation.what)")
      return nil
    }
  }

  /// The purpose for which a touch may be reused; nil if each signature needs its own touch. A program in a login over the
  /// network does not use a touch that was given to the same program at the seat.
  private func grant(for purpose: SignaturePurpose, with key: SSHKey, to peer: ClientProgram) -> Grant? {
    guard key.grantedMinutes > 0, peer.remoteLogin == nil, let program = peer.identity, purpose.via.isEmpty,
      case .signIn(let user, let host?) = purpose.target
    else { return nil }
    return Grant(key: key.id, certificate: purpose.certificate?.bytes, program: program, host: host, user: user)
  }

  private func keep(_ context: AuthenticationContext, for granted: Grant, with key: SSHKey) {
    grants.keep(context, for: granted, lasting: .seconds(60 * min(key.grantedMinutes, SSHKey.longestGrant)))
  }
}
