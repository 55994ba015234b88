internal import COpenSSL
internal import Primitives
internal import Testing

@testable internal import Keys

@Suite struct KeyExchangeTests {
  @Test("Diffie-Hellman with a key on a curve gives the secrets in NIST's vectors", arguments: CurveVectors.ecdh)
  func published(vector: CurveVectors.ECDH) throws {
    let key = try PrivateKey(external: secret(vector.privateForm), family: .ec)
    let peer = try PublicKey(external: vector.peer, family: .ec)
    // Plain Diffie-Hellman ignores size and info.
    for (size, info) in [(0, []), (1000, [1])] as [(Int, [UInt8])] {
      let shared = bytes(of: try key.exchange(with: peer, .ecdh, requestedSize: size, sharedInfo: info))
      #expect(shared == vector.secret)
    }
    let plain = secret(vector.secret)
    for hash in HashFunction.allCases {
      let derived = bytes(of: try key.exchange(with: peer, .ecdhX963(hash), requestedSize: 50, sharedInfo: [7]))
      let expected = bytes(of: try KDF.x963(secret: plain, hash: hash, sharedInfo: [7], count: 50))
      #expect(derived == expected)
    }
  }

  @Test("X9.63 derives the keys in NIST's vectors", arguments: CurveVectors.x963)
  func derivation(vector: CurveVectors.X963) throws {
    let derived = try KDF.x963(
      secret: secret(vector.secret), hash: vector.hash, sharedInfo: vector.sharedInfo, count: vector.output.count)
    #expect(bytes(of: derived) == vector.output)
  }

  // For hash functions without a vector from NIST: one block is the hash of secret ‖ 00000001 ‖ info.
  @Test("a block derived by X9.63 is the hash that SEC 1 defines", arguments: HashFunction.allCases)
  func block(hash: HashFunction) throws {
    let z = repeated(3, 32)
    let derived = try KDF.x963(secret: secret(z), hash: hash, sharedInfo: [1, 2], count: hash.count + 1)
    let blocks = try hash.digest(z + [0, 0, 0, 1, 1, 2]) + hash.digest(z + [0, 0, 0, 2, 1, 2])
    #expect(bytes(of: derived) == Array(blocks.prefix(hash.count + 1)))
  }

  @Test("both sides of a key exchange get the same secret, and a third key gets another", arguments: Curve.allCases)
  func agreement(curve: Curve) throws {
    let one = try PrivateKey.generate(.ec(curve))
    let other = try PrivateKey.generate(.ec(curve))
    let third = try PrivateKey.generate(.ec(curve))
    for scheme in [.ecdh, .ecdhX963(.sha256)] as [ExchangeScheme] {
      let a = bytes(of: try one.exchange(with: other.publicKey, scheme, requestedSize: 32, sharedInfo: []))
      let b = bytes(of: try other.exchange(with: one.publicKey, scheme, requestedSize: 32, sharedInfo: []))
      let c = bytes(of: try one.exchange(with: third.publicKey, scheme, requestedSize: 32, sharedInfo: []))
      #expect(a == b)
      #expect(a != c)
    }
  }

  @Test("a key exchange refuses keys of different curves or families, and sizes out of range")
  func refusals() throws {
    let key = try PrivateKey.generate(.ec(.p256))
    let rsa = try PrivateKey(stored: secret(RSAVectors.privateForm), family: .rsa)
    let other = try PrivateKey.generate(.ec(.p384))
    let refusal = KeysError.badParameters("the two keys cannot be used together")
    #expect(throws: refusal) {
      _ = try key.exchange(with: other.publicKey, .ecdh, requestedSize: 1, sharedInfo: []).count
    }
    #expect(throws: refusal) {
      _ = try key.exchange(with: rsa.publicKey, .ecdh, requestedSize: 1, sharedInfo: []).count
    }
    #expect(throws: refusal) {
      _ = try rsa.exchange(with: rsa.publicKey, .ecdh, requestedSize: 1, sharedInfo: []).count
    }
    for size in [Int.min, -1, 0, 65537, Int.max] {
      #expect(throws: KeysError.badParameters("X9.63 gives 1 to 65536 bytes here")) {
        _ = try key.exchange(with: key.publicKey, .ecdhX963(.sha1), requestedSize: size, sharedInfo: []).count
      }
    }
    let most = try key.exchange(with: key.publicKey, .ecdhX963(.sha1), requestedSize: 65536, sharedInfo: [])
    #expect(most.count == 65536)
    #expect(ERR_peek_error() == 0)
  }
}
