import CBOR
import Fingerprint
import Keys
import Passkeys
import SecretModel
import SecureMemory
import SessionPrompts
import Synchronization
import Testing
import Vault
import VaultDriver
import Whorl

/// A whole ceremony: reports, the protocol, the vault, its reader process and libfprint with a synthetic finger.
@Suite("Passkeys of a vault, over CTAPHID")
struct VaultedCeremonyTests {
  /// Touches the virtual reader each time that a prompt asks for it, and keeps what the prompts are for.
  private final class TouchingPrompt: AuthenticationPrompt {
    private let touch: @Sendable () async throws -> Void
    private let seen = Mutex<[String]>([])

    init(_ touch: @escaping @Sendable () async throws -> Void) { self.touch = touch }

    var reasons: [String] { seen.withLock { $0 } }

    func handle(_ event: AuthenticationEvent, in session: PromptSession) async {
      guard case .touchWanted = event else { return }
      seen.withLock { $0.append(session.reason ?? "") }
      await session.shown(event)
      try? await touch()
    }
  }

  private let image: ImageReaderStore
  private let vault: Vault

  init() async throws {
    image = try await ImageReaderStore()
    vault = try image.store.open(reader: image.process)
    _ = try await image.enroll(.rightIndex, in: vault)
  }

  private func served(_ prompt: TouchingPrompt, _ access: AccessControl.Constraint = .anyFinger) throws -> StorePasskeys
  {
    let session = try VaultSession(of: vault, for: Caller(user: vault.owner))
    return StorePasskeys(
      in: SecretStore(service: session), access: AccessControl(access), turns: PromptTurns(onBus: "unix:path=/nowhere")
    ) { prompt }
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

  @Test("the touch of a token is used by one request, and the token by no other")
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

  @Test("a finger that is not enrolled makes no passkey")
  func strangers() async throws {
    let prompt = TouchingPrompt(image.press(.rightIndex, person: 2))
    try await TestPlatform.with(try served(prompt)) { platform in
      let status = try await platform.make().status
      #expect(status == 0x27 || status == 0x3C)
    }
    #expect(try await vault.items(ItemSearch(.passkey)).isEmpty)
  }
}
