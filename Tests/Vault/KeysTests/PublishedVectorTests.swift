internal import Primitives
internal import Testing

@testable internal import Keys

@Suite struct PublishedVectorTests {
  @Test("AES-256-GCM gives the results that its authors published", arguments: PublishedVectors.gcm)
  func aead(vector: PublishedVectors.GCM) throws {
    let key = secret(hex(vector.key))
    let box = hex(vector.nonce) + hex(vector.ciphertext) + hex(vector.tag)
    let sealed = try AEAD.seal(
      secret(hex(vector.plaintext)), key: key, nonce: hex(vector.nonce), aad: hex(vector.aad))
    #expect(sealed == box)
    let opened = try AEAD.open(box, key: key, aad: hex(vector.aad))
    #expect(bytes(of: opened) == hex(vector.plaintext))
  }

  @Test("HKDF-SHA256 gives the results in RFC 5869", arguments: PublishedVectors.hkdf)
  func kdf(vector: PublishedVectors.HKDF) throws {
    let output = hex(vector.output)
    let derived = try KDF.hkdf(
      key: secret(vector.key), salt: vector.salt, info: vector.info, count: output.count)
    #expect(bytes(of: derived) == output)
  }

  @Test("scrypt gives the results in RFC 7914", arguments: PublishedVectors.scrypt)
  func scrypt(vector: PublishedVectors.Cost) throws {
    let derived = try Scrypt.derive(
      passcode: secret(vector.passcode), salt: Array(vector.salt.utf8), n: vector.n, r: vector.r, p: vector.p,
      count: 64)
    #expect(bytes(of: derived) == hex(vector.output))
  }

  @Test(
    "PBKDF2 with HMAC-SHA512 gives the results known for the inputs of RFC 6070", arguments: PublishedVectors.pbkdf2)
  func pbkdf2(vector: PublishedVectors.Rounds) throws {
    let derived = try PBKDF2.sha512(
      password: secret(vector.password), salt: Array(vector.salt.utf8), rounds: vector.rounds, count: 64)
    #expect(bytes(of: derived) == hex(vector.output))
    let shorter = try PBKDF2.sha512(
      password: secret(vector.password), salt: Array(vector.salt.utf8), rounds: vector.rounds, count: 56)
    #expect(bytes(of: shorter) == Array(hex(vector.output).prefix(56)))
  }

  @Test("HMAC-SHA256 computes and verifies the results in RFC 4231", arguments: PublishedVectors.hmac)
  func mac(vector: PublishedVectors.Code) {
    let key = secret(vector.key)
    let mac = MAC.hmacSHA256(key: key, vector.text)
    #expect(mac == hex(vector.output))
    let accepted = MAC.verify(hex(vector.output), key: key, vector.text)
    #expect(accepted)
    for bit in 0..<256 {
      var forged = hex(vector.output)
      forged[bit / 8] ^= 1 << UInt8(bit % 8)
      let refused = !MAC.verify(forged, key: key, vector.text)
      #expect(refused, "bit \(bit) went unseen")
    }
    let truncatedRefused = !MAC.verify(Array(mac.dropLast()), key: key, vector.text)
    #expect(truncatedRefused)
  }

  /// FIPS 180-2, appendix B, and the empty message.
  @Test(
    "SHA-256 gives the results in FIPS 180",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb924 27ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223 b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039 a33ce45964ff2167f6ecedd419db06c1"
      ),
    ])
  func digest(text: String, output: String) {
    #expect(Digest.sha256(Array(text.utf8)) == hex(output))
  }
}
