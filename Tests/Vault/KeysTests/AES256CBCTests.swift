internal import Primitives
internal import Testing

@testable internal import Keys

@Suite("AES-256-CBC of whole blocks")
struct AES256CBCTests {
  private let key = hex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")

  @Test("AES-256-CBC of whole blocks gives the result of NIST SP 800-38A, F.2.5")
  func vector() throws {
    let iv = hex("000102030405060708090a0b0c0d0e0f")
    let plaintext = hex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51")
    let ciphertext = hex("f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d")
    #expect(try AES256CBC.encrypt(secret(plaintext), key: secret(key), iv: iv) == ciphertext)
    #expect(bytes(of: try AES256CBC.decrypt(ciphertext, key: secret(key), iv: iv)) == plaintext)
  }

  @Test("AES-256-CBC checks lengths", arguments: [(0, 32, 16), (15, 32, 16), (17, 32, 16), (16, 16, 16), (16, 32, 15)])
  func wrong(count: Int, keyCount: Int, ivCount: Int) throws {
    let refusal = KeysError.badParameters("AES-256-CBC takes a key of 32 bytes and whole blocks")
    let key = [UInt8](repeating: 1, count: keyCount)
    let iv = [UInt8](repeating: 2, count: ivCount)
    #expect(throws: refusal) {
      _ = try AES256CBC.decrypt([UInt8](repeating: 0, count: count), key: secret(key), iv: iv)
    }
    #expect(throws: refusal) {
      _ = try AES256CBC.encrypt(secret([UInt8](repeating: 0, count: count)), key: secret(key), iv: iv)
    }
  }

  @Test("a secret has the same SHA-256 digest as the bytes that it holds")
  func digest() {
    #expect(bytes(of: Digest.sha256(secret: secret(key))) == Digest.sha256(key))
  }
}
