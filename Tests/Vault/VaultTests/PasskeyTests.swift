import Keys
import Presence
import Primitives
import SecretModel
import Testing
import Vault
import VaultDriver
import VaultStore

@Suite("Passkeys in the vault")
struct PasskeyTests {
  private let image: ImageReaderStore
  private let vault: Vault
  private let hash = Digest.sha256(Array("client data".utf8))

  init() async throws {
    image = try await ImageReaderStore()
    vault = try image.store.open(reader: image.process)
    _ = try await image.enroll(.rightIndex, in: vault)
  }

  private func new(
    _ relyingParty: String = "example.com", user: UInt8 = 1, discoverable: Bool = true,
    algorithm: KeyAlgorithm = .ec(.p256), access: AccessControl.Constraint = .anyFinger
  ) -> NewPasskey {
    NewPasskey(
      relyingParty: relyingParty, relyingPartyName: "Example",
      user: Passkey.User(handle: [user], name: "alice", displayName: "Alice"), algorithm: algorithm,
      isDiscoverable: discoverable, hasSecret: true, clientDataHash: hash, access: AccessControl(access))
  }

  /// A person who touches so many times with the enrolled finger.
  private func touching(_ count: Int = 1) -> Person {
    Person(touches: (0..<count).map { _ in image.press(.rightIndex) })
  }

  private func made(_ new: NewPasskey) async throws -> (Passkey, SignedCeremony) {
    try await touching().with(vault) { try await vault.makePasskey(new, in: $0) }
  }

  private func verifies(_ signed: SignedCeremony, _ passkey: Passkey) throws -> Bool {
    let key = try PublicKey(external: passkey.publicKey, family: passkey.algorithm.family)
    let scheme = passkey.algorithm == .ed25519 ? SignatureScheme.ed25519 : .ecdsa(.sha256, .message, .x962)
    return try key.verify(signed.signature, of: signed.authenticatorData + hash, scheme)
  }

  @Test(
    "a passkey is made and signs in, each after a touch, with true flags and a signature of its key",
    arguments: [KeyAlgorithm.ec(.p256), .ed25519])
  func ceremonies(_ algorithm: KeyAlgorithm) async throws {
    let (passkey, attestation) = try await made(new(algorithm: algorithm))
    #expect(passkey.credentialID.count == 32)
    #expect(passkey.user.name == "alice" && passkey.relyingParty == "example.com" && passkey.isDiscoverable)
    let data = attestation.authenticatorData
    #expect(Array(data[..<32]) == Digest.sha256(Array("example.com".utf8)))
    #expect(data[32] == 0b1100_1101, "user present and verified, eligible for backup, credential, extensions")
    #expect(Array(data[33..<37]) == [0, 0, 0, 0], "a passkey that can move counts nothing")
    #expect(Array(data[53..<55]) == [0, 32] && Array(data[55..<87]) == passkey.credentialID)
    #expect(try verifies(attestation, passkey))
    let assertion = PasskeyAssertion(clientDataHash: hash)
    let signed = try await touching().with(vault) { try await vault.assertPasskey(passkey.id, assertion, in: $0) }
    #expect(signed.authenticatorData.count == 37 && signed.authenticatorData[32] == 0b0000_1101)
    #expect(try verifies(signed, passkey))
    #expect(try await vault.items(ItemSearch(.passkey)).compactMap { Passkey($0) } == [passkey])
  }

  @Test("a wrong finger makes no passkey and signs in nowhere")
  func strangers() async throws {
    let stranger = Person(touches: (0..<3).map { _ in image.press(.rightIndex, person: 2) })
    let new = new()
    await #expect(throws: VaultError.authenticationFailed) {
      try await stranger.with(vault) { try await vault.makePasskey(new, in: $0) }
    }
    #expect(try await vault.items(ItemSearch(.passkey)).isEmpty)
    let (passkey, _) = try await made(new)
    let another = Person(touches: (0..<3).map { _ in image.press(.rightIndex, person: 2) })
    await #expect(throws: VaultError.authenticationFailed) {
      try await another.with(vault) {
        try await vault.assertPasskey(passkey.id, PasskeyAssertion(clientDataHash: hash), in: $0)
      }
    }
  }

  @Test("a passkey request without a context asks nobody, and signs nothing")
  func nobody() async throws {
    let new = new()
    await #expect(throws: VaultError.interactionNotAllowed) { try await vault.makePasskey(new, in: nil) }
    let (passkey, _) = try await made(new)
    await #expect(throws: VaultError.interactionNotAllowed) {
      try await vault.assertPasskey(passkey.id, PasskeyAssertion(clientDataHash: hash), in: nil)
    }
  }

  @Test("a touch serves one passkey ceremony of a context, and the next ceremony asks again")
  func oneTouchOneCeremony() async throws {
    let (passkey, _) = try await made(new())
    let assertion = PasskeyAssertion(clientDataHash: hash)
    var options = ContextOptions.keepingEvidence(.never)
    options.timeout = .seconds(3)
    try await touching().with(vault, options) { handle in
      // As for a token of CTAP: the touch comes first, and the request that uses it follows.
      try await vault.evaluate(AccessControl(.anyFinger), reason: "sign in", in: handle)
      _ = try await vault.assertPasskey(passkey.id, assertion, in: handle)
      await #expect(throws: VaultError.timedOut) {
        try await vault.assertPasskey(passkey.id, assertion, in: handle)
      }
    }
  }

  @Test("a touch that has made a passkey does not sign in with it")
  func touchThatMade() async throws {
    var options = ContextOptions.keepingEvidence(.never)
    options.timeout = .seconds(3)
    try await touching().with(vault, options) { handle in
      try await vault.evaluate(AccessControl(.anyFinger), reason: "make a passkey", in: handle)
      let (passkey, _) = try await vault.makePasskey(new(), in: handle)
      await #expect(throws: VaultError.timedOut) {
        try await vault.assertPasskey(passkey.id, PasskeyAssertion(clientDataHash: hash), in: handle)
      }
    }
  }

  @Test("one touch signs in with the passkeys of all accounts of a site, and not with those of two sites")
  func accounts() async throws {
    let (alice, _) = try await made(new(user: 1))
    let (bob, _) = try await made(new(user: 2))
    let (elsewhere, _) = try await made(new("example.org"))
    let session = try VaultSession(of: vault, for: Caller(user: vault.owner))
    let assertion = PasskeyAssertion(clientDataHash: hash)
    let signed = try await touching().with(session) {
      try await session.assertPasskeys([alice.id, bob.id], assertion, Asking(in: $0))
    }
    #expect(try signed.count == 2 && verifies(signed[0], alice) && verifies(signed[1], bob))
    for ids in [[alice.id, elsewhere.id], []] {
      await #expect(throws: VaultError.self) {
        try await touching().with(session) { try await session.assertPasskeys(ids, assertion, Asking(in: $0)) }
      }
    }
  }

  @Test("only passkeys sign in, and only for a hash of client data")
  func notPasskeys() async throws {
    let (passkey, _) = try await made(new())
    let session = try VaultSession(of: vault, for: Caller(user: vault.owner))
    let key = try await session.addKey(
      NewItem(.key, [.label: .text("k")], access: AccessControl(.anyFinger)), from: .generated(.ec(.p256)))
    let person = touching()
    await #expect(throws: VaultError.invalidRequest("this item is not a passkey")) {
      try await person.with(vault) {
        try await vault.assertPasskey(key.id, PasskeyAssertion(clientDataHash: hash), in: $0)
      }
    }
    #expect(person.events.isEmpty)
    let long = {
      var long = new(user: 2)
      long.user.name = String(repeating: "a", count: 1 << 20)
      return long
    }()
    await #expect(throws: VaultError.self) {
      try await touching().with(vault) { try await vault.makePasskey(long, in: $0) }
    }
    for count in [0, 31, 33] {
      let other = PasskeyAssertion(clientDataHash: [UInt8](repeating: 1, count: count))
      await #expect(throws: VaultError.invalidRequest("the hash of client data has 32 bytes")) {
        try await touching().with(vault) { try await vault.assertPasskey(passkey.id, other, in: $0) }
      }
    }
  }

  @Test("a passkey of the current set is dead once another finger is enrolled, and one of any finger is not")
  func sets() async throws {
    let (bound, _) = try await made(new(user: 1, access: .currentSet))
    let (any, _) = try await made(new(user: 2))
    _ = try await image.enroll(.leftThumb, in: vault)
    let assertion = PasskeyAssertion(clientDataHash: hash)
    await #expect(throws: VaultError.itemGone) {
      try await touching().with(vault) { try await vault.assertPasskey(bound.id, assertion, in: $0) }
    }
    _ = try await touching().with(vault) { try await vault.assertPasskey(any.id, assertion, in: $0) }
    let dead = try await vault.items(ItemSearch(.passkey, states: [.dead]))
    #expect(dead.map(\.id) == [bound.id] && dead.compactMap { Passkey($0) }.isEmpty)
    _ = try await made(new(user: 1))
    #expect(try await vault.items(ItemSearch(.passkey, states: [.dead])).isEmpty, "a new one replaces it")
  }

  @Test("the passcode takes the finger's place only where the passkey's rule says so")
  func passcode() async throws {
    let (present, _) = try await made(new(user: 1, access: .presence))
    let (finger, _) = try await made(new(user: 2))
    let assertion = PasskeyAssertion(clientDataHash: hash)
    var options = ContextOptions(timeout: .seconds(3))
    options.preferPasscode = true
    let typing = Person(passcodes: [ScratchStore.passcode])
    let signed = try await typing.with(vault, options) {
      try await vault.assertPasskey(present.id, assertion, in: $0)
    }
    #expect(signed.authenticatorData[32] == 0b0000_1101)
    await #expect(throws: VaultError.timedOut) {
      try await Person(passcodes: [ScratchStore.passcode]).with(vault, options) {
        try await vault.assertPasskey(finger.id, assertion, in: $0)
      }
    }
  }

  @Test("a new discoverable passkey replaces that of the same account, and no other")
  func replacing() async throws {
    _ = try await made(new(user: 1))
    let (other, _) = try await made(new(user: 2))
    let (elsewhere, _) = try await made(new("example.org", user: 1))
    let (hidden, _) = try await made(new(user: 1, discoverable: false))
    #expect(try await vault.items(ItemSearch(.passkey)).count == 4, "one that needs its ID replaces none")
    let (second, _) = try await made(new(user: 1))
    let ids = Set(try await vault.items(ItemSearch(.passkey)).map(\.id))
    #expect(ids == [other.id, elsewhere.id, hidden.id, second.id])
    let share = ItemChange(attributes: [.synchronizable: .number(1)])
    try await touching().with(vault) {
      _ = try await vault.update([elsewhere.id], share, secret: nil, reason: nil, in: $0)
    }
    let (third, _) = try await made(new("example.org", user: 1))
    let search = ItemSearch(.passkey, [.relyingParty: .text("example.org")], synchronizable: .any)
    #expect(try await vault.items(search).map(\.id) == [third.id], "also one that is shared with other machines")
  }

  @Test("a passkey's hmac-secret gives the same output for the same salt, encrypted as each PIN protocol says")
  func secrets() async throws {
    let (passkey, _) = try await made(new())
    let key = SharedSecret(SecretBytes(copying: [UInt8](repeating: 7, count: 32).span))
    func outputs(_ encryption: PasskeySecretRequest.Encryption, _ salts: [UInt8]) async throws -> [UInt8] {
      let request = PasskeySecretRequest(
        encryption: encryption, key: key, salts: SharedSecret(SecretBytes(copying: salts.span)))
      let assertion = PasskeyAssertion(clientDataHash: hash, secretRequest: request)
      let signed = try await touching().with(vault) { try await vault.assertPasskey(passkey.id, assertion, in: $0) }
      #expect(signed.authenticatorData[32] == 0b1000_1101)
      #expect(try verifies(signed, passkey))
      let name = Array("hmac-secret".utf8)
      let head = [0xA1, 0x60 | UInt8(name.count)] + name + [0x58]
      let output = Array(signed.authenticatorData[37...])
      #expect(Array(output[..<head.count]) == head)
      let encrypted = Array(output[(head.count + 1)...])
      #expect(Int(output[head.count]) == encrypted.count)
      let (iv, blocks) =
        encryption == .protocolOne
        ? ([UInt8](repeating: 0, count: 16), encrypted) : (Array(encrypted[..<16]), Array(encrypted[16...]))
      #expect(encryption == .protocolOne || Set(iv) != [0], "it is random")
      return try AES256CBC.decrypt(blocks, key: key.bytes, iv: iv).withUnsafeBytes { Array($0) }
    }
    let (one, two) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
    let first = try await outputs(.protocolOne, one)
    let both = try await outputs(.protocolTwo, two + one)
    #expect(first.count == 32 && both.count == 64)
    #expect(Array(both[32...]) == first && Array(both[..<32]) != first)
    await #expect(throws: VaultError.self) { try await outputs(.protocolOne, [1, 2, 3]) }
  }

  @Test("no call for other items releases or uses a passkey's key, or changes or adds a passkey")
  func otherCalls() async throws {
    let (passkey, _) = try await made(new())
    let id = passkey.id
    await #expect(throws: VaultError.self) {
      try await touching().with(vault) { try await vault.secrets(of: [id], reason: nil, in: $0) }
    }
    await #expect(throws: VaultError.invalidRequest("this item is not a private key")) {
      let use = KeyUse.sign(hash, .ecdsa(.sha256, .message, .x962))
      try await touching().with(vault) { _ = try await vault.useKey(id, use, reason: nil, in: $0) }
    }
    await #expect(throws: VaultError.self) {
      let change = ItemChange(attributes: [.relyingParty: .text("evil.example")])
      try await touching().with(vault) { try await vault.update([id], change, secret: nil, reason: nil, in: $0) }
    }
    await #expect(throws: VaultError.self) {
      let change = ItemChange(access: AccessControl.none)
      try await touching().with(vault) { try await vault.update([id], change, secret: nil, reason: nil, in: $0) }
    }
    let session = try VaultSession(of: vault, for: Caller(user: vault.owner))
    await #expect(throws: VaultError.self) {
      try await session.add(
        NewItem(.passkey, new().attributes(credentialID: [1], publicKey: []), access: .none),
        secret: SecretBytes(text: "x"), replacing: true, .nobody)
    }
  }

  @Test("an export and an import move a passkey to another store, where it signs in")
  func moving() async throws {
    let (passkey, _) = try await made(new())
    let item = try await vault.items(ItemSearch(.passkey))[0]
    let bytes = try await touching().with(vault) {
      SharedSecret(try await vault.useKey(passkey.id, .export, reason: nil, in: $0))
    }
    let other = try await ImageReaderStore()
    let second = try other.store.open(reader: other.process)
    _ = try await other.enroll(.rightIndex, in: second)
    let session = try VaultSession(of: second, for: Caller(user: second.owner))
    let copy = try await session.addKey(
      NewItem(.passkey, item.attributes, access: AccessControl(.anyFinger)), from: .passkey(bytes))
    let signed = try await Person(touches: [other.press(.rightIndex)]).with(second) {
      try await second.assertPasskey(copy.id, PasskeyAssertion(clientDataHash: hash), in: $0)
    }
    #expect(try verifies(signed, passkey))
    await #expect(throws: VaultError.duplicateItem) {
      try await session.addKey(
        NewItem(.passkey, item.attributes, access: AccessControl(.anyFinger)), from: .passkey(bytes))
    }
    await #expect(throws: VaultError.self) {
      try await session.addKey(NewItem(.passkey, item.attributes, access: .none), from: .passkey(bytes))
    }
  }

  @Test("a new passkey with an invalid site, account, algorithm or rule is refused before any prompt", arguments: 0..<9)
  func malformed(_ kind: Int) async throws {
    var new = new()
    switch kind {
    case 0: new.relyingParty = ""
    case 1: new.relyingParty = "a\u{7}b"
    case 2: new.user.handle = []
    case 3: new.algorithm = .rsa(bits: 2048)
    case 4: new.clientDataHash = [1]
    case 5: new.access = .none
    case 8: new.access = AccessControl(.passcode)
    case 6: new.user.handle = [UInt8](repeating: 1, count: 65)
    default: new.relyingParty = String(repeating: "a", count: 254)
    }
    let person = touching()
    await #expect(throws: VaultError.self) {
      try await person.with(vault) { [new] in try await vault.makePasskey(new, in: $0) }
    }
    #expect(person.events.isEmpty)
  }

  @Test("each passkey, also a dead one, counts for the store's limit until a program removes it")
  func readiness() async throws {
    let session = try VaultSession(of: vault, for: Caller(user: vault.owner))
    #expect(try await session.passkeyReadiness() == PasskeyReadiness(capacity: 1_000, hasFinger: true))
    let (bound, _) = try await made(new(user: 1, access: .currentSet))
    let (any, _) = try await made(new(user: 2))
    _ = try await image.enroll(.leftThumb, in: vault)
    #expect(try await session.passkeyReadiness().capacity == 998)
    let other = try VaultSession(of: vault, for: Caller(user: vault.owner))
    _ = try await other.delete(.ids([any.id]))
    #expect(try await session.passkeyReadiness().capacity == 999)
    _ = try await other.delete(.ids([bound.id]))
    #expect(try await session.passkeyReadiness().capacity == 1_000)
    _ = try await Person(passcodes: [ScratchStore.passcode]).with(session) {
      try await session.unenroll(nil, Asking(in: $0))
    }
    #expect(try await !session.passkeyReadiness().hasFinger)
  }

  @Test("a store has at most 64 passkeys for one site")
  func limits() async throws {
    let options = ContextOptions.keepingEvidence(.never)
    let person = Person(passcodes: Array(repeating: ScratchStore.passcode, count: 65))
    var typed = options
    typed.preferPasscode = true
    try await person.with(vault, typed) { handle in
      for user in 1...64 {
        _ = try await vault.makePasskey(new(user: UInt8(user), access: .presence), in: handle)
      }
      await #expect(throws: VaultError.passkeysFull(limit: 64)) {
        try await vault.makePasskey(new(user: 65, access: .presence), in: handle)
      }
    }
    #expect(try await vault.items(ItemSearch(.passkey)).count == 64)
  }
}
