internal import Primitives
internal import Testing

@testable internal import Keys

@Suite struct WrappingKeyTests {
  private let info = Array("info".utf8)

  private func key(_ parts: [(UInt8, String)], info: [UInt8]) throws -> [UInt8] {
    var concatenation = SecretConcatenation()
    for (tag, part) in parts { concatenation.append(tag: tag, secret(part)) }
    return bytes(of: try KDF.wrappingKey(from: concatenation, info: info))
  }

  @Test("a wrapping key depends on the parts, their tags, order and boundaries, and the info")
  func depends() throws {
    let keys = [
      try key([(1, "class"), (2, "set")], info: info),
      try key([(1, "class"), (2, "other")], info: info),
      try key([(1, "other"), (2, "set")], info: info),
      try key([(2, "set"), (1, "class")], info: info),
      try key([(1, "class"), (3, "set")], info: info),
      try key([(1, "classs"), (2, "et")], info: info),
      try key([(1, "class")], info: info),
      try key([(1, "class"), (2, "")], info: info),
      try key([(1, "class"), (2, "set")], info: info + [0]),
      try key([(1, "class"), (2, "set")], info: []),
    ]
    #expect(Set(keys).count == keys.count)
    #expect(keys.allSatisfy { $0.count == 32 })
    #expect(try key([(1, "class"), (2, "set")], info: info) == keys[0])
  }

  @Test("a wrapping key is HKDF of the encoded parts with the given info")
  func construction() throws {
    var encoding = CanonicalEncoding()
    encoding.append(tag: 1, "class")
    encoding.append(tag: 2, "set")
    let expected = try KDF.hkdf(key: secret(encoding.bytes), info: info)
    #expect(try key([(1, "class"), (2, "set")], info: info) == bytes(of: expected))
  }

  @Test(
    "a wrapping key's info may be as long as an item's longest additional data, and its last byte matters",
    arguments: [1, 700, 32768])
  func longInfo(count: Int) throws {
    let first = try key([(1, "class")], info: repeated(7, count))
    let second = try key([(1, "class")], info: repeated(7, count - 1) + [8])
    #expect(first != second)
  }

  @Test("a wrapping key is not derived without parts, and HKDF derives nothing without a key")
  func empty() {
    #expect(throws: KeysError.badParameters("a wrapping key needs a part")) {
      _ = try KDF.wrappingKey(from: SecretConcatenation(), info: info).count
    }
    #expect(throws: KeysError.badParameters("HKDF needs a key")) {
      _ = try KDF.hkdf(key: SecretBytes(count: 0), info: info).count
    }
  }

  @Test("HKDF refuses info over libcrypto's limit and does not truncate it")
  func tooMuchInfo() {
    #expect(throws: KeysError.badParameters("HKDF takes at most 32 KiB of info")) {
      _ = try KDF.hkdf(key: secret("key"), info: repeated(7, 32769)).count
    }
  }

  @Test("HKDF derives up to the maximum length of RFC 5869")
  func length() throws {
    let longest = try KDF.hkdf(key: secret("key"), info: info, count: 8160)
    #expect(longest.count == 8160)
    for count in [0, 8161] {
      #expect(throws: KeysError.badParameters("HKDF gives 1 to 8160 bytes")) {
        _ = try KDF.hkdf(key: secret("key"), info: info, count: count).count
      }
    }
  }
}

@Suite struct ScryptTests {
  private let salt = [UInt8](0..<16)

  private func attempt(_ logN: Int, _ r: Int, _ p: Int, salt: [UInt8], floor: Scrypt.Floor) throws {
    let parameters = Scrypt.Parameters(logN: logN, r: r, p: p, salt: salt)
    _ = try Scrypt.derive(passcode: secret("x"), parameters: parameters, floor: floor).count
  }

  @Test("new scrypt parameters have the minimum cost of the design and a new salt")
  func fresh() throws {
    let parameters = try Scrypt.Parameters.fresh()
    #expect(parameters.logN == 17)
    #expect(parameters.r == 8)
    #expect(parameters.p == 1)
    #expect(parameters.salt.count == 16)
    #expect(try Scrypt.Parameters.fresh().salt != parameters.salt)
  }

  @Test("scrypt at full cost gives the same key for the same passcode, and another for another passcode")
  func derives() throws {
    let parameters = try Scrypt.Parameters.fresh()
    let key = try Scrypt.derive(passcode: secret("1234"), parameters: parameters)
    #expect(key.count == 32)
    let again = try Scrypt.derive(passcode: secret("1234"), parameters: parameters)
    #expect(bytes(of: again) == bytes(of: key))
    let other = try Scrypt.derive(passcode: secret("1235"), parameters: parameters)
    #expect(bytes(of: other) != bytes(of: key))
  }

  @Test("scrypt gives a different key for a different salt or cost")
  func depends() throws {
    func key(_ logN: Int, _ r: Int, _ p: Int, _ salt: [UInt8]) throws -> [UInt8] {
      let parameters = Scrypt.Parameters(logN: logN, r: r, p: p, salt: salt)
      return bytes(of: try Scrypt.derive(passcode: secret("x"), parameters: parameters, floor: .weakForTests))
    }
    let keys = [
      try key(5, 8, 1, salt), try key(6, 8, 1, salt), try key(5, 9, 1, salt), try key(5, 8, 2, salt),
      try key(5, 8, 1, Array(1...16)),
    ]
    #expect(Set(keys).count == keys.count)
  }

  @Test(
    "stored scrypt parameters below the floor are refused",
    arguments: [(16, 8, 1), (0, 8, 1), (-1, 8, 1), (Int.min, 8, 1), (17, 7, 1), (17, 0, 1), (17, 8, 0), (17, 8, -1)])
  func tooWeak(logN: Int, r: Int, p: Int) {
    #expect(throws: KeysError.badParameters("scrypt parameters are too weak")) {
      try attempt(logN, r, p, salt: salt, floor: .standard)
    }
  }

  @Test(
    "stored scrypt parameters with too high a cost are refused",
    arguments: [
      (21, 8, 1), (63, 8, 1), (Int.max, 8, 1), (17, 33, 1), (17, Int.max, 1), (17, 8, 17), (17, 8, Int.max),
      (20, 9, 1), (19, 17, 1), (18, 32, 17), (20, 8, 1), (19, 8, 1), (18, 9, 1), (17, 17, 1), (17, 8, 3), (18, 8, 2),
    ])
  func tooMuch(logN: Int, r: Int, p: Int) {
    #expect(throws: KeysError.badParameters("scrypt parameters ask for too much")) {
      try attempt(logN, r, p, salt: salt, floor: .standard)
    }
  }

  @Test("a scrypt salt that is not 16 bytes is refused", arguments: [0, 15, 17, 1000])
  func saltLength(count: Int) {
    #expect(throws: KeysError.badParameters("the scrypt salt is not 16 bytes")) {
      try attempt(17, 8, 1, salt: repeated(1, count), floor: .standard)
    }
  }

  @Test("scrypt's weak floor for tests allows a cost of 2^4 and not 2^3, and applies only where it is given")
  func weakForTests() {
    #expect(throws: Never.self) { try attempt(4, 8, 1, salt: salt, floor: .weakForTests) }
    let tooWeak = KeysError.badParameters("scrypt parameters are too weak")
    #expect(throws: tooWeak) { try attempt(3, 8, 1, salt: salt, floor: .weakForTests) }
    for logN in [4, 16] {
      let parameters = Scrypt.Parameters(logN: logN, r: 8, p: 1, salt: salt)
      #expect(throws: tooWeak) { _ = try Scrypt.derive(passcode: secret("x"), parameters: parameters).count }
    }
  }

  @Test("PBKDF2 needs a password, a salt, rounds and a length")
  func pbkdf2Parameters() {
    for (password, salt, rounds, count) in [
      ([], [1], 1, 1), ([1], [], 1, 1), ([1], [1], 0, 1), ([1], [1], -1, 1), ([1], [1], 1, 0),
    ] as [([UInt8], [UInt8], Int, Int)] {
      let why = password.isEmpty || salt.isEmpty ? "a password and a salt" : "a number of rounds and of bytes"
      #expect(throws: KeysError.badParameters("PBKDF2 needs \(why)")) {
        _ = try PBKDF2.sha512(password: secret(password), salt: salt, rounds: rounds, count: count).count
      }
    }
  }

  @Test("scrypt's cost for formats of others is limited", arguments: [-1, 0, 21, 64])
  func foreignCost(logN: Int) {
    #expect(throws: KeysError.badParameters("scrypt parameters ask for too much")) {
      _ = try Scrypt.derive(passphrase: secret("x"), salt: [1], logN: logN).count
    }
  }
}
