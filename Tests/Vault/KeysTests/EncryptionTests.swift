internal import COpenSSL
internal import Primitives
internal import Testing

@testable internal import Keys

@Suite struct EncryptionTests {
  @Test("ciphertexts made by Apple's ECIES are decrypted", arguments: AppleVectors.ecies)
  func apple(vector: AppleVectors.ECIES) throws {
    let key = try PrivateKey(external: secret(vector.privateForm), family: .ec)
    let plaintext = try key.decrypt(vector.ciphertext, .ecies(vector.hash, vector.nonce))
    #expect(bytes(of: plaintext) == Array(vector.plaintext.utf8))
    let otherNonce: EncryptionScheme.Nonce = vector.nonce == .zero ? .derived : .zero
    for scheme in [.ecies(vector.hash, otherNonce), .ecies(.sha1, vector.nonce)] as [EncryptionScheme] {
      #expect(throws: KeysError.authenticationFailed) { _ = try key.decrypt(vector.ciphertext, scheme).count }
    }
  }

  @Test("Wycheproof's RSA ciphertexts are decrypted")
  func wycheproof() throws {
    let key = try PrivateKey(stored: secret(RSAVectors.privateForm), family: .rsa)
    let oaep = bytes(of: try key.decrypt(RSAVectors.oaepCiphertext, .rsaOAEP(.sha256)))
    #expect(oaep == Array("Test".utf8))
    let other = try PrivateKey(external: secret(RSAVectors.otherPrivateForm), family: .rsa)
    let pkcs1 = bytes(of: try other.decrypt(RSAVectors.pkcs1Ciphertext, .rsaPKCS1))
    #expect(pkcs1 == Array("Test".utf8))
  }

  @Test("every encryption scheme decrypts what it encrypts, up to its size limit", arguments: SigningTests.keys)
  func everyScheme(form: (KeyFamily, [UInt8])) throws {
    let key = try PrivateKey(stored: secret(form.1), family: form.0)
    for scheme in allSchemes {
      guard scheme.supports(key.algorithm) else {
        #expect(throws: KeysError.badParameters("this key does not support this encryption")) {
          _ = try key.publicKey.encrypt(secret("x"), scheme)
        }
        #expect(throws: KeysError.badParameters("this key does not support this encryption")) {
          _ = try key.decrypt([1], scheme).count
        }
        continue
      }
      let limit = scheme.plaintextLimit(key.algorithm)
      for count in [0, 1, 16, 100, limit ?? 100_000] {
        // A small first byte keeps the number of raw RSA below the modulus.
        let plaintext = count == 0 ? [] : [1] + repeated(0x5a, count - 1)
        let ciphertext = try key.publicKey.encrypt(secret(plaintext), scheme)
        let again = try key.publicKey.encrypt(secret(plaintext), scheme)
        #expect((ciphertext == again) == (scheme == .rsaRaw), "\(scheme) is random, or is not")
        let decrypted = bytes(of: try key.decrypt(ciphertext, scheme))
        #expect(decrypted == (scheme == .rsaRaw ? repeated(0, 256 - count) + plaintext : plaintext), "\(scheme)")
      }
      if let limit {
        #expect(throws: KeysError.badParameters("the plaintext is over \(limit) bytes")) {
          _ = try key.publicKey.encrypt(secret(repeated(0, limit + 1)), scheme)
        }
      }
    }
    #expect(ERR_peek_error() == 0)
  }

  @Test("every kind of invalid ciphertext for a key gives the same error", arguments: SigningTests.keys)
  func oneError(form: (KeyFamily, [UInt8])) throws {
    let key = try PrivateKey(stored: secret(form.1), family: form.0)
    for scheme in allSchemes where scheme.supports(key.algorithm) && scheme != .rsaRaw {
      let ciphertext = try key.publicKey.encrypt(secret("a secret"), scheme)
      var wrong: [[UInt8]] = [
        [], [0], ciphertext + [0], [0] + ciphertext, Array(ciphertext.dropFirst()), Array(ciphertext.dropLast()),
        Array(ciphertext.dropLast(16)), repeated(0, ciphertext.count), repeated(0xff, ciphertext.count),
        repeated(4, ciphertext.count),
      ]
      for place in stride(from: 0, to: ciphertext.count, by: 5) {
        var altered = ciphertext
        altered[place] ^= 0x20
        wrong.append(altered)
      }
      for bytes in wrong { expectRefused(bytes, scheme, key, secret: Array("a secret".utf8)) }
    }
    #expect(ERR_peek_error() == 0)
  }

  /// With PKCS #1, OpenSSL 3.2 and later answer a wrong padding by a message that they make of the key and the ciphertext, so
  /// that nobody learns of the padding.
  private func expectRefused(
    _ ciphertext: [UInt8], _ scheme: EncryptionScheme, _ key: borrowing PrivateKey, secret: [UInt8]
  ) {
    do throws(KeysError) {
      let message = bytes(of: try key.decrypt(ciphertext, scheme))
      #expect(scheme == .rsaPKCS1 && message != secret, "\(scheme)")
    } catch { #expect(error == .authenticationFailed, "\(scheme)") }
  }

  @Test("every kind of wrong RSA padding gives the same error")
  func paddings() throws {
    let key = try PrivateKey(stored: secret(RSAVectors.privateForm), family: .rsa)
    let nonzero = repeated(7, 200)
    // No zero byte after the padding, too little padding, an unknown block type, no leading zero, the block type of a
    // signature.
    let blocks: [[UInt8]] = [
      [0, 2] + repeated(7, 254), [0, 2] + repeated(7, 7) + [0] + repeated(7, 246),
      [0, 1] + nonzero + [0] + repeated(7, 53),
      [1, 2] + nonzero + [0] + repeated(7, 53), [0, 1] + repeated(0xff, 253) + [0], repeated(0, 256),
    ]
    for block in blocks {
      let ciphertext = try key.publicKey.encrypt(secret(block), .rsaRaw)
      for scheme in [.rsaPKCS1, .rsaOAEP(.sha1), .rsaOAEP(.sha256)] as [EncryptionScheme] {
        expectRefused(ciphertext, scheme, key, secret: Array(block.suffix(53)))
      }
    }
    let right = try key.publicKey.encrypt(secret([0, 2] + nonzero + [0] + repeated(9, 53)), .rsaRaw)
    let plaintext = bytes(of: try key.decrypt(right, .rsaPKCS1))
    #expect(plaintext == repeated(9, 53))
  }

  @Test("an RSA ciphertext has as many bytes as the modulus")
  func shortCiphertext() throws {
    let key = try PrivateKey(stored: secret(RSAVectors.privateForm), family: .rsa)
    for ciphertext in [[1], repeated(0, 256) + [1]] as [[UInt8]] {
      #expect(throws: KeysError.authenticationFailed) { _ = try key.decrypt(ciphertext, .rsaRaw).count }
    }
  }

  @Test("RSA encryption without padding takes numbers below the modulus, and refuses the modulus and above")
  func overModulus() throws {
    let key = try PublicKey(external: RSAVectors.publicForm, family: .rsa)
    let modulus = Array(RSAVectors.publicForm[9..<9 + 256])
    for number in [modulus, repeated(0xff, 256)] {
      #expect(throws: KeysError.badParameters("the number is not below the modulus")) {
        _ = try key.encrypt(secret(number), .rsaRaw)
      }
    }
    // An odd power of -1 is -1.
    let below = Array(modulus.dropLast()) + [modulus[255] - 1]
    #expect(try key.encrypt(secret(below), .rsaRaw) == below)
  }

  @Test("an RSA-wrapped session key and its ciphertext are laid out as in Apple's format", arguments: [2048, 4096])
  func wrappedKey(bits: Int) throws {
    let key =
      bits == 2048
      ? try PrivateKey(stored: secret(RSAVectors.privateForm), family: .rsa)
      : try PrivateKey.generate(.rsa(bits: bits))
    let ciphertext = try key.publicKey.encrypt(secret("a secret"), .rsaOAEPAESGCM(.sha256))
    #expect(ciphertext.count == bits / 8 + 8 + 16)
    let session = try key.decrypt(Array(ciphertext.prefix(bits / 8)), .rsaOAEP(.sha256))
    #expect(session.count == (bits == 4096 ? 32 : 16))
    let opened = try TaggedCipher.aesGCM.open(
      ciphertext[(bits / 8)...], key: session, nonce: repeated(0, 16), aad: key.publicKey.external)
    #expect(bytes(of: opened) == Array("a secret".utf8))
  }

  @Test("a session key of another length than Apple's is refused, even if its ciphertext opens")
  func wrappedKeyLength() throws {
    let key = try PrivateKey(stored: secret(RSAVectors.privateForm), family: .rsa)
    for count in [16, 32] {
      let session = try Random.key(count)
      var box = try RSAEncryption.encrypt(session, to: key.publicKey, .oaep(.sha256))
      let start = box.count
      box += repeated(0, 1 + TaggedCipher.tagCount)
      try TaggedCipher.aesGCM.seal(
        secret([7]), key: session, nonce: repeated(0, 16), aad: key.publicKey.external, into: &box, at: start)
      if count == 16 {
        #expect(bytes(of: try key.decrypt(box, .rsaOAEPAESGCM(.sha256))) == [7])
      } else {
        #expect(throws: KeysError.authenticationFailed) { _ = try key.decrypt(box, .rsaOAEPAESGCM(.sha256)).count }
      }
    }
  }

  @Test("AES-128-GCM gives the ciphertexts that its authors published")
  func aes128() throws {
    // McGrew and Viega, test cases 2 and 6 (a nonce of 60 bytes).
    var box = repeated(0, 32)
    try TaggedCipher.aesGCM.seal(
      secret(repeated(0, 16)), key: secret(repeated(0, 16)), nonce: repeated(0, 12), aad: [], into: &box, at: 0)
    #expect(box == hex("0388dace60b6a392f328c2b971b2fe78 ab6e47d42cec13bdf53a67b21257bddf"))
    let plaintext = hex(
      """
      d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
      1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39
      """)
    let nonce = hex(
      """
      9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728
      c3c0c95156809539fcf0e2429a6b525416aedbf5a0de6a57a637b39b
      """)
    box = repeated(0, plaintext.count + 16)
    try TaggedCipher.aesGCM.seal(
      secret(plaintext), key: secret(hex("feffe9928665731c6d6a8f9467308308")), nonce: nonce,
      aad: hex("feedfacedeadbeeffeedfacedeadbeefabaddad2"), into: &box, at: 0)
    #expect(
      box
        == hex(
          """
          8ce24998625615b603a033aca13fb894be9112a5c3a211a8ba262a3cca7e2ca7
          01e4a9a4fba43c90ccdcb281d48c7c6fd62875d2aca417034c34aee5
          619cc5aefffe0bfa462af43c1699d050
          """))
  }
}

private let allSchemes: [EncryptionScheme] =
  [.rsaRaw, .rsaPKCS1]
  + HashFunction.allCases.flatMap { hash -> [EncryptionScheme] in
    [.rsaOAEP(hash), .rsaOAEPAESGCM(hash), .ecies(hash, .zero), .ecies(hash, .derived)]
  }

@Suite struct ChaCha20Poly1305Tests {
  @Test("ChaCha20-Poly1305 gives the result in RFC 8439, section 2.8.2")
  func publishedVector() throws {
    let plaintext = Array(
      """
      Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.
      """.utf8)
    let key = hex("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f")
    let nonce = hex("070000004041424344454647")
    let aad = hex("50515253c0c1c2c3c4c5c6c7")
    var box = repeated(0, plaintext.count + 16)
    try TaggedCipher.chaCha20Poly1305.seal(
      secret(plaintext), key: secret(key), nonce: nonce, aad: aad, into: &box, at: 0)
    #expect(
      box
        == hex(
          """
          d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6
          3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36
          92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc
          3ff4def08e4b7a9de576d26586cec64b6116
          1ae10b594f09e26a7e902ecbd0600691
          """))
    let opened = try TaggedCipher.chaCha20Poly1305.open(box[...], key: secret(key), nonce: nonce, aad: aad)
    #expect(bytes(of: opened) == plaintext)
  }

  @Test("ChaCha20-Poly1305 opens what it sealed, and nothing that was changed")
  func tampering() throws {
    let key = try Random.key()
    let nonce = repeated(0, 12)
    let box = try ChaCha20Poly1305.seal(secret("text"), key: key, nonce: nonce)
    #expect(bytes(of: try ChaCha20Poly1305.open(box, key: key, nonce: nonce)) == Array("text".utf8))
    for place in box.indices {
      var changed = box
      changed[place] ^= 1
      #expect(throws: KeysError.authenticationFailed) { _ = try ChaCha20Poly1305.open(changed, key: key, nonce: nonce) }
    }
    for count in [0, 15] {
      #expect(throws: KeysError.authenticationFailed) {
        _ = try ChaCha20Poly1305.open(Array(box.prefix(count)), key: key, nonce: nonce)
      }
    }
    #expect(throws: KeysError.badParameters("the nonce is not 12 bytes")) {
      _ = try ChaCha20Poly1305.open(box, key: key, nonce: repeated(0, 16))
    }
    #expect(throws: KeysError.badParameters("the nonce is not 12 bytes")) {
      _ = try ChaCha20Poly1305.seal(secret("text"), key: key, nonce: repeated(0, 16))
    }
  }
}
