import CBOR
import Keys
import Passkeys
import Primitives
import SecretModel
import SessionPrompts
import Synchronization
import Testing
import Vault
import VaultDriver
import VaultStore
import Whorl

/// A whole ceremony: reports, the protocol, the vault, its reader process and libfprint with a synthetic finger.
@Suite("Passkeys of a vault, over CTAPHID")
struct VaultedCeremonyTests {
  /// Touches the virtual reader each time that a prompt asks for it, types the passcode if it has one, and keeps what the
  /// prompts are for.
  private final class TouchingPrompt: AuthenticationPrompt {
    private let touch: @Sendable () async throws -> Void
    private let passcode: String?
    private let seen = Mutex<[String]>([])
    private let typed = Mutex<[String]>([])
    private let offered = Mutex<[Bool]>([])

    init(_ touch: @escaping @Sendable () async throws -> Void, passcode: String? = nil) {
      (self.touch, self.passcode) = (touch, passcode)
    }

    var reasons: [String] { seen.withLock { $0 } }
    /// What the passcode was asked for.
    var passcodeReasons: [String] { typed.withLock { $0 } }
    /// For each touch, whether the prompt offers the passcode in its place.
    var offers: [Bool] { offered.withLock { $0 } }

    func handle(_ event: AuthenticationEvent, in session: PromptSession) async {
      switch event {
      case .touchWanted(let request):
        offered.withLock { $0.append(request.passcodeInstead) }
        seen.withLock { $0.append(session.reason ?? "") }
        await session.shown(event)
        try? await touch()
      case .secretWanted:
        typed.withLock { $0.append(session.reason ?? "") }
        if let passcode { await session.answer(SecretBytes(text: passcode)) } else { await session.decline() }
      default: break
      }
    }
  }

  private let image: ImageReaderStore
  private let vault: Vault

  init() async throws {
    image = try await ImageReaderStore()
    vault = try image.store.open(reader: image.process)
    _ = try await image.enroll(.rightIndex, in: vault)
  }

  private func served(
    _ prompt: TouchingPrompt, _ access: AccessControl.Constraint = .anyFinger, in other: Vault? = nil
  ) throws -> StorePasskeys {
    let vault = other ?? vault
    let session = try VaultSession(of: vault, for: Caller(user: vault.owner))
    return StorePasskeys(
      in: SecretStore(service: session), access: AccessControl(access), turns: PromptTurns(onBus: "unix:path=/nowhere")
    ) { prompt }
  }

  /// Imports a passkey of example.com, with this ID and user.
  private func bring(_ number: UInt8) async throws {
    let session = try VaultSession(of: vault, for: Caller(user: vault.owner))
    let key = SharedSecret(try PrivateKey.generate(.ed25519).pkcs8())
    let new = NewPasskey(
      relyingParty: "example.com", user: Passkey.User(handle: [number], name: "", displayName: ""),
      algorithm: .ed25519, isDiscoverable: true, clientDataHash: [])
    let attributes = new.attributes(credentialID: [number], publicKey: [])
    _ = try await session.addKey(
      NewItem(.passkey, attributes, access: AccessControl(.anyFinger)),
      from: .passkey(SharedSecret(MovingPasskey(secretKey: SharedSecret(try Random.key()), key: key).bytes)))
  }

  @Test("making a passkey and signing in each need a finger, at a prompt that names site and account")
  func ceremonies() async throws {
    let prompt = TouchingPrompt(image.press(.rightIndex))
    try await TestPlatform.with(try served(prompt)) { platform in
      // getInfo needs no reader.
      #expect(try await platform.call(4).value?.entries?[4]?.entries?["uv"] == true)
      #expect(prompt.reasons.isEmpty)
      let (id, key) = try await platform.made()
      let answer = try await platform.assert(allow: [id])
      #expect(answer.status == 0)
      let entries = try #require(answer.value?.entries)
      #expect(entries[2]?.byteString?[32] == 0b0000_1101)
      #expect(try platform.verifies(entries[3]?.byteString, entries[2]?.byteString, key))
      #expect(prompt.reasons == ["make a passkey for example.com as alice", "sign in to example.com as alice"])
    }
  }

  @Test("a PIN/UV auth token and its touch are valid for one request")
  func token() async throws {
    let prompt = TouchingPrompt(image.press(.rightIndex))
    try await TestPlatform.with(try served(prompt)) { platform in
      _ = try await platform.made(user: [1])
      let (second, key) = try await platform.made(user: [2])
      let token = try await platform.token(2)
      let proof: [CBORValue: CBORValue] = [6: token.mac(TestPlatform.hash), 7: token.version]
      let answer = try await platform.assert(with: proof)
      #expect(answer.status == 0 && answer.value?.entries?[5] == 2)
      let entries = try #require(answer.value?.entries)
      #expect(entries[1]?.entries?["id"] == .bytes(second))
      #expect(try platform.verifies(entries[3]?.byteString, entries[2]?.byteString, key))
      #expect(try await platform.call(8).status == 0)
      #expect(try await platform.assert(with: proof).status == 0x33)
      #expect(prompt.reasons.count == 3)
    }
  }

  @Test("getInfo reports how many more passkeys fit, also after another program has removed one")
  func capacity() async throws {
    try await TestPlatform.with(try served(TouchingPrompt(image.press(.rightIndex)))) { platform in
      func capacity() async throws -> CBORValue? { try await platform.call(4).value?.entries?[20] }
      #expect(try await capacity() == 1_000)
      _ = try await platform.made()
      #expect(try await capacity() == 999)
      let other = try VaultSession(of: vault, for: Caller(user: vault.owner))
      _ = try await other.delete(.search(ItemSearch(.passkey)))
      #expect(try await capacity() == 1_000)
    }
  }

  @Test("a finger that is not enrolled makes no passkey, and five such touches are a lockout")
  func strangers() async throws {
    let prompt = TouchingPrompt(image.press(.rightIndex, person: 2))
    try await TestPlatform.with(try served(prompt)) { platform async throws in
      #expect(try await platform.make().status == 0x27)
      #expect(try await platform.call(6, [2: 7]).value == [5: 5])
      #expect(try await platform.make().status == 0x3C)
      #expect(try await platform.call(6, [2: 7]).value == [5: 0])
      #expect(prompt.reasons.count == 5)
      #expect(try await platform.make().status == 0x3C)
      #expect(prompt.reasons.count == 5)
    }
    #expect(try await vault.items(ItemSearch(.passkey)).isEmpty)
  }

  @Test("a site's limit of passkeys is reported, unless a passkey of the same account is replaced")
  func full() async throws {
    for number in UInt8(1)...64 { try await bring(number) }
    try await TestPlatform.with(try served(TouchingPrompt(image.press(.rightIndex)))) { platform async throws in
      #expect(try await platform.make(user: [65]).status == 0x28)
      #expect(try await platform.make(user: [64]).status == 0)
    }
  }

  @Test("the vault signs for the passkey extensions that a site asked for, and for no others")
  func extensions() async throws {
    try await TestPlatform.with(try served(TouchingPrompt(image.press(.rightIndex)))) { platform async throws in
      /// Makes a passkey, and returns its ID and what is signed for the extensions.
      func made(_ user: UInt8, _ asked: CBORValue?) async throws -> (id: [UInt8], outputs: CBORValue?) {
        let answer = try await platform.make(user: [user], with: asked.map { [6: $0] } ?? [:])
        let data = try #require(answer.value?.entries?[2]?.byteString)
        let length = Int(data[53]) << 8 | Int(data[54])
        let rest = Array(data[(55 + length)...])
        let count = try CBORValue.first(in: rest).count
        #expect((data[32] & 0x80 != 0) == (count < rest.count))
        return (Array(data[55..<55 + length]), count < rest.count ? try CBORValue(decoding: rest[count...]) : nil)
      }
      func asserted(_ id: [UInt8], _ asked: CBORValue?) async throws -> CBORValue? {
        let answer = try await platform.assert(allow: [id], with: asked.map { [4: $0] } ?? [:])
        let data = try #require(answer.value?.entries?[2]?.byteString)
        #expect((data[32] & 0x80 != 0) == (data.count > 37))
        return data.count > 37 ? try CBORValue(decoding: data[37...]) : nil
      }
      let (most, more) = ([UInt8](repeating: 7, count: 32), [UInt8](repeating: 7, count: 33))
      let plain = try await made(1, nil)
      #expect(plain.outputs == nil)
      let whole = try await made(2, ["credProtect": 2, "hmac-secret": true, "credBlob": .bytes(most)])
      #expect(whole.outputs == ["credProtect": 2, "hmac-secret": true, "credBlob": true])
      let long = try await made(3, ["credBlob": .bytes(more)])
      #expect(long.outputs == ["credBlob": false])
      #expect(try await asserted(whole.id, nil) == nil)
      #expect(try await asserted(whole.id, ["credBlob": true]) == ["credBlob": .bytes(most)])
      #expect(try await asserted(long.id, ["credBlob": true]) == ["credBlob": .bytes([])])
      let agreement = try await platform.agree(2)
      let salts = try agreement.encrypt([UInt8](repeating: 1, count: 32))
      let secret: CBORValue = [
        1: agreement.publicKey, 2: .bytes(salts), 3: .bytes(agreement.mac(agreement.macKey.bytes, salts)), 4: 2,
      ]
      #expect(try await asserted(plain.id, ["hmac-secret": secret]) == nil)
      #expect(try await asserted(whole.id, ["hmac-secret": secret])?.entries?.count == 1)
    }
  }

  @Test("getInfo reports uv without a reader, and a passkey prompt offers the passcode only with presence")
  func offers() async throws {
    let absent = try image.store.open(reader: InterposedReader.absent(image.process))
    try await TestPlatform.with(try served(TouchingPrompt({}), in: absent)) { platform async throws in
      #expect(try await platform.call(4).value?.entries?[4]?.entries?["uv"] == true)
    }
    let prompt = TouchingPrompt(image.press(.rightIndex))
    for rule in [AccessControl.Constraint.anyFinger, .presence] {
      try await TestPlatform.with(try served(prompt, rule)) { platform async throws in
        #expect(try await platform.make().status == 0)
      }
    }
    #expect(prompt.offers == [false, true])
  }

  @Test("a reset of the passkey authenticator deletes as many passkeys as its prompt has said")
  func resetMeanwhile() async throws {
    try await bring(1)
    let press = image.press(.rightIndex)
    let prompt = TouchingPrompt(
      {
        try await bring(2)
        try await press()
      }, passcode: ScratchStore.passcode)
    try await TestPlatform.with(try served(prompt)) { platform async throws in
      #expect(try await platform.call(7).status == 0)
    }
    #expect(prompt.reasons == ["delete your only passkey"])
    let left = try await vault.items(ItemSearch(.passkey))
    #expect(left.map { $0.attributes[.credentialID] } == [.bytes([2])])
  }

  @Test("a reset of the passkey authenticator needs a finger and the passcode, and deletes only passkeys")
  func reset() async throws {
    let press = image.press(.rightIndex)
    try await TestPlatform.with(try served(TouchingPrompt(press))) { platform async throws in
      _ = try await platform.made()
      #expect(try await platform.call(7).status != 0, "a touch alone deletes nothing")
    }
    #expect(try await vault.items(ItemSearch(.passkey)).count == 1)
    try await vault.put("other", "secret")
    let prompt = TouchingPrompt(press, passcode: ScratchStore.passcode)
    try await TestPlatform.with(try served(prompt)) { platform async throws in
      #expect(try await platform.call(7).status == 0)
    }
    #expect(prompt.reasons == ["delete your only passkey"])
    #expect(prompt.passcodeReasons == ["delete your only passkey"])
    #expect(try await vault.items(ItemSearch(.passkey)).isEmpty)
    #expect(try await vault.items(ItemSearch()).count == 1)
  }

  @Test("a passkey gets the session's rule, and with 'presence' the passcode takes the place of a missing finger")
  func rules() async throws {
    let bare = try await ImageReaderStore()
    let other = try bare.store.open(reader: bare.process)
    let prompt = TouchingPrompt(bare.press(.rightIndex), passcode: ScratchStore.passcode)
    try await TestPlatform.with(try served(prompt, in: other)) { platform async throws in
      #expect(try await platform.call(4).value?.entries?[4]?.entries?["uv"] == false)
      #expect(try await platform.make().status == 0x30)
      #expect(try await platform.call(6, [2: 7]).value == [5: 5])
    }
    #expect(prompt.passcodeReasons.isEmpty)
    try await TestPlatform.with(try served(prompt, .presence, in: other)) { platform async throws in
      #expect(try await platform.call(4).value?.entries?[4]?.entries?["uv"] == true)
      let (id, _) = try await platform.made()
      #expect(try await platform.assert(allow: [id]).status == 0)
    }
    #expect(prompt.passcodeReasons.count == 2 && prompt.reasons.isEmpty)
    #expect(try await other.items(ItemSearch(.passkey)).map(\.access) == [AccessControl(.presence)])
    let open = try await ImageReaderStore(passcode: nil)
    let withoutPasscode = try open.store.open(reader: open.process)
    try await TestPlatform.with(try served(prompt, .presence, in: withoutPasscode)) { platform async throws in
      #expect(try await platform.call(4).value?.entries?[4]?.entries?["uv"] == false)
    }
  }

  @Test("making a passkey in a store before its first unlock asks for the passcode, and says what follows")
  func firstUnlock() async throws {
    let press = image.press(.rightIndex)
    let closed = try image.store.open(reader: image.process, classKeys: ClassKeys(firstUnlock: .passcode))
    let prompt = TouchingPrompt(press, passcode: ScratchStore.passcode)
    try await TestPlatform.with(try served(prompt, in: closed)) { platform async throws in
      #expect(try await platform.make().status == 0)
    }
    #expect(prompt.passcodeReasons == ["unlock the store, and then make a passkey for example.com as alice"])
    #expect(prompt.reasons == ["make a passkey for example.com as alice"])
  }

  @Test("deleting a passkey through the security key needs a touch of its own, at a prompt that names it")
  func deletion() async throws {
    let right = TouchingPrompt(image.press(.rightIndex))
    let stranger = TouchingPrompt(image.press(.rightIndex, person: 2))
    let wrong = try served(stranger)
    try await TestPlatform.with(try served(right)) { platform async throws in
      let (id, _) = try await platform.made()
      let token = try await platform.token(4, nil)
      let descriptor: CBORValue = [2: ["id": .bytes(id), "type": "public-key"]]
      let words = CeremonyWords.delete(try #require(try await wrong.passkeys(for: nil).first))
      await #expect(throws: VaultError.authenticationFailed) {
        try await wrong.delete(try #require(try await wrong.passkeys(for: nil).first).id, words)
      }
      #expect(try await vault.items(ItemSearch(.passkey)).count == 1)
      #expect(try await platform.manage(6, descriptor, token).status == 0)
      #expect(try await vault.items(ItemSearch(.passkey)).isEmpty)
    }
    #expect(right.reasons.suffix(2) == ["list your passkeys", "delete the passkey for example.com as alice"])
  }

  @Test("changing the names of a passkey's user needs a touch, and an ended ceremony signs nothing")
  func ended() async throws {
    let prompt = TouchingPrompt(image.press(.rightIndex))
    let passkeys = try served(prompt)
    try await TestPlatform.with(passkeys) { platform async throws in
      let (id, _) = try await platform.made()
      let token = try await platform.token(4, nil)
      let parameters: CBORValue = [
        2: ["id": .bytes(id), "type": "public-key"], 3: ["id": .bytes([1]), "name": "bob"],
      ]
      #expect(try await platform.manage(7, parameters, token).status == 0)
    }
    #expect(prompt.reasons.suffix(2) == ["list your passkeys", "rename the passkey for example.com as alice to bob"])
    let known = try await passkeys.passkeys(for: nil)
    #expect(known.map(\.user.name) == ["bob"])
    let words = CeremonyWords.signIn(to: try #require(RelyingPartyID("example.com")))
    let ceremony = try await passkeys.begin(words)
    try await ceremony.verify()
    await ceremony.end()
    await #expect(throws: VaultError.contextInvalidated) {
      try await ceremony.assert(known, PasskeyAssertion(clientDataHash: TestPlatform.hash))
    }
    #expect(prompt.reasons.count == 4)
  }
}
