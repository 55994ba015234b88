import Keys
import Primitives
import Testing

@Suite("Ed25519")
struct Ed25519Tests {
  /// RFC 8032, section 7.1: tests 1, 2 and 3.
  private static let vectors: [(seed: String, publicKey: String, message: String, signature: String)] = [
    (
      "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
      "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
    ),
    (
      "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
      "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    ),
    (
      "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
      "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
      "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
    ),
  ]

  @Test("Ed25519 signs and verifies as in RFC 8032", arguments: 0..<vectors.count)
  func published(_ place: Int) throws {
    let vector = Self.vectors[place]
    let key = try PrivateKey(external: secret(hex(vector.seed)), family: .ed25519)
    let (message, signature) = (hex(vector.message), hex(vector.signature))
    #expect(key.algorithm == .ed25519)
    #expect(key.publicKey.external == hex(vector.publicKey))
    #expect(bytes(of: try key.external()) == hex(vector.seed))
    #expect(try key.sign(message, .ed25519) == signature)
    let publicKey = try PublicKey(external: hex(vector.publicKey), family: .ed25519)
    #expect(try publicKey.verify(signature, of: message, .ed25519))
    #expect(try !publicKey.verify(signature, of: message + [0], .ed25519))
    var altered = signature
    altered[63] ^= 1
    #expect(try !publicKey.verify(altered, of: message, .ed25519))
    #expect(try !publicKey.verify([], of: message, .ed25519))
  }

  @Test("Ed25519 accepts keys of 32 bytes only, and is used with no other scheme")
  func refused() throws {
    for count in [0, 31, 33, 64] {
      #expect(throws: KeysError.self) { _ = try PublicKey(external: repeated(1, count), family: .ed25519) }
      #expect(throws: KeysError.self) {
        _ = try PrivateKey(external: secret(repeated(1, count)), family: .ed25519).algorithm
      }
    }
    let key = try PrivateKey.generate(.ed25519)
    let other = try PrivateKey.generate(.ec(.p256))
    #expect(throws: KeysError.self) { _ = try key.sign([1], .ecdsa(.sha256, .message, .x962)) }
    #expect(throws: KeysError.self) { _ = try other.sign([1], .ed25519) }
    let refusal = KeysError.badParameters("only Ed25519 signs a secret message")
    #expect(throws: refusal) { _ = try other.sign(secret: secret([1])) }
    #expect(throws: refusal) { _ = try other.publicKey.verify(repeated(1, 64), of: secret([1])) }
    #expect(throws: KeysError.self) {
      _ = try key.exchange(with: key.publicKey, .ecdh, requestedSize: 32, sharedInfo: []).count
    }
  }
}
