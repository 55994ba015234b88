import CBOR
import Keys
import Passkeys
import Primitives
import Testing

/// A platform that speaks to an authenticator over reports, as a browser does.
final class TestPlatform: Sendable {
  let vault = TestVault()
  let authenticator: Authenticator
  private let channel: UInt32
  private let reports: AsyncStream<[UInt8]>

  /// Runs `body` with an authenticator of its own.
  static func with(_ body: (TestPlatform) async throws -> Void) async throws {
    let platform = try await TestPlatform()
    try await body(platform)
    await platform.authenticator.stop()
    #expect(await platform.vault.open == 0)
  }

  /// Runs `body` with an authenticator that serves another vault.
  static func with(_ vault: any PasskeyVault, _ body: (TestPlatform) async throws -> Void) async throws {
    let platform = try await TestPlatform(serving: vault)
    try await body(platform)
    await platform.authenticator.stop()
  }

  private init(serving other: (any PasskeyVault)? = nil) async throws {
    let (reports, sink) = AsyncStream.makeStream(of: [UInt8].self)
    self.reports = reports
    authenticator = Authenticator(vault: other ?? vault) { sink.yield($0) }
    for report in HIDReport.packets(.initialize, [1, 2, 3, 4, 5, 6, 7, 8], on: HIDReport.broadcast) {
      await authenticator.receive(report)
    }
    var iterator = reports.makeAsyncIterator()
    let answer = try #require(await iterator.next())
    channel = answer[15..<19].reduce(0) { $0 << 8 | UInt32($1) }
  }

  func send(_ command: HIDCommand, _ message: [UInt8]) async {
    for report in HIDReport.packets(command, message, on: channel) { await authenticator.receive(report) }
  }

  /// The answer to a message. It is sent again if this process was too slow to send it within half a second.
  func exchange(_ message: [UInt8]) async throws -> [UInt8] {
    while true {
      await send(.cbor, message)
      do { return try await answer().message } catch is TimedOut { continue }
    }
  }

  struct TimedOut: Error {}

  func report() async -> [UInt8]? {
    var iterator = reports.makeAsyncIterator()
    return await iterator.next()
  }

  /// The next answer, and the number of keep-alive messages before it.
  func answer() async throws -> (message: [UInt8], keepAlives: [UInt8]) {
    var iterator = reports.makeAsyncIterator()
    var keepAlives: [UInt8] = []
    while let report = await iterator.next() {
      if report[4] == 0x80 | HIDCommand.keepAlive.rawValue {
        keepAlives.append(report[7])
        continue
      }
      if report[4] == 0x80 | HIDCommand.error.rawValue, report[7] == HIDError.timeout.rawValue { throw TimedOut() }
      #expect(report[4] == 0x80 | HIDCommand.cbor.rawValue)
      let count = Int(report[5]) << 8 | Int(report[6])
      var message = Array(report[7...].prefix(count))
      while message.count < count, let more = await iterator.next() {
        message += more[5...].prefix(count - message.count)
      }
      return (message, keepAlives)
    }
    throw Ended()
  }

  struct Ended: Error {}

  /// Sends a command, and returns its status and value.
  @discardableResult
  func call(_ command: UInt8, _ parameters: CBORValue? = nil) async throws -> (status: UInt8, value: CBORValue?) {
    let message = try await exchange([command] + (parameters?.encoded ?? []))
    let value = message.count > 1 ? try CBORValue(decoding: message[1...]) : nil
    let status = try #require(message.first)
    return (status, value)
  }

  // Ceremonies

  static let hash = [UInt8](repeating: 7, count: 32)

  func make(
    _ relyingParty: String = "example.com", user: [UInt8] = [1], name: String = "alice", algorithm: Int = -7,
    discoverable: Bool = true, with more: [CBORValue: CBORValue] = [:]
  ) async throws -> (status: UInt8, value: CBORValue?) {
    let parameters: [CBORValue: CBORValue] = [
      1: .bytes(Self.hash), 2: ["id": .text(relyingParty), "name": "Example"],
      3: ["id": .bytes(user), "name": .text(name), "displayName": "Alice Miller"],
      4: [["alg": CBORValue(algorithm), "type": "public-key"]], 7: ["rk": .bool(discoverable)],
    ]
    return try await call(1, .map(parameters.merging(more) { $1 }))
  }

  func assert(
    _ relyingParty: String = "example.com", allow: [[UInt8]] = [], with more: [CBORValue: CBORValue] = [:]
  ) async throws -> (status: UInt8, value: CBORValue?) {
    var parameters: [CBORValue: CBORValue] = [1: .text(relyingParty), 2: .bytes(Self.hash)]
    if !allow.isEmpty { parameters[3] = .array(allow.map { ["id": .bytes($0), "type": "public-key"] }) }
    return try await call(2, .map(parameters.merging(more) { $1 }))
  }

  /// Makes a passkey, and returns its ID and public key after checking the attestation.
  func made(
    _ relyingParty: String = "example.com", user: [UInt8] = [1], name: String = "alice", algorithm: Int = -7,
    discoverable: Bool = true, with more: [CBORValue: CBORValue] = [:]
  ) async throws -> (id: [UInt8], key: PublicKey) {
    let answer = try await make(
      relyingParty, user: user, name: name, algorithm: algorithm, discoverable: discoverable, with: more)
    #expect(answer.status == 0)
    let data = try #require(answer.value?.entries?[2]?.byteString)
    #expect(Array(data[..<32]) == Digest.sha256(Array(relyingParty.utf8)))
    let length = Int(data[53]) << 8 | Int(data[54])
    let cose = try CBORValue.first(in: data[(55 + length)...]).value
    let key = try #require(COSEKey(cose))
    let publicKey = try PublicKey(external: key.external, family: algorithm == -7 ? .ec : .ed25519)
    let statement = try #require(answer.value?.entries?[3]?.entries)
    #expect(statement["alg"]?.integer == algorithm)
    #expect(try verifies(statement["sig"]?.byteString, data, publicKey))
    return (Array(data[55..<55 + length]), publicKey)
  }

  func verifies(_ signature: [UInt8]?, _ data: [UInt8]?, _ key: PublicKey) throws -> Bool {
    let scheme: SignatureScheme = key.algorithm == .ed25519 ? .ed25519 : .ecdsa(.sha256, .message, .x962)
    return try key.verify(try #require(signature), of: try #require(data) + Self.hash, scheme)
  }

  // Tokens

  /// A platform's side of a key agreement.
  struct Agreement {
    let version: Int
    let publicKey: CBORValue
    let macKey: SharedSecret
    let aesKey: SharedSecret

    func mac(_ key: borrowing SecretBytes, _ message: [UInt8]) -> [UInt8] {
      Array(MAC.hmacSHA256(key: key, message).prefix(version == 1 ? 16 : 32))
    }

    func decrypt(_ bytes: [UInt8]) throws -> SecretBytes {
      version == 1
        ? try AES256CBC.decrypt(bytes, key: aesKey.bytes, iv: [UInt8](repeating: 0, count: 16))
        : try AES256CBC.decrypt(Array(bytes[16...]), key: aesKey.bytes, iv: Array(bytes[..<16]))
    }

    func encrypt(_ bytes: [UInt8]) throws -> [UInt8] {
      let iv = version == 1 ? [UInt8](repeating: 0, count: 16) : try Random.bytes(16)
      let secret = SecretBytes(copying: bytes.span)
      return (version == 1 ? [] : iv) + (try AES256CBC.encrypt(secret, key: aesKey.bytes, iv: iv))
    }
  }

  func agree(_ version: Int) async throws -> Agreement {
    let answer = try await call(6, [1: CBORValue(version), 2: 2])
    let peer = try #require(answer.value?.entries?[1].flatMap { COSEKey($0) })
    let pair = try PrivateKey.generate(.ec(.p256))
    let point = try pair.exchange(
      with: try PublicKey(external: peer.external, family: .ec), .ecdh, requestedSize: 32, sharedInfo: [])
    let own = try #require(COSEKey(agreement: pair.publicKey.external)).value
    guard version == 2 else {
      let key = Digest.sha256(secret: point)
      return Agreement(version: 1, publicKey: own, macKey: SharedSecret(key.copy()), aesKey: SharedSecret(key))
    }
    let salt = [UInt8](repeating: 0, count: 32)
    return Agreement(
      version: 2, publicKey: own,
      macKey: SharedSecret(try KDF.hkdf(key: point, salt: salt, info: Array("CTAP2 HMAC key".utf8))),
      aesKey: SharedSecret(try KDF.hkdf(key: point, salt: salt, info: Array("CTAP2 AES key".utf8))))
  }

  /// A token with its agreement.
  func token(_ permissions: Int, _ relyingParty: String? = "example.com", version: Int = 2) async throws -> Token {
    let agreement = try await agree(version)
    var parameters: [CBORValue: CBORValue] = [
      1: CBORValue(version), 2: 6, 3: agreement.publicKey, 9: CBORValue(permissions),
    ]
    if let relyingParty { parameters[10] = .text(relyingParty) }
    let answer = try await call(6, .map(parameters))
    #expect(answer.status == 0)
    let encrypted = try #require(answer.value?.entries?[2]?.byteString)
    return Token(agreement: agreement, bytes: SharedSecret(try agreement.decrypt(encrypted)))
  }

  struct Token {
    let agreement: Agreement
    let bytes: SharedSecret

    func mac(_ message: [UInt8]) -> CBORValue { .bytes(agreement.mac(bytes.bytes, message)) }
    var version: CBORValue { CBORValue(agreement.version) }
  }

  /// A subcommand of the management of credentials.
  func manage(
    _ subcommand: Int, _ parameters: CBORValue? = nil, _ token: Token?, command: UInt8 = 0x0A
  ) async throws -> (status: UInt8, value: CBORValue?) {
    var request: [CBORValue: CBORValue] = [1: CBORValue(subcommand)]
    if let parameters { request[2] = parameters }
    if let token {
      request[3] = token.version
      request[4] = token.mac([UInt8(subcommand)] + (parameters?.encoded ?? []))
    }
    return try await call(command, .map(request))
  }
}
