import CBOR
import Keys
import Passkeys
import Primitives
import SecretModel
import Testing

@Suite("The authenticator")
struct CeremonyTests {
  @Test("the passkey authenticator describes itself in getInfo, and makes no passkey while nobody can be asked")
  func info() async throws {
    try await TestPlatform.with { platform in
      let value = try #require(try await platform.call(4).value?.entries)
      #expect(value[1] == ["FIDO_2_0", "FIDO_2_1"])
      #expect(value[3] == .bytes(Passkey.model))
      #expect(value[4]?.entries?["uv"] == true && value[4]?.entries?["alwaysUv"] == true)
      #expect(value[4]?.entries?["clientPin"] == nil)
      #expect(value[5] == 7609 && value[20] == 100)
      await platform.vault.set(canAsk: false)
      #expect(try await platform.call(4).value?.entries?[4]?.entries?["uv"] == false)
      #expect(try await platform.make().status == 0x30)
      #expect(await platform.vault.prompts.isEmpty)
    }
  }

  @Test("the passkey authenticator makes a passkey and signs in with it, with a touch for each", arguments: [-7, -8])
  func makeAndAssert(algorithm: Int) async throws {
    try await TestPlatform.with { platform in
      let (id, key) = try await platform.made(algorithm: algorithm)
      let answer = try await platform.assert(allow: [[1, 2, 3], id])
      #expect(answer.status == 0)
      let entries = try #require(answer.value?.entries)
      #expect(entries[1]?.entries?["id"] == .bytes(id))
      #expect(entries[5] == nil)
      #expect(try platform.verifies(entries[3]?.byteString, entries[2]?.byteString, key))
      #expect(entries[2]?.byteString?[32] == 0x1D)
      #expect(
        await platform.vault.prompts
          == ["make a passkey for example.com as alice", "sign in to example.com as alice"])
    }
  }

  @Test("the passkey authenticator returns a site's accounts one by one, after one touch", arguments: [false, true])
  func accounts(withToken: Bool) async throws {
    try await TestPlatform.with { platform in
      var keys: [[UInt8]: PublicKey] = [:]
      for user in UInt8(1)...3 {
        let (id, key) = try await platform.made(user: [user], name: "user \(user)")
        keys[id] = key
      }
      var more: [CBORValue: CBORValue] = [:]
      if withToken {
        let token = try await platform.token(2)
        more = [6: token.mac(TestPlatform.hash), 7: token.version]
      }
      var answer = try await platform.assert(with: more)
      #expect(answer.value?.entries?[5] == 3)
      var users: [[UInt8]] = []
      for number in 0..<3 {
        if number > 0 { answer = try await platform.call(8) }
        #expect(answer.status == 0)
        let entries = try #require(answer.value?.entries)
        #expect(entries[5] == (number == 0 ? 3 : nil))
        let key = try #require(keys[entries[1]?.entries?["id"]?.byteString ?? []])
        #expect(try platform.verifies(entries[3]?.byteString, entries[2]?.byteString, key))
        users.append(entries[4]?.entries?["id"]?.byteString ?? [])
      }
      #expect(users == [[3], [2], [1]])
      #expect(try await platform.call(8).status == 0x30)
      #expect(await platform.vault.prompts.count == 4)
      #expect(await platform.vault.prompts.last == "sign in to example.com")
    }
  }

  @Test("the passkey authenticator returns no further account of a site after another command")
  func interruptedAccounts() async throws {
    try await TestPlatform.with { platform in
      for user in UInt8(1)...2 { _ = try await platform.made(user: [user]) }
      #expect(try await platform.assert().status == 0)
      try await platform.call(4)
      #expect(try await platform.call(8).status == 0x30)
    }
  }

  @Test("the passkey authenticator uses the touch of a PIN/UV auth token once", arguments: [1, 2])
  func token(version: Int) async throws {
    try await TestPlatform.with { platform in
      let token = try await platform.token(3, version: version)
      let proof: [CBORValue: CBORValue] = [8: token.mac(TestPlatform.hash), 9: token.version]
      let (id, _) = try await platform.made(with: proof)
      #expect(await platform.vault.prompts == ["make a passkey for example.com"])
      #expect(try await platform.make(with: proof).status == 0x33)
      let sign: [CBORValue: CBORValue] = [6: token.mac(TestPlatform.hash), 7: token.version]
      #expect(try await platform.assert(allow: [id], with: sign).status == 0x33)
      #expect(await platform.vault.prompts.count == 1)
    }
  }

  @Test("the passkey authenticator refuses a PIN/UV auth token for another site, permission or message")
  func foreignToken() async throws {
    try await TestPlatform.with { platform in
      let token = try await platform.token(1)
      let proof: [CBORValue: CBORValue] = [8: token.mac(TestPlatform.hash), 9: token.version]
      #expect(try await platform.make("example.org", with: proof).status == 0x33)
      #expect(try await platform.make(with: [8: token.mac([1]), 9: token.version]).status == 0x33)
      #expect(try await platform.make(with: [8: token.mac(TestPlatform.hash), 9: 1]).status == 0x33)
      #expect(try await platform.make(with: [8: token.mac(TestPlatform.hash), 9: 3]).status == 0x02)
      #expect(try await platform.make(with: [8: token.mac(TestPlatform.hash)]).status == 0x14)
      #expect(try await platform.assert(with: [6: token.mac(TestPlatform.hash), 7: 2]).status == 0x33)
      #expect(try await platform.manage(1, nil, token).status == 0x33)
      #expect(try await platform.make(with: proof).status == 0)
    }
  }

  @Test("the passkey authenticator refuses unsupported requests for a PIN/UV auth token")
  func refusedTokens() async throws {
    try await TestPlatform.with { platform in
      let key = try await platform.agree(2).publicKey
      func ask(_ more: [CBORValue: CBORValue]) async throws -> UInt8 {
        try await platform.call(6, .map([1: 2, 2: 6, 3: key, 9: 1, 10: "example.com"].merging(more) { $1 })).status
      }
      #expect(try await ask([9: 0]) == 0x02)
      for permission in [8, 16, 32, 64, 9] { #expect(try await ask([9: CBORValue(permission)]) == 0x40) }
      #expect(try await ask([1: 3]) == 0x02)
      #expect(try await ask([3: [1: 2]]) == 0x02)
      let signing = try PrivateKey.generate(.ec(.p256)).publicKey.external
      #expect(try await ask([3: try #require(COSEKey(signing: signing)).value]) == 0x02)
      #expect(try await platform.call(6, [1: 2, 2: 6, 3: key, 9: 1]).status == 0x14)
      for subcommand in [1, 3, 4, 5, 8, 9, 10] {
        #expect(try await ask([2: CBORValue(subcommand)]) == 0x3E)
      }
      #expect(try await platform.call(6, [2: 7]).value == [5: 5])
      let token = try await platform.token(4, nil)
      await platform.vault.set(.refuses)
      #expect(try await ask([:]) == 0x27)
      #expect(try await platform.manage(1, nil, token).status == 0x33, "a request for another token ends the token")
    }
  }

  @Test("a sign-in request without user presence is answered from its list, without touch or valid signature")
  func silent() async throws {
    try await TestPlatform.with { platform in
      let (id, key) = try await platform.made()
      let (hidden, _) = try await platform.made(user: [2], with: [6: ["credProtect": 3]])
      let count = await platform.vault.prompts.count
      let answer = try await platform.assert(allow: [id], with: [5: ["up": false]])
      #expect(answer.status == 0)
      let entries = try #require(answer.value?.entries)
      #expect(entries[2]?.byteString?[32] == 0)
      #expect(try !platform.verifies(entries[3]?.byteString, entries[2]?.byteString, key))
      #expect(entries[4] == nil)
      #expect(try await platform.assert(allow: [hidden], with: [5: ["up": false]]).status == 0x2E)
      #expect(try await platform.assert(with: [5: ["up": false]]).status == 0x2E)
      #expect(try await platform.assert(allow: [[1]], with: [5: ["up": false]]).status == 0x2E)
      #expect(await platform.vault.prompts.count == count)
      let (other, _) = try await platform.made(user: [3], algorithm: -8)
      let edDSA = try await platform.assert(allow: [other], with: [5: ["up": false]]).value?.entries
      #expect(edDSA?[3]?.byteString?.count == 64, "of the length that EdDSA has")
      // With a token the hidden one is found, and the token is still valid for the sign-in.
      let token = try await platform.token(2)
      let proof: [CBORValue: CBORValue] = [6: token.mac(TestPlatform.hash), 7: token.version]
      #expect(try await platform.assert(allow: [hidden], with: proof.merging([5: ["up": false]]) { $1 }).status == 0)
      #expect(try await platform.assert(allow: [hidden], with: proof).status == 0)
    }
  }

  @Test("the passkey authenticator asks for a touch before it reports an excluded or missing passkey")
  func excluded() async throws {
    try await TestPlatform.with { platform in
      let (id, _) = try await platform.made()
      let list: CBORValue = [["id": .bytes(id), "type": "public-key"]]
      #expect(try await platform.make(user: [9], with: [5: list]).status == 0x19)
      #expect(await platform.vault.prompts.count == 2)
      #expect(try await platform.make("example.org", user: [9], with: [5: list]).status == 0)
      #expect(try await platform.assert(allow: [[1]]).status == 0x2E)
      #expect(await platform.vault.prompts.count == 4)
      await platform.vault.set(.refuses)
      #expect(try await platform.make(user: [9], with: [5: list]).status == 0x27)
    }
  }

  @Test("the passkey authenticator distinguishes a refused prompt from one that nobody answered")
  func refusals() async throws {
    try await TestPlatform.with { platform in
      _ = try await platform.made()
      await platform.vault.set(.refuses)
      #expect(try await platform.make().status == 0x27)
      #expect(try await platform.call(0x0B).status == 0x27)
      #expect(try await platform.call(0x07).status == 0x27)
      await platform.vault.set(.isLate)
      #expect(try await platform.make().status == 0x2F)
    }
  }

  @Test("a passkey request gets keep-alive messages while it waits for a person, and ends when it is cancelled")
  func cancelled() async throws {
    try await TestPlatform.with { platform in
      await platform.vault.set(.waits)
      await platform.send(.cbor, [0x0B])
      for _ in 0..<2 {
        let report = try #require(await platform.report())
        #expect(report[4] == 0x80 | HIDCommand.keepAlive.rawValue && report[7] == 2)
      }
      await platform.send(.cancel, [])
      #expect(try await platform.answer().message == [0x2D])
      await platform.vault.set(.touches)
      #expect(try await platform.call(0x0B).status == 0)
    }
  }

  @Test("the passkey authenticator refuses wrong options, parameters and commands")
  func parameters() async throws {
    try await TestPlatform.with { platform in
      let empty = try await platform.call(1, [:])
      #expect(empty.status == 0x14)
      #expect(try await platform.call(1).status == 0x14)
      #expect(try await platform.call(1, [1: 5]).status == 0x11)
      #expect(try await platform.call(1, .array([])).status == 0x11)
      #expect(try await platform.make(with: [7: ["up": false]]).status == 0x2C)
      #expect(try await platform.make(with: [7: ["up": true, "uv": true]]).status == 0)
      #expect(try await platform.make(with: [7: ["rk": 1]]).status == 0x11)
      #expect(try await platform.make(with: [10: 1]).status == 0x02)
      let prompts = await platform.vault.prompts.count
      #expect(try await platform.make(with: [8: .bytes([])]).status == 0x31)
      #expect(await platform.vault.prompts.dropFirst(prompts) == ["choose this computer for a passkey"])
      #expect(try await platform.assert(with: [6: .bytes([])]).status == 0x31)
      #expect(try await platform.make(algorithm: -257).status == 0x26)
      #expect(try await platform.make(user: []).status == 0x03)
      #expect(try await platform.make(user: [UInt8](repeating: 1, count: 65)).status == 0x03)
      #expect(try await platform.make("").status == 0x02)
      #expect(try await platform.make("a\nb").status == 0x02)
      #expect(try await platform.make("a\u{2028}b").status == 0x02)
      #expect(try await platform.make("a\u{2029}b").status == 0x02)
      #expect(try await platform.make(String(repeating: "a", count: 254)).status == 0x02)
      #expect(try await platform.make(String(repeating: "a", count: 253)).status == 0)
      for count in [0, 31, 33] {
        let hash = CBORValue.bytes([UInt8](repeating: 1, count: count))
        #expect(try await platform.make(with: [1: hash]).status == 0x03)
        #expect(try await platform.assert(with: [2: hash]).status == 0x03)
      }
      #expect(try await platform.make(with: [6: ["credProtect": 4]]).status == 0x2C)
      #expect(try await platform.assert(with: [5: ["rk": true]]).status == 0x2B)
      for command in [0x03, 0x05, 0x09, 0x0C, 0x0D, 0x40, 0x42] as [UInt8] {
        #expect(try await platform.call(command).status == 0x01)
      }
      await platform.send(.cbor, [1, 0xA2, 2, 0, 1, 0])
      #expect(try await platform.answer().message == [0x12])
    }
  }

  @Test("the passkey authenticator gives hmac-secret outputs, encrypted by either PIN/UV protocol", arguments: [1, 2])
  func secrets(version: Int) async throws {
    try await TestPlatform.with { platform in
      let (id, _) = try await platform.made(with: [
        6: ["hmac-secret": true, "credBlob": .bytes([1, 2]), "credProtect": 2]
      ])
      func secret(_ salts: [UInt8], mac: [UInt8]? = nil) async throws -> (UInt8, [UInt8]) {
        let agreement = try await platform.agree(version)
        let encrypted = try agreement.encrypt(salts)
        let input: CBORValue = [
          1: agreement.publicKey, 2: .bytes(encrypted),
          3: .bytes(mac ?? agreement.mac(agreement.macKey.bytes, encrypted)), 4: CBORValue(version),
        ]
        let answer = try await platform.assert(allow: [id], with: [4: ["hmac-secret": input, "credBlob": true]])
        guard let data = answer.value?.entries?[2]?.byteString else { return (answer.status, []) }
        let extensions = try CBORValue(decoding: data[37...])
        #expect(extensions.entries?["credBlob"] == .bytes([1, 2]))
        let output = try #require(extensions.entries?["hmac-secret"]?.byteString)
        return (answer.status, try agreement.decrypt(output).withUnsafeBytes { Array($0) })
      }
      let (one, two) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
      let first = try await secret(one).1
      let both = try await secret(one + two).1
      #expect(first.count == 32 && both.count == 64 && Array(both[..<32]) == first)
      #expect(try await secret(one + two + one).0 == 0x03)
      #expect(try await secret(one, mac: [UInt8](repeating: 0, count: 16)).0 == 0x33)
    }
  }

  @Test("the passkey authenticator lists, changes and deletes passkeys only with a token for that")
  func management() async throws {
    try await TestPlatform.with { platform in
      let (id, key) = try await platform.made("a.example", user: [1])
      _ = try await platform.made("b.example", user: [2])
      _ = try await platform.made("b.example", user: [3])
      _ = try await platform.made("c.example", user: [4], discoverable: false)
      for subcommand in [1, 2, 4, 6, 7] {
        #expect(try await platform.manage(subcommand, nil, nil).status == 0x36)
      }
      #expect(try await platform.manage(8, nil, nil).status == 0x3E)
      let token = try await platform.token(4, nil)
      for command in [UInt8(0x0A), 0x41] {
        #expect(try await platform.manage(1, nil, token, command: command).value == [1: 3, 2: 96])
      }
      var answer = try await platform.manage(2, nil, token)
      #expect(answer.value?.entries?[5] == 2)
      #expect(answer.value?.entries?[3]?.entries?["id"] == "b.example")
      answer = try await platform.call(10, [1: 3, 3: 9, 4: .bytes([1])])
      #expect(answer.value?.entries?[3]?.entries?["id"] == "a.example", "the next entry needs no proof")
      #expect(try await platform.manage(3, nil, nil).status == 0x30)
      let hash = Digest.sha256(Array("a.example".utf8))
      answer = try await platform.manage(4, [1: .bytes(hash)], token)
      let entries = try #require(answer.value?.entries)
      #expect(entries[6]?.entries?["name"] == "alice" && entries[9] == 1 && entries[10] == 1)
      #expect(entries[8].flatMap { COSEKey($0) }?.external == key.external)
      let descriptor: CBORValue = ["id": .bytes(id), "type": "public-key"]
      #expect(try await platform.manage(7, [2: descriptor, 3: ["id": .bytes([9])]], token).status == 0x02)
      #expect(try await platform.manage(7, [2: descriptor, 3: ["id": .bytes([1]), "name": "bob"]], token).status == 0)
      #expect(await platform.vault.passkeys(for: "a.example").first?.user.name == "bob")
      #expect(try await platform.manage(6, [2: descriptor], token).status == 0)
      #expect(try await platform.manage(6, [2: descriptor], token).status == 0x2E)
      #expect(try await platform.manage(4, [1: .bytes(hash)], token).status == 0x2E)
      let bound = try await platform.token(4, "a.example")
      #expect(try await platform.manage(1, nil, bound).status == 0x33)
      #expect(try await platform.manage(2, nil, bound).status == 0x33)
      #expect(try await platform.manage(4, [1: .bytes(Digest.sha256(Array("b.example".utf8)))], bound).status == 0x33)
      #expect(
        await platform.vault.prompts.suffix(4) == [
          "list your passkeys", "rename the passkey for a.example as alice to bob",
          "delete the passkey for a.example as bob", "list the passkeys for a.example",
        ])
    }
  }

  @Test("the passkey authenticator deletes all passkeys only after a prompt with their number")
  func reset() async throws {
    try await TestPlatform.with { platform in
      for user in UInt8(1)...2 { _ = try await platform.made(user: [user]) }
      await platform.vault.set(.refuses)
      #expect(try await platform.call(7).status == 0x27)
      #expect(await platform.vault.passkeys(for: nil).count == 2)
      await platform.vault.set(.touches)
      #expect(try await platform.call(7).status == 0)
      #expect(await platform.vault.passkeys(for: nil).isEmpty)
      #expect(await platform.vault.prompts.last == "delete all of your 2 passkeys")
      await platform.vault.set(canAsk: false)
      #expect(try await platform.call(7).status == 0x30)
    }
  }

  @Test("the passkey authenticator reports a store that is full")
  func full() async throws {
    try await TestPlatform.with { platform in
      for user in UInt8(0)..<100 { _ = try await platform.made(user: [user]) }
      #expect(try await platform.make(user: [200]).status == 0x28)
    }
  }

  @Test(
    "a relying party's ID that is not a domain is shown between quotation marks",
    arguments: [
      ("example.com", "example.com"), ("localhost", "localhost"), ("xn--bcher-kva.example", "xn--bcher-kva.example"),
      ("ssh:", "“ssh:”"), ("ssh:work", "“ssh:work”"), ("a b.example", "“a b.example”"), ("-a.example", "“-a.example”"),
      ("a-.example", "“a-.example”"),
      ("a..b", "“a..b”"), ("“x” as root", "“x as root”"), ("bücher.example", "“bücher.example”"),
      ("Example.com", "“Example.com”"), ("\u{202E}", "“a site without a name”"),
    ])
  func odd(id: String, shown: String) throws {
    #expect(try #require(RelyingPartyID(id)).shown == shown)
    #expect(RelyingPartyID(String(repeating: "a", count: 63) + ".example")?.isDomain == true)
    #expect(RelyingPartyID(String(repeating: "a", count: 64) + ".example")?.isDomain == false)
  }
}
