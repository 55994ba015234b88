internal import COpenSSL
internal import Primitives
internal import Testing

@testable internal import Keys

@Suite struct KeyFormTests {
  @Test("a new key on a curve is the same after export and import", arguments: Curve.allCases)
  func newCurveKey(curve: Curve) throws {
    let key = try PrivateKey.generate(.ec(curve))
    #expect(key.algorithm == .ec(curve))
    #expect(key.publicKey.external.count == curve.pointCount)
    #expect(key.publicKey.external.first == 4)
    let external = bytes(of: try key.external())
    #expect(external.count == curve.pointCount + curve.coordinateCount)
    #expect(Array(external.prefix(curve.pointCount)) == key.publicKey.external)
    try expectTheSame(key, family: .ec)
    let other = try PrivateKey.generate(.ec(curve))
    #expect(other.publicKey != key.publicKey)
  }

  @Test("a new RSA key is the same after export and import")
  func newRSAKey() throws {
    let key = try PrivateKey.generate(.rsa(bits: 2048))
    #expect(key.algorithm == .rsa(bits: 2048))
    try expectTheSame(key, family: .rsa)
    #expect(throws: KeysError.self) { _ = try PrivateKey.generate(.rsa(bits: 1024)).algorithm }
    #expect(throws: KeysError.self) { _ = try PrivateKey.generate(.rsa(bits: 2049)).algorithm }
    #expect(throws: KeysError.self) { _ = try PrivateKey.generate(.rsa(bits: 1 << 20)).algorithm }
  }

  @Test("a published private key is read and written unchanged, and has the published public key")
  func published() throws {
    let key = try PrivateKey(external: secret(RSAVectors.privateForm), family: .rsa)
    let external = bytes(of: try key.external())
    #expect(external == RSAVectors.privateForm)
    #expect(key.publicKey.external == RSAVectors.publicForm)
    #expect(key.algorithm == .rsa(bits: 2048))
    for vector in CurveVectors.ecdsa {
      let key = try PrivateKey(external: secret(vector.privateForm), family: .ec)
      let external = bytes(of: try key.external())
      #expect(external == vector.privateForm)
    }
  }

  @Test("a public key's label is the SHA-1 of its external form")
  func label() throws {
    // SHA-1 of `abc`, FIPS 180-2, appendix A.
    let abc = try HashFunction.sha1.digest(Array("abc".utf8))
    #expect(abc == hex("a9993e364706816aba3e25717850c26c9cd0d89d"))
    let key = try PublicKey(external: RSAVectors.publicForm, family: .rsa)
    let expected = try HashFunction.sha1.digest(RSAVectors.publicForm)
    #expect(key.label == expected)
  }

  @Test("public keys with the same bytes are equal and have the same hash value")
  func equality() throws {
    let key = try PublicKey(external: RSAVectors.publicForm, family: .rsa)
    let again = try PublicKey(external: RSAVectors.publicForm, family: .rsa)
    #expect(key == again)
    #expect(Set([key, again]).count == 1)
  }

  @Test("a private key on a curve is refused if its scalar is zero, too high or another's", arguments: Curve.allCases)
  func scalars(curve: Curve) throws {
    let key = try PrivateKey.generate(.ec(curve))
    let point = key.publicKey.external
    // The orders of the curves, FIPS 186-4, appendix D.1.2.
    let order =
      switch curve {
      case .p256: hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
      case .p384:
        hex(
          """
          ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf
          581a0db248b0a77aecec196accc52973
          """)
      case .p521:
        hex(
          """
          01fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa
          51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409
          """)
      }
    var valid = order
    valid[valid.count - 1] -= 1
    var over = order
    over[over.count - 1] += 1
    let other = bytes(of: try PrivateKey.generate(.ec(curve)).external()).suffix(curve.coordinateCount)
    let zero = repeated(0, curve.coordinateCount)
    for scalar in [zero, order, over, repeated(0xff, curve.coordinateCount), valid, Array(other)] {
      expectRefused(point + scalar, .ec)
    }
    // The generator has the scalar 1. Its negative has the largest scalar.
    let one = repeated(0, curve.coordinateCount - 1) + [1]
    expectRefused(point + one, .ec)
  }

  @Test(
    "public keys off the curve, at infinity, compressed, hybrid or too long are refused", arguments: Curve.allCases)
  func points(curve: Curve) throws {
    let key = try PrivateKey.generate(.ec(curve))
    let point = key.publicKey.external
    var off = point
    off[off.count - 1] ^= 1
    let x = Array(point[1...curve.coordinateCount])
    let odd = point[point.count - 1] & 1
    let zeros = [4] + repeated(0, 2 * curve.coordinateCount)
    let overPrime = [4] + repeated(0xff, 2 * curve.coordinateCount)
    let hybrid = [6 + odd] + Array(point.dropFirst())
    let bad: [[UInt8]] = [
      off, zeros, overPrime, hybrid, [2 + odd] + x, [0], [], point + [0], Array(point.dropLast()), [4],
      repeated(4, 200), [0] + Array(point.dropFirst()),
    ]
    for point in bad { expectPublicRefused(point, .ec) }
    // The same points as part of the private key.
    let scalar = Array(bytes(of: try key.external()).suffix(curve.coordinateCount))
    for point in bad { expectRefused(point + scalar, .ec) }
    #expect(throws: KeysError.badParameters("not a private key of a curve known here")) {
      _ = try PrivateKey(stored: secret(hybrid + scalar), family: .ec).algorithm
    }
    expectPublicRefused(point, .rsa)
  }

  @Test("RSA public keys that are truncated, extended, or of a wrong size or exponent are refused")
  func rsa() throws {
    let bytes = RSAVectors.publicForm
    for count in 0..<bytes.count { expectPublicRefused(Array(bytes.prefix(count)), .rsa) }
    expectPublicRefused(bytes + [0], .rsa)
    expectPublicRefused(bytes, .ec)
    func key(_ n: [UInt8], _ e: [UInt8]) -> [UInt8] { sequence([integer(n), integer(e)]) }
    let n = Array(bytes[9..<9 + 256])
    #expect(key(n, [1, 0, 1]) == bytes)
    for e in [[0], [1], [2], [4], [1, 0, 0], [1] + repeated(0, 7) + [1]] as [[UInt8]] {
      expectPublicRefused(key(n, e), .rsa)
    }
    // A modulus that is too short, too long, one bit longer than whole bytes, even, and zero.
    let (short, even): ([UInt8], [UInt8]) = (n.prefix(127) + [1], n.dropLast() + [2])
    let moduli: [[UInt8]] = [short, n + n + [1], [1] + n, even, [0], [], repeated(0xff, 64 << 10)]
    for n in moduli { expectPublicRefused(key(n, [1, 0, 1]), .rsa) }
    // Too long for its size to be reported.
    #expect(throws: KeysError.badParameters("not an RSA key in PKCS #1")) {
      try PublicKey(external: key(repeated(0xff, 20_000), [3]), family: .rsa)
    }
    // Sequences of one number, three and none; a negative number, and one with a redundant zero byte.
    expectPublicRefused(sequence([integer(n)]), .rsa)
    expectPublicRefused(sequence([integer(n), integer([3]), integer([3])]), .rsa)
    expectPublicRefused(sequence([]), .rsa)
    expectPublicRefused(sequence([[2, 0x82, 1, 0] + n, integer([3])]), .rsa)
    expectPublicRefused(sequence([integer(n), [2, 2, 0, 3]]), .rsa)
    expectPublicRefused(sequence([integer(n), [2, 0]]), .rsa)
    // A number that ends behind the sequence.
    expectPublicRefused(sequence([integer(n), [2, 2, 3]]), .rsa)
    // Lengths that are not in DER's shortest form.
    expectPublicRefused(sequence([integer(n), [2, 0x81, 1, 3]]), .rsa)
    expectPublicRefused([0x30, 0x83, 0] + bytes[2...], .rsa)
    expectPublicRefused([0x30, 0x80] + bytes[4...] + [0, 0], .rsa)
    expectPublicRefused([0x30, 0x84, 0xff, 0xff, 0xff, 0xff] + bytes[4...], .rsa)
  }

  @Test("an RSA private key is refused if any number is another key's, zero or altered")
  func rsaPrivate() throws {
    let bytes = RSAVectors.privateForm
    let other = RSAVectors.otherPrivateForm
    for count in stride(from: 0, to: bytes.count, by: 7) { expectRefused(Array(bytes.prefix(count)), .rsa) }
    expectRefused(bytes + [0], .rsa)
    let numbers = integers(bytes)
    let others = integers(other)
    #expect(numbers.count == 9)
    #expect(sequence(numbers.map(integer)) == bytes)
    for place in 0..<9 where place != 2 {
      var altered = numbers
      altered[place][altered[place].count - 1] ^= 2
      expectRefused(sequence(altered.map(integer)), .rsa)
    }
    for place in 1..<9 where place != 2 {
      var altered = numbers
      altered[place] = others[place]
      expectRefused(sequence(altered.map(integer)), .rsa)
      altered[place] = [0]
      expectRefused(sequence(altered.map(integer)), .rsa)
      altered[place] = repeated(0xff, 1024)
      expectRefused(sequence(altered.map(integer)), .rsa)
    }
    // The same for the public exponent.
    var altered = numbers
    altered[2] = [3]
    expectRefused(sequence(altered.map(integer)), .rsa)
  }

  @Test("every flipped bit in a private key on a curve is detected", arguments: [CurveVectors.ecdsa[0].privateForm])
  func bits(form: [UInt8]) {
    for bit in 0..<8 * form.count {
      var altered = form
      altered[bit / 8] ^= 1 << UInt8(bit % 8)
      expectRefused(altered, .ec)
    }
  }

  @Test("random bytes are refused as keys, and a damaged RSA key is refused or written back unchanged")
  func noise() throws {
    var generator = Seeded(seed: 7)
    for _ in 0..<3000 {
      let count = [0, 1, 5, 65, 97, 133, 145, 199, 270, 1193].randomElement(using: &generator) ?? 0
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      for family in KeyFamily.allCases {
        expectPublicRefused(bytes, family)
        expectRefused(bytes, family)
      }
    }
    // Only check the format here. Finding an altered number needs a primality test, and has its own test.
    for _ in 0..<3000 {
      var damaged = RSAVectors.privateForm
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let place = [0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 267, 268, 272, 273, 274, 275].randomElement(using: &generator) ?? 0
        damaged[place] = UInt8.random(in: 0...255, using: &generator)
      }
      guard damaged != RSAVectors.privateForm else { continue }
      // Either the format is refused, or the key is written back with the same bytes.
      guard let key = try? PrivateKey(stored: secret(damaged), family: .rsa) else { continue }
      let written = bytes(of: try key.external())
      #expect(written == damaged)
    }
    #expect(ERR_peek_error() == 0)
  }
}

private func expectTheSame(_ key: borrowing PrivateKey, family: KeyFamily) throws {
  let external = try key.external()
  let checked = try PrivateKey(external: external, family: family)
  let stored = try PrivateKey(stored: external, family: family)
  #expect(checked.publicKey == key.publicKey)
  #expect(stored.publicKey == key.publicKey)
  let same = try checked.external().constantTimeEquals(external)
  #expect(same)
  let publicKey = try PublicKey(external: key.publicKey.external, family: family)
  #expect(publicKey == key.publicKey)
  #expect(publicKey.label == key.publicKey.label)
}

private func expectPublicRefused(
  _ bytes: [UInt8], _ family: KeyFamily, _ location: SourceLocation = #_sourceLocation
) {
  do {
    _ = try PublicKey(external: bytes, family: family)
    Issue.record("accepted: \(bytes)", sourceLocation: location)
  } catch {
    guard case .badParameters = error else {
      Issue.record("refused otherwise: \(error)", sourceLocation: location)
      return
    }
  }
  #expect(ERR_peek_error() == 0, sourceLocation: location)
}

private func expectRefused(_ bytes: [UInt8], _ family: KeyFamily, _ location: SourceLocation = #_sourceLocation) {
  do {
    _ = try PrivateKey(external: secret(bytes), family: family).algorithm
    Issue.record("accepted: \(bytes)", sourceLocation: location)
  } catch {
    guard case .badParameters = error else {
      Issue.record("refused otherwise: \(error)", sourceLocation: location)
      return
    }
  }
  #expect(ERR_peek_error() == 0, sourceLocation: location)
}

// MARK: - Building DER

private func integer(_ magnitude: [UInt8]) -> [UInt8] {
  element(2, (magnitude.first ?? 0) >= 0x80 ? [0] + magnitude : magnitude)
}

private func sequence(_ elements: [[UInt8]]) -> [UInt8] { element(0x30, elements.flatMap(\.self)) }

/// The numbers of an RSA key in PKCS #1.
func integers(_ bytes: [UInt8]) -> [[UInt8]] {
  bytes.withUnsafeBytes { bytes in (IntegerSequence.read(bytes) ?? []).map { Array(bytes[$0]) } }
}
