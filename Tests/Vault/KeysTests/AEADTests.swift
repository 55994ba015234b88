internal import Primitives
internal import Testing

@testable internal import Keys

@Suite struct AEADTests {
  private let aad = Array("whorl test aad".utf8)

  @Test("AEAD opens a sealed secret to the same bytes", arguments: [0, 1, 15, 16, 17, 32, 1000, 1 << 20])
  func roundTrip(count: Int) throws {
    let key = try Random.key()
    let plaintext = try Random.bytes(count)
    for aad in [aad, []] {
      let box = try AEAD.seal(secret(plaintext), key: key, aad: aad)
      #expect(box.count == count + AEAD.overhead)
      let opened = try AEAD.open(box, key: key, aad: aad)
      #expect(bytes(of: opened) == plaintext)
    }
  }

  @Test("AEAD refuses every flipped bit of a box, its additional data or its key", arguments: [0, 1, 40])
  func flippedBits(count: Int) throws {
    let key = try Random.key()
    let box = try AEAD.seal(secret(repeated(0x61, count)), key: key, aad: aad)
    for bit in 0..<box.count * 8 {
      #expect(throws: KeysError.authenticationFailed, "bit \(bit) of the box") {
        _ = try AEAD.open(flip(box, bit), key: key, aad: aad).count
      }
    }
    for bit in 0..<aad.count * 8 {
      #expect(throws: KeysError.authenticationFailed, "bit \(bit) of the additional data") {
        _ = try AEAD.open(box, key: key, aad: flip(aad, bit)).count
      }
    }
    for bit in 0..<256 {
      #expect(throws: KeysError.authenticationFailed, "bit \(bit) of the key") {
        _ = try AEAD.open(box, key: secret(flip(bytes(of: key), bit)), aad: aad).count
      }
    }
    let opened = try AEAD.open(box, key: key, aad: aad)
    #expect(opened.count == count, "the box itself no longer opens, so nothing above proves anything")
  }

  @Test("AEAD refuses a truncated, extended or empty box")
  func wrongLength() throws {
    let key = try Random.key()
    let box = try AEAD.seal(secret("a secret of some length"), key: key, aad: aad)
    for count in 0..<box.count {
      #expect(throws: KeysError.authenticationFailed) {
        _ = try AEAD.open(Array(box.prefix(count)), key: key, aad: aad).count
      }
      #expect(throws: KeysError.authenticationFailed) {
        _ = try AEAD.open(Array(box.suffix(count)), key: key, aad: aad).count
      }
    }
    #expect(throws: KeysError.authenticationFailed) { _ = try AEAD.open(box + [0], key: key, aad: aad).count }
  }

  @Test("AEAD refuses longer or missing additional data, and bytes moved between it and the ciphertext")
  func boundary() throws {
    let key = try Random.key()
    let box = try AEAD.seal(secret("abc"), key: key, aad: aad)
    #expect(throws: KeysError.authenticationFailed) { _ = try AEAD.open(box, key: key, aad: aad + [0]).count }
    #expect(throws: KeysError.authenticationFailed) { _ = try AEAD.open(box, key: key, aad: []).count }
    let (nonce, rest) = (Array(box.prefix(12)), Array(box.dropFirst(12)))
    for count in 1...3 {
      #expect(throws: KeysError.authenticationFailed, "\(count) bytes to the additional data") {
        _ = try AEAD.open(nonce + rest.dropFirst(count), key: key, aad: aad + rest.prefix(count)).count
      }
      #expect(throws: KeysError.authenticationFailed, "\(count) bytes to the ciphertext") {
        _ = try AEAD.open(nonce + aad.suffix(count) + rest, key: key, aad: Array(aad.dropLast(count))).count
      }
    }
  }

  @Test("AEAD seals the same secret with a different nonce each time")
  func freshNonces() throws {
    let key = try Random.key()
    var nonces: Set<[UInt8]> = []
    for _ in 0..<2000 {
      nonces.insert(Array(try AEAD.seal(secret("x"), key: key, aad: []).prefix(12)))
    }
    #expect(nonces.count == 2000)
  }

  @Test("AEAD refuses a key of another length than 32 bytes", arguments: [0, 16, 24, 31, 33, 64])
  func keyLength(count: Int) throws {
    let box = try AEAD.seal(secret("x"), key: Random.key(), aad: [])
    let expected = KeysError.badParameters("the key is not 32 bytes")
    #expect(throws: expected) { try AEAD.seal(secret("x"), key: SecretBytes(count: count), aad: []) }
    #expect(throws: expected) { _ = try AEAD.open(box, key: SecretBytes(count: count), aad: []).count }
  }

  @Test("AEAD seals with a nonce of 12 bytes only", arguments: [0, 11, 13, 16])
  func nonceLength(count: Int) throws {
    let key = try Random.key()
    #expect(throws: KeysError.badParameters("the nonce is not 12 bytes")) {
      try AEAD.seal(secret("x"), key: key, nonce: repeated(1, count), aad: [])
    }
  }

  @Test("AEAD seals and opens in many tasks concurrently")
  func concurrent() async throws {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for task in 0..<8 {
        group.addTask {
          let key = try Random.key()
          for round in 0..<300 {
            let text = repeated(UInt8(truncatingIfNeeded: task * 40 + round), round)
            let opened = try AEAD.open(AEAD.seal(secret(text), key: key, aad: [1]), key: key, aad: [1])
            if bytes(of: opened) != text { return false }
          }
          return true
        }
      }
      for try await intact in group { #expect(intact) }
    }
  }

  private func flip(_ bytes: [UInt8], _ bit: Int) -> [UInt8] {
    var flipped = bytes
    flipped[bit / 8] ^= 1 << UInt8(bit % 8)
    return flipped
  }
}
