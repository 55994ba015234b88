internal import COpenSSL
internal import Primitives
internal import Testing

@testable internal import Keys

@Suite struct X25519Tests {
  @Test(
    "X25519 gives the results in RFC 7748, section 5.2",
    arguments: [
      (
        "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
        "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
        "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"
      ),
      (
        "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
        "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
        "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"
      ),
    ])
  func scalarMultiplication(scalar: String, point: String, output: String) throws {
    let shared = try X25519.sharedSecret(secret(hex(scalar)), with: hex(point))
    #expect(bytes(of: shared) == hex(output))
  }

  @Test("X25519 public keys and the shared secret equal those in RFC 7748, section 6.1")
  func agreement() throws {
    let alice = secret(hex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"))
    let bob = secret(hex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"))
    let alicePublic = try X25519.publicKey(of: alice)
    let bobPublic = try X25519.publicKey(of: bob)
    #expect(alicePublic == hex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"))
    #expect(bobPublic == hex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"))
    let shared = hex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")
    let ofAlice = bytes(of: try X25519.sharedSecret(alice, with: bobPublic))
    let ofBob = bytes(of: try X25519.sharedSecret(bob, with: alicePublic))
    #expect(ofAlice == shared)
    #expect(ofBob == shared)
  }

  // The points of order 1, 2, 4 and 8, and two encodings of such points that are not below the prime.
  @Test(
    "an X25519 public key of small order is refused",
    arguments: [
      "0000000000000000000000000000000000000000000000000000000000000000",
      "0100000000000000000000000000000000000000000000000000000000000000",
      "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
      "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
      "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ])
  func smallOrder(point: String) throws {
    let key = try Random.key()
    #expect(throws: KeysError.badParameters("the public key gives no shared secret")) {
      _ = try X25519.sharedSecret(key, with: hex(point)).count
    }
    #expect(ERR_peek_error() == 0)
  }

  @Test("X25519 keys of another length than 32 bytes are refused")
  func lengths() {
    for count in [0, 31, 33, 64] {
      #expect(throws: KeysError.badParameters("an X25519 private key is 32 bytes")) {
        _ = try X25519.publicKey(of: secret(repeated(1, count)))
      }
      #expect(throws: KeysError.badParameters("an X25519 private key is 32 bytes")) {
        _ = try X25519.sharedSecret(secret(repeated(1, count)), with: repeated(9, 32)).count
      }
      #expect(throws: KeysError.badParameters("an X25519 public key is 32 bytes")) {
        _ = try X25519.sharedSecret(secret(repeated(1, 32)), with: repeated(9, count)).count
      }
    }
  }
}
