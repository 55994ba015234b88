internal import Keys
internal import Primitives
internal import PromptTexts
internal import SSHKeys
internal import SecretModel
internal import SessionPrompts
internal import Whorl

/// Makes signatures with the keys of the vault, after asking the person for what each key requires.
struct Signer: Sendable {
  let turns: PromptTurns
  let grants: Grants
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
    /// The signature without a new touch.
    func early() async throws(VaultError) -> [UInt8]? {
      guard let granted, let earlier = try await reused(granted, use, store) else { return nil }
      log("A touch from before holds to \(reason), asked by \(peer.words)")
      return earlier
    }
    /// The signature, after unlocking the store if it still needs its first unlock.
    func opened() async throws(VaultError) -> [UInt8] {
      if try await store.awaitsFirstUnlock() {
        try await unlock(store, to: reason, for: peer)
        if let signature = try await unasked(use, key, store) { return signature }
      }
      return try await asked(use, reason, key, granted, store, by: peer)
    }
    do throws(VaultError) {
      // Before taking a turn: a signature without a prompt does not wait for another program's prompt.
      var signature = try await early()
      if signature == nil { signature = try await unasked(use, key, store) }
      if signature == nil {
        signature = try await turns.run(for: peer.program) { () throws(VaultError) in
          // Another request of this program may have been granted a touch meanwhile.
          if let earlier = try await early() { return earlier }
          return try await askAgainWhereVaultEnds { () async throws(VaultError) in try await opened() }
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
  private func grant(for purpose: SignaturePurpose, with key: SSHKey, to peer: ClientProgram) -> Grants.Purpose? {
    guard key.grantedMinutes > 0, peer.remoteLogin == nil, let program = peer.identity, purpose.via.isEmpty,
      case .signIn(let user, let host?) = purpose.target
    else { return nil }
    return Grants.Purpose(
      key: key.id, certificate: purpose.certificate?.bytes, program: program, host: host, user: user)
  }

  /// The signature, made with an earlier touch if one is still valid; nil otherwise.
  private func reused(_ granted: Grants.Purpose, _ use: KeyUse, _ store: SecretStore) async throws(VaultError)
    -> [UInt8]?
  {
    guard let context = grants.context(for: granted) else { return nil }
    do throws(VaultError) {
      return try await store.useKey(granted.key, use, using: context).withUnsafeBytes { Array($0) }
    } catch .interactionNotAllowed, .contextInvalidated, .systemCancelled {
      grants.forget(granted, context)
      return nil
    }
  }

  /// Asks for the passcode, which the store needs once after a start of the machine.
  private func unlock(_ store: SecretStore, to reason: String, for peer: ClientProgram) async throws(VaultError) {
    let context = store.makeContext(prompt: prompt(peer))
    defer { context.invalidate() }
    try await store.unlock(reason: "unlock the store, and then \(reason)", using: context)
  }

  /// The signature with a key that needs no prompt; nil for other keys, and before the first unlock of the store.
  private func unasked(_ use: KeyUse, _ key: SSHKey, _ store: SecretStore) async throws(VaultError) -> [UInt8]? {
    do throws(VaultError) {
      return try await store.useKey(key.id, use, mayAsk: false).withUnsafeBytes { Array($0) }
    } catch .interactionNotAllowed {
      return nil
    } catch .notUnlocked(let accessibility) {
      guard try await store.awaitsFirstUnlock() else { throw .notUnlocked(accessibility) }
      return nil
    }
  }

  private func asked(
    _ use: KeyUse, _ reason: String, _ key: SSHKey, _ granted: Grants.Purpose?, _ store: SecretStore,
    by peer: ClientProgram
  ) async throws(VaultError) -> [UInt8] {
    // Each request has its own context, so that no signature reuses another's touch unless the key allows it.
    let context = store.makeContext(prompt: prompt(peer))
    context.options.offersFallbackAtOnce = true
    do throws(VaultError) {
      let signature = try await store.useKey(key.id, use, reason: reason, using: context).withUnsafeBytes { Array($0) }
      guard let granted else {
        context.invalidate()
        return signature
      }
      context.options.interactionNotAllowed = true
      grants.keep(context, for: granted, minutes: min(key.grantedMinutes, SSHKey.longestGrant))
      return signature
    } catch {
      context.invalidate()
      throw error
    }
  }
}
