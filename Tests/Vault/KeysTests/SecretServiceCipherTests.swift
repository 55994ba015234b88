internal import Primitives
internal import Testing

@testable internal import Keys

@Suite("The ciphers of the Secret Service API")
struct SecretServiceCipherTests {
  /// The prime of the second Oakley group, RFC 2409, section 6.2.
  private static let prime = """
    ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74020bbea63b139b22514a08798e3404dd\
    ef9519b3cd3a431b302b0a6df25f14374fe1356d6d51c245e485b576625e7ec6f44c42e9a637ed6b0bff5cb6f406b7ed\
    ee386bfb5a899fa5ae9f24117c4b1fe649286651ece65381ffffffffffffffff
    """

  @Test("both sides of a Secret Service key exchange compute the same secret, and every exchange another")
  func agreement() throws {
    let one = try Oakley2()
    let two = try Oakley2()
    let ofOne = bytes(of: try one.sharedSecret(with: secret(two.publicKey)))
    let ofTwo = bytes(of: try two.sharedSecret(with: secret(one.publicKey)))
    #expect(ofOne == ofTwo)
    #expect(ofOne.count == Oakley2.count)
    #expect(one.publicKey != two.publicKey)
    let three = try Oakley2()
    let another = bytes(of: try one.sharedSecret(with: secret(three.publicKey)))
    #expect(another != ofOne)
  }

  @Test("the generator of the Secret Service key exchange is 2, as in RFC 2409")
  func generator() throws {
    let one = try Oakley2()
    #expect(bytes(of: try one.sharedSecret(with: secret([2]))) == one.publicKey)
  }

  @Test("the prime of the Secret Service key exchange is that of the second Oakley group, RFC 2409")
  func group() throws {
    let one = try Oakley2()
    // The prime minus 2 is the negative of the generator: its power is this side's public key or the negative of that.
    let power = bytes(of: try one.sharedSecret(with: secret(hex(Self.prime.dropLast(2) + "fd"))))
    let isNegative = sum(power, one.publicKey) == hex(Self.prime)
    #expect(power == one.publicKey || isNegative)
  }

  /// The sum of two numbers of the same length, the highest byte first, without the last carry.
  private func sum(_ one: [UInt8], _ other: [UInt8]) -> [UInt8] {
    var sum = one
    var carry = 0
    for place in sum.indices.reversed() {
      carry += Int(one[place]) + Int(other[place])
      sum[place] = UInt8(carry & 0xFF)
      carry >>= 8
    }
    return sum
  }

  @Test(
    "public keys that lead to a known secret are refused in a Secret Service key exchange",
    arguments: ["", "00", "01", prime.dropLast(2) + "fe", prime, "01" + String(repeating: "00", count: 128)])
  func degenerate(key: String) throws {
    let one = try Oakley2()
    #expect(throws: KeysError.self) { _ = try one.sharedSecret(with: secret(hex(key))) }
  }

  @Test("AES-128-CBC gives the result of NIST SP 800-38A, F.2.1, before its padding")
  func vector() throws {
    let key = secret(hex("2b7e151628aed2a6abf7158809cf4f3c"))
    let iv = hex("000102030405060708090a0b0c0d0e0f")
    let plaintext = hex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51")
    let ciphertext = try AESCBC.encrypt(secret(plaintext), key: key, iv: iv)
    #expect(
      bytes(of: ciphertext).prefix(32)
        == hex("7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2")[...])
    #expect(ciphertext.count == 48)
    #expect(bytes(of: try AESCBC.decrypt(ciphertext, key: key, iv: secret(iv))) == plaintext)
  }

  @Test("AES-128-CBC refuses wrong lengths and wrong padding", arguments: [0, 15, 17])
  func wrong(count: Int) throws {
    let key = secret([UInt8](repeating: 1, count: 16))
    let iv = [UInt8](repeating: 2, count: 16)
    #expect(throws: KeysError.authenticationFailed) {
      _ = try AESCBC.decrypt(secret([UInt8](repeating: 0, count: count)), key: key, iv: secret(iv))
    }
    let box = try AESCBC.encrypt(secret([1, 2, 3]), key: key, iv: iv)
    // The last byte of the initialization vector is that of the padding in a box of one block.
    let spoiled = Array(iv.dropLast()) + [iv[15] ^ 0xFF]
    #expect(throws: KeysError.authenticationFailed) { _ = try AESCBC.decrypt(box, key: key, iv: secret(spoiled)) }
  }

  @Test("AES-128-CBC takes a key and an initialization vector of 16 bytes", arguments: [(15, 16), (32, 16), (16, 15)])
  func otherCounts(keyCount: Int, ivCount: Int) {
    #expect(throws: KeysError.badParameters("AES-128-CBC takes 16 bytes each")) {
      _ = try AESCBC.encrypt(secret([1]), key: secret(repeated(1, keyCount)), iv: repeated(2, ivCount))
    }
  }
}
