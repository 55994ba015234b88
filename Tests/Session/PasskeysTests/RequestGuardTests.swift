import CBOR
import Keys
import Primitives
import SecretModel
import Synchronization
import Testing
import VaultDriver

@testable import Passkeys

@Suite("What a request may do")
struct RequestGuardTests {
  /// A server with a clock of its own.
  private final class Server {
    private final class Clock: Sendable {
      let time = Mutex<UInt64>(0)
    }

    let vault = TestVault()
    private let clock = Clock()
    let server: CommandServer

    init() { server = CommandServer(vault: vault, now: { [clock] in clock.time.withLock { $0 } }) }

    func wait(_ milliseconds: UInt64) { clock.time.withLock { $0 += milliseconds } }

    func answer(_ command: UInt8, _ value: CBORValue? = nil, on channel: UInt32 = 1) async -> UInt8? {
      await server.answer([command] + (value?.encoded ?? []), on: channel).first
    }

    func make(_ user: UInt8) async -> UInt8? {
      await answer(
        1,
        [
          1: .bytes(TestPlatform.hash), 2: ["id": "example.com"], 3: ["id": .bytes([user])],
          4: [["alg": -7, "type": "public-key"]], 7: ["rk": true],
        ])
    }

    /// A token for the management of passkeys.
    func token() async throws -> SharedSecret {
      let pair = try PrivateKey.generate(.ec(.p256))
      let agreed = try #require(COSEKey(agreement: pair.publicKey.external)).value
      let answer = await server.answer([6] + CBORValue.map([1: 2, 2: 2]).encoded, on: 1)
      let peer = try #require(
        try CBORValue(decoding: answer[1...]).entries?[1].flatMap { COSEKey($0) })
      let point = try pair.exchange(
        with: try PublicKey(external: peer.external, family: .ec), .ecdh, requestedSize: 32, sharedInfo: [])
      let keys = try PINProtocol.two.keys(of: point)
      let reply = await server.answer([6] + CBORValue.map([1: 2, 2: 6, 3: agreed, 9: 4]).encoded, on: 1)
      let bytes = try #require(try CBORValue(decoding: reply[1...]).entries?[2]?.byteString)
      return SharedSecret(try keys.decrypt(bytes))
    }

    /// The number of passkeys, with a token.
    func metadata(_ token: SharedSecret) async -> UInt8? {
      await answer(10, [1: 1, 3: 2, 4: .bytes(MAC.hmacSHA256(key: token.bytes, [1]))])
    }
  }

  @Test("a list of passkeys is continued only for its client, for half a minute after each answer")
  func remainder() async throws {
    let server = Server()
    for user in UInt8(1)...3 { #expect(await server.make(user) == 0) }
    let assertion: CBORValue = [1: "example.com", 2: .bytes(TestPlatform.hash)]
    #expect(await server.answer(2, assertion) == 0)
    #expect(await server.answer(8, on: 2) == 0x30)
    #expect(await server.answer(8) == 0x30, "it has ended")
    #expect(await server.answer(2, assertion) == 0)
    server.wait(29_999)
    #expect(await server.answer(8) == 0)
    server.wait(29_999)
    #expect(await server.answer(8) == 0)
    #expect(await server.answer(2, assertion) == 0)
    server.wait(30_000)
    #expect(await server.answer(8) == 0x30)
    #expect(await server.answer(2, assertion) == 0)
    #expect(await server.answer(10, [1: 3]) == 0x30, "those of another command are others")
  }

  @Test("a PIN/UV auth token stays valid while it is used, for ten minutes at most")
  func lifetime() async throws {
    let server = Server()
    #expect(await server.make(1) == 0)
    let unused = try await server.token()
    server.wait(30_000)
    #expect(await server.metadata(unused) == 0x33)
    let token = try await server.token()
    for _ in 1...20 {
      server.wait(29_000)
      #expect(await server.metadata(token) == 0)
    }
    #expect(server.server.tokenDeadline == 630_000)
    server.wait(20_000)
    #expect(await server.metadata(token) == 0x33)
    #expect(await server.vault.open == 0)
  }

  @Test("a reset of the passkey authenticator ends the PIN/UV auth token and the agreed keys")
  func reset() async throws {
    try await TestPlatform.with { platform in
      let key = try await platform.call(6, [1: 2, 2: 2]).value
      #expect(try await platform.call(6, [1: 2, 2: 2]).value == key)
      let token = try await platform.token(4, nil)
      #expect(try await platform.call(7).status == 0)
      #expect(await platform.vault.open == 0)
      #expect(try await platform.manage(1, nil, token).status == 0x33)
      #expect(try await platform.call(6, [1: 2, 2: 2]).value != key)
    }
  }

  @Test("a passkey request waits for the end of a cancelled one, and can be cancelled itself")
  func givenUp() async throws {
    try await TestPlatform.with { platform in
      await platform.vault.set(.waits)
      await platform.send(.cbor, [0x0B])
      #expect(await platform.report()?[4] == 0x80 | HIDCommand.keepAlive.rawValue)
      await platform.send(.initialize, [UInt8](repeating: 1, count: 8))
      while await platform.report()?[4] != 0x80 | HIDCommand.initialize.rawValue {}
      await platform.send(.cbor, [0x0B])
      while await platform.vault.prompts.count < 2 { try await Task.sleep(for: .milliseconds(5)) }
      await platform.send(.cancel, [])
      #expect(try await platform.answer().message == [0x2D])
      #expect(await platform.vault.mostShown == 1)
    }
  }

  @Test("a passkey authenticator that stops cancels its prompt and ceremony, and sends no answer")
  func stopped() async throws {
    let (vault, sent) = (TestVault(), Counter())
    await vault.set(.waits)
    for (command, message) in [(HIDCommand.cbor, [0x0B]), (.ping, [UInt8](repeating: 1, count: 100))] {
      let authenticator = Authenticator(vault: vault) { _ in sent.value.add(1, ordering: .relaxed) }
      await authenticator.receive(HIDReport.packets(.initialize, [UInt8](repeating: 1, count: 8), on: .max)[0])
      await authenticator.receive(HIDReport.packets(command, message, on: 1)[0])
      while await vault.prompts.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
      await authenticator.stop()
      #expect(await vault.open == 0)
      #expect(await vault.cancelled == 1)
      let count = sent.value.load(ordering: .relaxed)
      // Half a message would have been given up on by now.
      try await Task.sleep(for: .milliseconds(700))
      #expect(sent.value.load(ordering: .relaxed) == count)
    }
  }

  private final class Counter: Sendable {
    let value = Atomic(0)
  }

  @Test("a passkey touch that no request uses is discarded after half a minute", .enabled(if: Campaign.isLong))
  func unused() async throws {
    try await TestPlatform.with { platform in
      _ = try await platform.token(1)
      #expect(await platform.vault.open == 1)
      for _ in 1...600 {
        guard await platform.vault.open != 0 else { break }
        try await Task.sleep(for: .milliseconds(100))
      }
      #expect(await platform.vault.open == 0)
    }
  }

  @Test("the proof of a PIN/UV auth token has to name the protocol of the token")
  func protocols() async throws {
    try await TestPlatform.with { platform in
      let token = try await platform.token(1, version: 1)
      #expect(try await platform.make(with: [8: token.mac(TestPlatform.hash), 9: 2]).status == 0x33)
      #expect(try await platform.make(with: [8: token.mac(TestPlatform.hash), 9: 1]).status == 0)
    }
  }

  @Test("the first known algorithm of a passkey request is used, and entries of other types are ignored")
  func choices() async throws {
    try await TestPlatform.with { platform in
      func algorithms(_ list: [(Int, String)]) -> [CBORValue: CBORValue] {
        [4: .array(list.map { ["alg": CBORValue($0.0), "type": .text($0.1)] })]
      }
      func made(_ list: [(Int, String)]) async throws -> CBORValue? {
        try await platform.make(with: algorithms(list)).value?.entries?[3]?.entries?["alg"]
      }
      #expect(try await made([(-257, "public-key"), (-8, "public-key"), (-7, "public-key")]) == -8)
      #expect(try await made([(-8, "other"), (-7, "public-key")]) == -7)
      #expect(try await platform.make(with: algorithms([(-7, "other")])).status == 0x26)
      let (id, _) = try await platform.made(user: [5])
      let other: CBORValue = [["id": .bytes(id), "type": "other"]]
      #expect(try await platform.make(user: [6], with: [5: other]).status == 0)
    }
  }

  @Test("a sign-in with a list of passkeys uses one, and the answer has its account if it is discoverable")
  func lists() async throws {
    try await TestPlatform.with { platform in
      let (first, _) = try await platform.made(user: [1])
      let (second, _) = try await platform.made(user: [2], name: "")
      let (hidden, _) = try await platform.made(user: [3], discoverable: false)
      let entries = try await platform.assert(allow: [first, second]).value?.entries
      #expect(entries?[5] == nil && entries?[1]?.entries?["id"] == .bytes(second))
      #expect(entries?[4]?.entries?["name"] == nil, "a name that is none is left out")
      #expect(try await platform.assert(allow: [hidden]).value?.entries?[4] == nil)
      #expect(try await platform.assert().value?.entries?[5] == 2, "without a list the hidden one is not found")
    }
  }

  @Test("a PIN/UV auth token stays valid after a list without a passkey, and not after an excluded passkey")
  func kept() async throws {
    try await TestPlatform.with { platform in
      let (id, _) = try await platform.made()
      let token = try await platform.token(2)
      let proof: [CBORValue: CBORValue] = [6: token.mac(TestPlatform.hash), 7: token.version]
      let prompts = await platform.vault.prompts
      #expect(try await platform.assert(allow: [[9]], with: proof).status == 0x2E)
      #expect(await platform.vault.prompts == prompts)
      #expect(try await platform.assert(allow: [id], with: proof).status == 0)
      #expect(await platform.vault.prompts == prompts)
      let another = try await platform.token(1)
      let list: CBORValue = [["id": .bytes(id), "type": "public-key"]]
      let make: [CBORValue: CBORValue] = [5: list, 8: another.mac(TestPlatform.hash), 9: another.version]
      #expect(try await platform.make(user: [9], with: make).status == 0x19)
      #expect(await platform.vault.prompts.count == prompts.count + 1)
      #expect(try await platform.make(user: [9], with: make).status == 0x33)
    }
  }

  @Test("a request without a touch gets no hmac-secret, and a token for one site manages no other's passkeys")
  func limits() async throws {
    try await TestPlatform.with { platform in
      let (id, _) = try await platform.made(with: [6: ["hmac-secret": true]])
      let agreement = try await platform.agree(2)
      let salts = try agreement.encrypt([UInt8](repeating: 1, count: 32))
      let input: CBORValue = [
        1: agreement.publicKey, 2: .bytes(salts), 3: .bytes(agreement.mac(agreement.macKey.bytes, salts)), 4: 2,
      ]
      let silent = try await platform.assert(allow: [id], with: [4: ["hmac-secret": input], 5: ["up": false]])
      #expect(silent.status == 0x2B)
      let bound = try await platform.token(4, "other.example")
      let descriptor: CBORValue = ["id": .bytes(id), "type": "public-key"]
      #expect(try await platform.manage(6, [2: descriptor], bound).status == 0x33)
      #expect(try await platform.manage(7, [2: descriptor, 3: ["id": .bytes([1])]], bound).status == 0x33)
      #expect(await platform.vault.passkeys(for: nil).count == 1)
    }
  }

  @Test("keep-alive messages of the passkey device do not say that it waits for a person if nobody is asked")
  func processing() async throws {
    try await TestPlatform.with { platform in
      #expect(try await platform.call(0x0B).status == 0)
      let token = try await platform.token(4, nil)
      await platform.vault.set(.isSlow)
      // The vault is slow, and nobody is asked.
      await platform.send(.cbor, [4])
      #expect(try await Set(platform.answer().keepAlives) == [1])
      let list: [CBORValue: CBORValue] = [1: 2, 3: token.version, 4: token.mac([2])]
      await platform.send(.cbor, [10] + CBORValue.map(list).encoded)
      #expect(try await Set(platform.answer().keepAlives) == [1])
    }
  }

  @Test("a passkey prompt shows an account's name, else its display name, else only the site")
  func unnamed() async throws {
    try await TestPlatform.with { platform in
      _ = try await platform.made(name: "")
      _ = try await platform.make(with: [3: ["id": .bytes([2])]])
      _ = try await platform.make(with: [3: ["id": .bytes([3]), "name": "\u{202E}"]])
      #expect(
        await platform.vault.prompts == [
          "make a passkey for example.com as “Alice Miller”", "make a passkey for example.com",
          "make a passkey for example.com",
        ])
    }
  }

  @Test("a passkey's long account name is shortened without splitting a character")
  func names() async throws {
    try await TestPlatform.with { platform in
      _ = try await platform.made(name: String(repeating: "é", count: 40) + "x")
      _ = try await platform.made(user: [2], name: "a" + String(repeating: "é", count: 40))
      let names = Set(await platform.vault.passkeys(for: nil).map(\.user.name))
      #expect(names == [String(repeating: "é", count: 32), "a" + String(repeating: "é", count: 31)])
    }
  }

  @Test("passkeys whose sites and accounts have no names are listed without them")
  func noNames() async throws {
    try await TestPlatform.with { platform in
      #expect(try await platform.make(with: [2: ["id": "a.example"], 3: ["id": .bytes([1])]]).status == 0)
      let token = try await platform.token(4, nil)
      #expect(try await platform.manage(2, nil, token).value?.entries?[3] == ["id": "a.example"])
      let hash = Digest.sha256(Array("a.example".utf8))
      #expect(try await platform.manage(4, [1: .bytes(hash)], token).value?.entries?[6] == ["id": .bytes([1])])
    }
  }
}
