internal import CBOR
internal import SecretModel

/// Answers CTAP2 requests, one at a time. Keeps the token, and the rest of an enumeration, for later requests.
final class CommandServer {
  let vault: any PasskeyVault
  /// The time in milliseconds.
  let now: () -> UInt64
  /// Whether the current call may be waiting for the user.
  private(set) var isAsking = false

  let agreements = KeyAgreements()
  /// The only token, of either protocol: a new one replaces it.
  private(set) var token: PINToken?
  /// The answers of an enumeration that the client has not fetched yet.
  private var rest: Remainder?

  init(vault: any PasskeyVault, now: @escaping () -> UInt64) {
    (self.vault, self.now) = (vault, now)
  }

  /// The answer to a message: the status code, and after ``CTAPStatus/ok`` a value if there is one.
  func answer(_ message: [UInt8], on channel: UInt32) async -> [UInt8] {
    do throws(CTAPStatus) {
      await endExpiredToken()
      let value = try await value(try CTAPCommand(decoding: message), channel)
      let answer = [CTAPStatus.ok.rawValue] + (value?.encoded ?? [])
      // Another program of the user may have changed the passkeys of the store so that they do not fit.
      guard answer.count <= HIDReport.messageLimit else { throw .other }
      return answer
    } catch {
      // The answer to a cancelled request does not depend on the vault's error.
      return [(Task.isCancelled ? .keepAliveCancel : error).rawValue]
    }
  }

  private func value(_ command: CTAPCommand, _ channel: UInt32) async throws(CTAPStatus) -> CBORValue? {
    // Every other command ends an enumeration.
    switch command {
    case .getNextAssertion: return try next(.assertions, channel)
    case .credentialManagement(let request) where request.action == .nextRelyingParty:
      return try next(.relyingParties, channel)
    case .credentialManagement(let request) where request.action == .nextCredential:
      return try next(.credentials, channel)
    default: rest = nil
    }
    switch command {
    case .getInfo:
      let capacity = (try? await vault.capacity()) ?? 0
      return AuthenticatorInfo.value(canAsk: await vault.canAsk(), capacity: capacity)
    case .makeCredential(let request): return try await make(request)
    case .getAssertion(let request): return try await assert(request, channel)
    case .clientPIN(let request): return try await answer(request)
    case .credentialManagement(let request): return try await manage(request, channel)
    case .selection:
      try await withCeremony(.select) { ceremony throws(VaultError) in try await ceremony.verify() }
      return nil
    case .reset:
      try await reset()
      return nil
    case .getNextAssertion: throw .notAllowed
    }
  }

  private func reset() async throws(CTAPStatus) {
    guard await vault.canAsk() else { throw .notAllowed }
    await endToken()
    let vault = vault
    // A passkey that is made while the prompt is shown was not counted in it, and stays.
    let passkeys = try await ask { () throws(VaultError) in try await vault.passkeys(for: nil).map(\.id) }
    if !passkeys.isEmpty {
      try await ask(true) { () throws(VaultError) in try await vault.reset(passkeys, .reset(count: passkeys.count)) }
    }
    agreements.removeAll()
  }

  // The vault

  /// Calls the vault, and throws its errors as status codes.
  ///
  /// - Parameter waits: whether the call may wait for the user.
  func ask<R>(_ waits: Bool = false, _ call: () async throws(VaultError) -> R) async throws(CTAPStatus) -> R {
    isAsking = waits
    defer { isAsking = false }
    do throws(VaultError) { return try await call() } catch { throw CTAPStatus(error) }
  }

  /// Begins a ceremony for one call, and ends it.
  func withCeremony<R>(
    _ words: CeremonyWords, _ call: (any PasskeyCeremony) async throws(VaultError) -> R
  ) async throws(CTAPStatus) -> R {
    let ceremony = try await begin(words)
    return try await use(ceremony, call)
  }

  /// Begins a ceremony. Throws ``CTAPStatus/notAllowed`` if the user cannot be asked.
  func begin(_ words: CeremonyWords) async throws(CTAPStatus) -> any PasskeyCeremony {
    guard await vault.canAsk() else { throw .notAllowed }
    let vault = vault
    return try await ask { () throws(VaultError) in try await vault.begin(words) }
  }

  /// Uses a ceremony for its one call, and ends it.
  func use<R>(
    _ ceremony: any PasskeyCeremony, _ call: (any PasskeyCeremony) async throws(VaultError) -> R
  ) async throws(CTAPStatus) -> R {
    let result: Result<R, CTAPStatus>
    do throws(CTAPStatus) {
      result = .success(try await ask(true) { () throws(VaultError) in try await call(ceremony) })
    } catch { result = .failure(error) }
    await ceremony.end()
    return try result.get()
  }

  // The token

  /// The token that authenticates a request, if it permits the request.
  func token(
    _ proof: TokenProof, over message: [UInt8], for permission: TokenPermissions
  ) throws(CTAPStatus) -> PINToken {
    // `answer(_:on:)` has already ended an expired token.
    guard var token, token.verifies(proof, over: message),
      token.permissions.contains(permission)
    else { throw .pinAuthInvalid }
    token.used = now()
    self.token = token
    return token
  }

  /// - Precondition: the previous token has ended.
  func keep(_ token: PINToken) { self.token = token }

  /// Removes the token and returns its ceremony, so that no other request can use the touch.
  func takeToken() -> (any PasskeyCeremony)? {
    defer { token = nil }
    return token?.ceremony
  }

  func endToken() async {
    await takeToken()?.end()
  }

  /// When the token expires; nil without one.
  var tokenDeadline: UInt64? {
    token.map { min($0.used + PINToken.lifetime, $0.made + PINToken.longestLifetime) }
  }

  func endExpiredToken() async {
    if token?.isExpired(at: now()) == true { await endToken() }
  }

  // Enumerations

  /// Returns the first answer, and keeps the others for the commands that fetch the next one.
  func begin(_ kind: Remainder.Kind, _ answers: [CBORValue], _ channel: UInt32) -> CBORValue? {
    rest = Remainder(kind, answers.dropFirst(), for: channel, at: now())
    return answers.first
  }

  private func next(_ kind: Remainder.Kind, _ channel: UInt32) throws(CTAPStatus) -> CBORValue {
    guard let answer = rest?.next(kind, for: channel, at: now()) else {
      rest = nil
      throw .notAllowed
    }
    return answer
  }
}
