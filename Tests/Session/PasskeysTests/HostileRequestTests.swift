import CBOR
import Keys
import Primitives
import SecretModel
import Testing

@testable import Passkeys

@Suite("Hostile requests to the authenticator")
struct HostileRequestTests {
  /// Where numbers end, and values of other types.
  static let extremes: [CBORValue] = [
    0, 1, -1, 23, 24, 255, 256, -256, -257, 65_535, 65_536, .unsigned(1 << 31), .unsigned((1 << 32) - 1),
    .unsigned(1 << 32), .unsigned(1 << 53), .unsigned(UInt64(Int64.max)), .unsigned(1 << 63), .unsigned(.max),
    .negative((1 << 31) - 1), .negative(1 << 32), .negative(UInt64(Int64.max) - 1), .negative(UInt64(Int64.max)),
    .negative(1 << 63), .negative(.max), .bytes([]), .bytes([UInt8](repeating: 0xFF, count: 15)),
    .bytes([UInt8](repeating: 0, count: 64)), "", .text(String(repeating: "é", count: 200)), .array([]), [:], true,
    .null,
  ]

  /// The value with one of its parts replaced, for each part; and each map without an entry, and with another key.
  private static func variants(of value: CBORValue, _ other: CBORValue) -> [CBORValue] {
    var all = [other]
    switch value {
    case .array(let elements):
      for (index, element) in elements.enumerated() {
        all += variants(of: element, other).map { changed in
          var elements = elements
          elements[index] = changed
          return .array(elements)
        }
      }
    case .map(let entries):
      for (key, part) in entries {
        all += variants(of: part, other).map { .map(entries.merging([key: $0]) { $1 }) }
        var rest = entries
        rest[key] = nil
        all += [.map(rest), .map(rest.merging([other: part]) { $1 })]
      }
    default: break
    }
    return all
  }

  /// Requests that are answered, for a passkey of example.com with the secret of `hmac-secret`.
  private static func requests(_ platform: TestPlatform) async throws -> [(command: UInt8, value: CBORValue)] {
    let (id, _) = try await platform.made(with: [6: ["hmac-secret": true]])
    let agreement = try await platform.agree(2)
    let salts = try agreement.encrypt([UInt8](repeating: 1, count: 32))
    let secret: CBORValue = [
      1: agreement.publicKey, 2: .bytes(salts), 3: .bytes(agreement.mac(agreement.macKey.bytes, salts)), 4: 2,
    ]
    let descriptor: CBORValue = ["id": .bytes(id), "type": "public-key"]
    let hash = CBORValue.bytes(TestPlatform.hash)
    return [
      (
        1,
        [
          1: hash, 2: ["id": "example.com"], 3: ["id": .bytes([1]), "name": "a"],
          4: [["alg": -7, "type": "public-key"]], 5: [["id": .bytes([1]), "type": "public-key"]],
          6: ["credProtect": 2, "credBlob": .bytes([1])], 7: ["rk": true],
        ]
      ),
      (2, [1: "example.com", 2: hash, 3: [descriptor], 4: ["hmac-secret": secret, "credBlob": true]]),
      (2, [1: "ssh:", 2: hash, 3: [descriptor], 5: ["up": false], 6: .bytes(TestPlatform.hash), 7: 2]),
      (6, [1: 2, 2: 2]), (6, [1: 1, 2: 7]),
      (6, [1: 2, 2: 6, 3: agreement.publicKey, 9: 3, 10: "example.com"]),
      (10, [1: 1]), (10, [1: 2]), (10, [1: 4, 2: [1: .bytes(Digest.sha256(Array("example.com".utf8)))]]),
      (10, [1: 6, 2: [2: ["id": .bytes([7]), "type": "public-key"]]]),
      (10, [1: 7, 2: [2: descriptor, 3: ["id": .bytes([1]), "name": "b"]]]),
    ]
  }

  /// The message; a request for the management of passkeys gets the proof that its token gives.
  private static func message(_ command: UInt8, _ value: CBORValue, _ token: TestPlatform.Token) -> [UInt8] {
    guard command == 10, var entries = value.entries, let number = entries[1]?.integer,
      let byte = UInt8(exactly: number)
    else { return [command] + value.encoded }
    if entries[3] == nil { entries[3] = token.version }
    if entries[4] == nil { entries[4] = token.mac([byte] + (entries[2]?.encoded ?? [])) }
    return [command] + CBORValue.map(entries).encoded
  }

  @Test("numbers at the ends of their ranges, and values of other types, end no passkey authenticator")
  func extremes() async throws {
    try await TestPlatform.with { platform in
      let requests = try await Self.requests(platform)
      for (command, value) in requests {
        let token = try await platform.token(4, nil)
        for extreme in Self.extremes {
          for variant in Self.variants(of: value, extreme) {
            #expect(!(try await platform.exchange(Self.message(command, variant, token)).isEmpty))
          }
        }
      }
      #expect(try await platform.call(4).status == 0)
    }
  }

  @Test("requests with several extreme values, one after the other, end no passkey authenticator", arguments: 0..<4)
  func manyExtremes(seed: Int) async throws {
    print("CTAP2 extremes seed \(seed)")
    var random = SeededGenerator(state: UInt64(seed) &* 0x9E37_79B9 &+ 1)
    try await TestPlatform.with { platform in
      let requests = try await Self.requests(platform)
      var token = try await platform.token(4, nil)
      for number in 0..<(Campaign.isLong ? 25_000 : 300) {
        if number % 50 == 0 { token = try await platform.token(4, nil) }
        guard case (let command, var value)? = requests.randomElement(using: &random) else { continue }
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          guard let extreme = Self.extremes.randomElement(using: &random) else { continue }
          value = Self.variants(of: value, extreme).dropFirst().randomElement(using: &random) ?? extreme
        }
        #expect(!(try await platform.exchange(Self.message(command, value, token)).isEmpty))
      }
      #expect(try await platform.call(4).status == 0)
    }
  }

  @Test("an answer that is too long for a security key is an error, and long names in a store are shortened")
  func long() async throws {
    try await TestPlatform.with { platform in
      let (id, _) = try await platform.made()
      let item = try #require(await platform.vault.passkeys(for: nil).first).id
      let name = String(repeating: "long ", count: 4_000)
      try await platform.vault.change(item, to: Passkey.User(handle: [1], name: name, displayName: name))
      let hash = CBORValue.bytes(Digest.sha256(Array("example.com".utf8)))
      let token = try await platform.token(4, nil)
      for entries in [
        try await platform.assert(allow: [id]).value?.entries?[4]?.entries,
        try await platform.manage(4, [1: hash], token).value?.entries?[6]?.entries,
      ] {
        #expect(entries?["name"]?.string?.utf8.count == 64 && entries?["displayName"]?.string?.utf8.count == 64)
      }
      let handle = [UInt8](repeating: 1, count: HIDReport.messageLimit)
      try await platform.vault.change(item, to: Passkey.User(handle: handle, name: "", displayName: ""))
      #expect(try await platform.assert(allow: [id]).status == 0x7F)
      #expect(try await platform.manage(4, [1: hash], token).status == 0x7F)
      #expect(try await platform.call(4).status == 0)
    }
  }

  @Test("the passkey authenticator answers random and changed requests without a crash", arguments: 0..<4)
  func random(seed: Int) async throws {
    print("CTAP2 seed \(seed)")
    var random = SeededGenerator(state: UInt64(seed) &* 0x9E37_79B9 &+ 1)
    try await TestPlatform.with { platform in
      let (id, _) = try await platform.made(with: [6: ["hmac-secret": true]])
      let agreement = try await platform.agree(2)
      let token = try await platform.token(4, nil)
      let descriptor: CBORValue = ["id": .bytes(id), "type": "public-key"]
      let requests: [(UInt8, CBORValue)] = [
        (
          1,
          [
            1: .bytes(TestPlatform.hash), 2: ["id": "example.com"], 3: ["id": .bytes([1]), "name": "a"],
            4: [["alg": -7, "type": "public-key"]], 5: [descriptor], 6: ["credProtect": 2], 7: ["rk": true],
          ]
        ),
        (2, [1: "example.com", 2: .bytes(TestPlatform.hash), 3: [descriptor], 5: ["up": false]]),
        (6, [1: 2, 2: 6, 3: agreement.publicKey, 9: 1, 10: "example.com"]),
        (10, [1: 4, 2: [1: .bytes(TestPlatform.hash)], 3: 2, 4: token.mac([1])]),
      ]
      for _ in 0..<(Campaign.isLong ? 20_000 : 400) {
        guard let (command, value) = requests.randomElement(using: &random) else { continue }
        var message = [command] + value.encoded
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          let place = Int.random(in: message.indices, using: &random)
          switch Int.random(in: 0...2, using: &random) {
          case 0: message[place] = UInt8.random(in: 0...255, using: &random)
          case 1: message.remove(at: place)
          default: message.insert(UInt8.random(in: 0...255, using: &random), at: place)
          }
        }
        // Commands that wait for nothing.
        #expect(!(try await platform.exchange(message).isEmpty))
      }
      #expect(try await platform.call(4).status == 0)
    }
  }
}
