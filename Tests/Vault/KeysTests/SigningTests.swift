internal import COpenSSL
internal import Primitives
internal import Testing

@testable internal import Keys

@Suite struct SigningTests {
  static let text = Array("Test".utf8)

  @Test("ECDSA signatures published in RFC 6979 are accepted in both encodings", arguments: CurveVectors.ecdsa)
  func publishedECDSA(vector: CurveVectors.ECDSA) throws {
    let key = try PrivateKey(external: secret(vector.privateForm), family: .ec).publicKey
    let message = Array(vector.message.utf8)
    let digest = try vector.hash.digest(message)
    let raw = vector.signature
    let der = try ECDSASignature.x962(rfc4754: raw)
    let back = try ECDSASignature.rfc4754(x962: der, coordinateCount: raw.count / 2)
    #expect(back == raw)
    let forms: [(SignatureScheme, [UInt8], [UInt8])] = [
      (.ecdsa(vector.hash, .message, .rfc4754), raw, message), (.ecdsa(vector.hash, .digest, .rfc4754), raw, digest),
      (.ecdsaDigest(.rfc4754), raw, digest), (.ecdsa(vector.hash, .message, .x962), der, message),
      (.ecdsa(vector.hash, .digest, .x962), der, digest), (.ecdsaDigest(.x962), der, digest),
    ]
    for (scheme, signature, data) in forms {
      let right = try key.verify(signature, of: data, scheme)
      #expect(right, "\(scheme)")
    }
  }

  @Test("a PKCS #1 signature equals Wycheproof's, because the scheme is deterministic")
  func publishedPKCS1() throws {
    let key = try PrivateKey(external: secret(RSAVectors.privateForm), family: .rsa)
    let signature = try key.sign(Self.text, .rsaPKCS1(.sha256, .message))
    #expect(signature == RSAVectors.pkcs1Signature)
    let right = try key.publicKey.verify(RSAVectors.pkcs1Signature, of: Self.text, .rsaPKCS1(.sha256, .message))
    #expect(right)
    // The same signature with manual padding: first only the DigestInfo of SHA-256 (RFC 8017, section 9.2), then the
    // whole block.
    let digest = try HashFunction.sha256.digest(Self.text)
    let info = hex("3031300d060960864801650304020105000420") + digest
    let fromInfo = try key.sign(info, .rsaPKCS1Raw)
    #expect(fromInfo == signature)
    let block = [0, 1] + repeated(0xff, 256 - 3 - info.count) + [0] + info
    let fromBlock = try key.sign(block, .rsaRaw)
    let fromNumber = try key.sign(Array(block.dropFirst()), .rsaRaw)
    #expect(fromBlock == signature)
    #expect(fromNumber == signature)
  }

  @Test("a PSS signature from Wycheproof is accepted, but not under another scheme")
  func publishedPSS() throws {
    let key = try PublicKey(external: RSAVectors.publicForm, family: .rsa)
    let digest = try HashFunction.sha256.digest(Self.text)
    let right = try key.verify(RSAVectors.pssSignature, of: Self.text, .rsaPSS(.sha256, .message))
    let rightDigest = try key.verify(RSAVectors.pssSignature, of: digest, .rsaPSS(.sha256, .digest))
    #expect(right && rightDigest)
    for scheme in [.rsaPSS(.sha1, .message), .rsaPSS(.sha512, .message), .rsaPKCS1(.sha256, .message)]
      as [SignatureScheme]
    {
      let right = try key.verify(RSAVectors.pssSignature, of: Self.text, scheme)
      #expect(!right, "\(scheme)")
    }
    let crossed = try key.verify(RSAVectors.pkcs1Signature, of: Self.text, .rsaPSS(.sha256, .message))
    #expect(!crossed)
  }

  @Test("every signature scheme verifies what it signs, and refuses altered data and signatures", arguments: keys)
  func everyScheme(form: (KeyFamily, [UInt8])) throws {
    let key = try PrivateKey(stored: secret(form.1), family: form.0)
    let publicKey = key.publicKey
    for scheme in allSchemes {
      guard scheme.supports(key.algorithm) else {
        let refusal = KeysError.badParameters("this key does not support this signature algorithm")
        #expect(throws: refusal) { _ = try key.sign(repeated(1, 32), scheme) }
        #expect(throws: refusal) { _ = try publicKey.verify(repeated(1, 32), of: repeated(1, 32), scheme) }
        continue
      }
      let data = [1] + repeated(0xaa, scheme.isDigest ? (scheme.hash?.count ?? 32) - 1 : 99)
      let signature = try key.sign(data, scheme)
      let right = try publicKey.verify(signature, of: data, scheme)
      #expect(right, "\(scheme)")
      if let encoding = scheme.encoding, encoding == .rfc4754 {
        #expect(signature.count == 2 * key.algorithm.blockCount)
      }

      // Change a bit at the front: if a digest is longer than the order of the curve, its last bits are ignored.
      var otherData = data
      otherData[1] ^= 1
      var wrong: [([UInt8], [UInt8])] = [
        (signature, otherData), ([], data), (Array(signature.dropLast()), data), (signature + [0], data),
        ([0] + signature, data), (repeated(0, signature.count), data), (repeated(0xff, signature.count), data),
        (repeated(0xff, 5000), data),
      ]
      for place in stride(from: 0, to: signature.count, by: 9) {
        var altered = signature
        altered[place] ^= 0x10
        wrong.append((altered, data))
      }
      for (signature, data) in wrong {
        let right = try publicKey.verify(signature, of: data, scheme)
        #expect(!right, "\(scheme): \(signature)")
      }
    }
    #expect(ERR_peek_error() == 0)
  }

  @Test("an ECDSA signature by another key is refused")
  func otherKey() throws {
    let one = try PrivateKey.generate(.ec(.p256))
    let other = try PrivateKey.generate(.ec(.p256))
    let signature = try one.sign(Self.text, .ecdsa(.sha256, .message, .x962))
    let right = try other.publicKey.verify(signature, of: Self.text, .ecdsa(.sha256, .message, .x962))
    #expect(!right)
  }

  @Test("signing and verifying refuse a digest of the wrong length and input of the wrong size")
  func lengths() throws {
    let rsa = try PrivateKey(stored: secret(RSAVectors.privateForm), family: .rsa)
    let ec = try PrivateKey.generate(.ec(.p256))
    func refused(_ key: borrowing PrivateKey, _ count: Int, _ scheme: SignatureScheme) {
      for operation in 0..<2 {
        do {
          let data = repeated(0xff, count)
          _ = operation == 0 ? try key.sign(data, scheme) : try key.publicKey.verify([1], of: data, scheme) ? [] : [1]
          // Verifying cannot detect a number that is not below the modulus; it only reports a wrong signature.
          #expect(operation == 1 && scheme == .rsaRaw && count == 256, "\(scheme) took \(count) bytes")
        } catch {
          guard case .badParameters = error else {
            Issue.record("\(scheme) refused \(count) bytes otherwise: \(error)")
            continue
          }
        }
      }
    }
    for hash in HashFunction.allCases {
      for count in [0, hash.count - 1, hash.count + 1] {
        refused(rsa, count, .rsaPKCS1(hash, .digest))
        refused(rsa, count, .rsaPSS(hash, .digest))
        refused(ec, count, .ecdsa(hash, .digest, .x962))
        refused(ec, count, .ecdsa(hash, .digest, .rfc4754))
      }
    }
    refused(ec, 0, .ecdsaDigest(.x962))
    refused(rsa, 246, .rsaPKCS1Raw)
    refused(rsa, 257, .rsaRaw)
    refused(rsa, 256, .rsaRaw)
  }

  @Test("a private key signs in many threads at once")
  func threads() async throws {
    let key = try PrivateKey.generate(.ec(.p256))
    let shared = Shared(key)
    await withTaskGroup(of: Bool.self) { group in
      for index in 0..<64 {
        group.addTask {
          let data = [UInt8(index)]
          guard let signature = try? shared.key.sign(data, .ecdsa(.sha256, .message, .x962)) else { return false }
          return (try? shared.key.publicKey.verify(signature, of: data, .ecdsa(.sha256, .message, .x962))) == true
        }
      }
      for await right in group { #expect(right) }
    }
  }

  static let keys: [(KeyFamily, [UInt8])] =
    [(.rsa, RSAVectors.privateForm)] + [0, 2, 5].map { (.ec, CurveVectors.ecdsa[$0].privateForm) }
}

private final class Shared: Sendable {
  let key: PrivateKey
  init(_ key: consuming PrivateKey) { self.key = key }
}

private let allSchemes: [SignatureScheme] =
  [.rsaRaw, .rsaPKCS1Raw, .ecdsaDigest(.x962), .ecdsaDigest(.rfc4754)]
  + HashFunction.allCases.flatMap { hash -> [SignatureScheme] in
    [.message, .digest].flatMap { (input: SignatureScheme.Input) -> [SignatureScheme] in
      [
        .rsaPKCS1(hash, input), .rsaPSS(hash, input), .ecdsa(hash, input, .x962), .ecdsa(hash, input, .rfc4754),
      ]
    }
  }

extension SignatureScheme {
  fileprivate var isDigest: Bool {
    switch self {
    case .rsaPKCS1(_, let input), .rsaPSS(_, let input), .ecdsa(_, let input, _): input == .digest
    case .rsaRaw, .rsaPKCS1Raw, .ecdsaDigest: true
    case .ed25519: false
    }
  }
}
