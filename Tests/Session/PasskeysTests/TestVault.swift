import CBOR
import Glibc
import Keys
import Passkeys
import Primitives
import SecretModel

/// A vault in this process: it signs with real keys, and its person answers as the test says.
actor TestVault: PasskeyVault {
  enum Person: Sendable {
    case touches
    case refuses
    /// Does nothing until the call is cancelled. The prompt then takes a moment to go.
    case waits
    case isLate
    /// Answers, and the vault takes longer than two keep-alive messages do.
    case isSlow
  }

  private struct Entry {
    var passkey: Passkey
    let key: SharedSecret
    let secret: SharedSecret
  }

  private var entries: [Entry] = []
  /// How many passkeys were made, which is their time.
  private var count = 0.0
  private var person = Person.touches
  private var isThere = true
  private let limit = 100
  /// What prompts said, one for each touch.
  private(set) var prompts: [String] = []
  /// The ceremonies that were opened and have not ended.
  private(set) var open = 0
  /// The prompts that are shown now, and the most that were shown at a time.
  private var shown = 0
  private(set) var mostShown = 0
  /// How many prompts were cancelled.
  private(set) var cancelled = 0

  func set(_ person: Person) { self.person = person }
  func set(canAsk: Bool) { isThere = canAsk }

  func canAsk() -> Bool { isThere }
  func tries() -> Int { 5 }

  func capacity() async -> Int {
    await takeTime()
    return limit - entries.count
  }

  func passkeys(for relyingParty: String?) async -> [Passkey] {
    await takeTime()
    return entries.map(\.passkey).filter { relyingParty == nil || $0.relyingParty == relyingParty }
  }

  func begin(_ words: CeremonyWords) -> any PasskeyCeremony {
    open += 1
    return TestCeremony(self, words)
  }

  func ended() { open -= 1 }

  func update(_ id: ItemID, user: Passkey.User, _ words: CeremonyWords) async throws(VaultError) {
    try await ask(words)
    try change(id, to: user)
  }

  /// As another program of the user does, which the authenticator does not ask.
  func change(_ id: ItemID, to user: Passkey.User) throws(VaultError) {
    guard let index = entries.firstIndex(where: { $0.passkey.id == id }) else { throw .itemGone }
    entries[index].passkey.user = user
  }

  func delete(_ id: ItemID, _ words: CeremonyWords) async throws(VaultError) {
    try await ask(words)
    guard let index = entries.firstIndex(where: { $0.passkey.id == id }) else { throw .itemGone }
    entries.remove(at: index)
  }

  func reset(_ passkeys: [ItemID], _ words: CeremonyWords) async throws(VaultError) {
    try await ask(words)
    entries.removeAll { passkeys.contains($0.passkey.id) }
  }

  func ask(_ words: CeremonyWords) async throws(VaultError) {
    prompts.append(words.text)
    shown += 1
    mostShown = max(mostShown, shown)
    defer { shown -= 1 }
    switch person {
    case .touches, .isSlow: break
    case .refuses: throw .cancelled
    case .isLate: throw .timedOut
    case .waits:
      try? await Task.sleep(for: .seconds(60))
      if Task.isCancelled { cancelled += 1 }
      await Task.detached { try? await Task.sleep(for: .milliseconds(50)) }.value
      throw .appCancelled
    }
  }

  private func takeTime() async {
    if case .isSlow = person { try? await Task.sleep(for: .milliseconds(300)) }
  }

  func make(_ new: NewPasskey) throws(VaultError) -> (Passkey, SignedCeremony) {
    do {
      let key = try PrivateKey.generate(new.algorithm)
      if new.isDiscoverable {
        entries.removeAll {
          $0.passkey.isDiscoverable && $0.passkey.relyingParty == new.relyingParty
            && $0.passkey.user.handle == new.user.handle
        }
      }
      guard entries.count < limit else { throw VaultError.passkeysFull(limit: limit) }
      count += 1
      let blob = new.blob.flatMap { $0.count <= 32 ? $0 : nil } ?? []
      let passkey = Passkey(
        id: ItemID(bytes: try Random.bytes(16)), credentialID: try Random.bytes(32), relyingParty: new.relyingParty,
        relyingPartyName: new.relyingPartyName, user: new.user, algorithm: new.algorithm,
        publicKey: key.publicKey.external, isDiscoverable: new.isDiscoverable, protection: new.protection,
        hasSecret: new.hasSecret, blob: blob, access: new.access, created: count)
      entries.append(
        Entry(passkey: passkey, key: SharedSecret(try key.external()), secret: SharedSecret(try Random.key())))
      var extensions: [CBORValue: CBORValue] = [:]
      if new.repliesWithProtection { extensions["credProtect"] = CBORValue(new.protection.rawValue) }
      if new.hasSecret { extensions["hmac-secret"] = true }
      if new.blob != nil { extensions["credBlob"] = .bool(!blob.isEmpty) }
      let cose = COSEKey(signing: passkey.publicKey)?.value.encoded ?? []
      let attested = Passkey.model + [0, UInt8(passkey.credentialID.count)] + passkey.credentialID + cose
      return (
        passkey,
        try signed(passkey, key, attested: attested, extensions, new.clientDataHash)
      )
    } catch let error as VaultError { throw error } catch { throw .internalError("\(error)") }
  }

  func assert(_ passkeys: [Passkey], _ assertion: PasskeyAssertion) throws(VaultError) -> [SignedCeremony] {
    do {
      return try passkeys.map { passkey in
        guard let entry = entries.first(where: { $0.passkey.id == passkey.id }) else { throw VaultError.itemGone }
        let key = try PrivateKey(stored: entry.key.bytes, family: passkey.algorithm.family)
        var extensions: [CBORValue: CBORValue] = [:]
        if assertion.wantsBlob { extensions["credBlob"] = .bytes(passkey.blob) }
        if let request = assertion.secretRequest, passkey.hasSecret {
          extensions["hmac-secret"] = .bytes(try output(request, entry.secret.bytes))
        }
        return try signed(entry.passkey, key, attested: [], extensions, assertion.clientDataHash)
      }
    } catch let error as VaultError { throw error } catch { throw .internalError("\(error)") }
  }

  private func output(_ request: PasskeySecretRequest, _ secret: borrowing SecretBytes) throws -> [UInt8] {
    let salts = request.salts.bytes.withUnsafeBytes { Array($0) }
    let plain = stride(from: 0, to: salts.count, by: 32).flatMap { start in
      MAC.hmacSHA256(key: secret, Array(salts[start..<start + 32]))
    }
    let iv = request.encryption == .protocolOne ? [UInt8](repeating: 0, count: 16) : try Random.bytes(16)
    let encrypted = try AES256CBC.encrypt(SecretBytes(copying: plain.span), key: request.key.bytes, iv: iv)
    return request.encryption == .protocolOne ? encrypted : iv + encrypted
  }

  private func signed(
    _ passkey: Passkey, _ key: borrowing PrivateKey, attested: [UInt8], _ extensions: [CBORValue: CBORValue],
    _ clientDataHash: [UInt8]
  ) throws -> SignedCeremony {
    let flags: UInt8 = 0x1D | (attested.isEmpty ? 0 : 0x40) | (extensions.isEmpty ? 0 : 0x80)
    let data =
      Digest.sha256(Array(passkey.relyingParty.utf8)) + [flags, 0, 0, 0, 0] + attested
      + (extensions.isEmpty ? [] : CBORValue.map(extensions).encoded)
    let scheme: SignatureScheme = passkey.algorithm == .ed25519 ? .ed25519 : .ecdsa(.sha256, .message, .x962)
    return SignedCeremony(authenticatorData: data, signature: try key.sign(data + clientDataHash, scheme))
  }
}

/// One touch serves one call.
private actor TestCeremony: PasskeyCeremony {
  private let vault: TestVault
  private let words: CeremonyWords
  private var isProven = false

  init(_ vault: TestVault, _ words: CeremonyWords) { (self.vault, self.words) = (vault, words) }

  func verify() async throws(VaultError) {
    try await vault.ask(words)
    isProven = true
  }

  func make(_ passkey: NewPasskey) async throws(VaultError) -> (Passkey, SignedCeremony) {
    try await useProof()
    return try await vault.make(passkey)
  }

  func assert(_ passkeys: [Passkey], _ assertion: PasskeyAssertion) async throws(VaultError) -> [SignedCeremony] {
    try await useProof()
    return try await vault.assert(passkeys, assertion)
  }

  func end() async { await vault.ended() }

  private func useProof() async throws(VaultError) {
    if !isProven { try await vault.ask(words) }
    isProven = false
  }
}
