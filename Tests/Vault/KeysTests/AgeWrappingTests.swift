internal import COpenSSL
internal import Primitives
internal import Testing

@testable internal import Keys

@Suite("Keys of files, encrypted as age does it") struct AgeWrappingTests {
  private static let fileKey: [UInt8] = Array(1...16)

  @Test("the key of a file is decrypted with the private half of its X25519 key, and with no other")
  func roundTrip() throws {
    let key = try PrivateKey.generate(.x25519)
    let box = try key.publicKey.encrypt(secret(Self.fileKey), .ageX25519)
    #expect(box.count == 64)
    #expect(bytes(of: try key.decrypt(box, .ageX25519)) == Self.fileKey)
    let stored = try PrivateKey(stored: key.external(), family: .x25519)
    #expect(stored.publicKey == key.publicKey)
    #expect(bytes(of: try stored.decrypt(box, .ageX25519)) == Self.fileKey)
    let other = try PrivateKey.generate(.x25519)
    #expect(throws: KeysError.authenticationFailed) { _ = try other.decrypt(box, .ageX25519).count }
    #expect(try key.publicKey.encrypt(secret(Self.fileKey), .ageX25519) != box)
  }

  @Test("a changed, cut or longer encrypted key of a file gives the same error")
  func damage() throws {
    let key = try PrivateKey.generate(.x25519)
    let box = try key.publicKey.encrypt(secret(Self.fileKey), .ageX25519)
    var wrong: [[UInt8]] = [[], Array(box.dropLast()), box + [0], Array(box.prefix(32))]
    for place in box.indices {
      var altered = box
      altered[place] ^= 0x20
      wrong.append(altered)
    }
    for bytes in wrong {
      #expect(throws: KeysError.authenticationFailed) { _ = try key.decrypt(bytes, .ageX25519).count }
    }
    #expect(ERR_peek_error() == 0)
  }

  @Test("an ephemeral key of small order is refused, since it gives one secret with every key")
  func smallOrder() throws {
    let key = try PrivateKey.generate(.x25519)
    for share in [repeated(0, 32), [1] + repeated(0, 31)] {
      let refusal = KeysError.badParameters("the public key gives no shared secret")
      #expect(throws: refusal) { _ = try key.decrypt(share + repeated(1, 32), .ageX25519).count }
      let recipient = try PublicKey(external: share, family: .x25519)
      #expect(throws: refusal) { _ = try recipient.encrypt(secret(Self.fileKey), .ageX25519) }
    }
    #expect(ERR_peek_error() == 0)
  }

  @Test("an X25519 key decrypts keys of files, and does nothing else")
  func nothingElse() throws {
    let key = try PrivateKey.generate(.x25519)
    #expect(throws: KeysError.self) { _ = try key.sign([1], .ed25519) }
    #expect(throws: KeysError.self) {
      _ = try key.exchange(with: key.publicKey, .ecdh, requestedSize: 32, sharedInfo: []).count
    }
    #expect(throws: KeysError.self) { _ = try key.decrypt(repeated(1, 64), .ecies(.sha256, .zero)).count }
    #expect(throws: KeysError.self) { _ = try key.publicKey.ssh }
    let curve = try PrivateKey.generate(.ec(.p256))
    #expect(throws: KeysError.self) { _ = try curve.decrypt(repeated(1, 64), .ageX25519).count }
    for count in [0, 15, 17, 32] {
      #expect(throws: KeysError.self) { _ = try key.publicKey.encrypt(secret(repeated(1, count)), .ageX25519) }
    }
  }
}
