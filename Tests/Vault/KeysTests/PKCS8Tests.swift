import Keys
import Primitives
import Testing

/// The keys were made with the `openssl` command.
@Suite("Private keys in PKCS #8")
struct PKCS8Tests {
  private static let p256 =
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgowqMmqmbrwqUvdors5M_NaohCSI-59y7Vmbtet7nGCKhRANCAASU7X1Z66XU2gYzuQEE1Tdw0AXtg-_oDDBHpjOKQe0GNpRxMtaMUdzxe52hZBSuslUoY4mtj9C1a7KZk5a6ZD-7"
  private static let withoutPublicKey =
    "MEECAQAwEwYHKoZIzj0CAQYIKoZIzj0DAQcEJzAlAgEBBCCjCoyaqZuvCpS92iuzkz81qiEJIj7n3LtWZu163ucYIg"
  private static let ed25519 = "MC4CAQAwBQYDK2VwBCIEIG36EZkFL7Wb7TMyhIC7rmUqOiAeND6UPvaEMCZWbRqp"
  private static let p384 =
    "MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDCbNw2py2oKoFYsRcb0eYx1PEx7A-0U2pqyG3gSJRHqg5YyLmbvnK6DX9VGVmMM42-hZANiAATdQPhDUsks0g09jdFYNJreJXsMYirdgC5EymkWOldAmCKBJpM96DU9Yx7P0EOq9g0vBivva8FDBERw_2qg3pGoB8sy2PUCUiHqr7Kfj2Zp4Xnevb_fxYRMjBKw7kyS1fk"
  /// A curve with points of the same length.
  private static let secp256k1 =
    "MIGEAgEAMBAGByqGSM49AgEGBSuBBAAKBG0wawIBAQQgPsGCrb1zlsYcN2ERlqcqPHCbdoPy3QFstE74c7nxalWhRANCAASbdF9tuE8dpi9zQJXAIINuCo_HuTd8sfifbuR4HBcgeE4OqGZbuMX6kDXKblL9dbC9RrsDrrF_MK8Kt-xI1mnl"
  private static let publicP256 =
    "0494ed7d59eba5d4da0633b90104d53770d005ed83efe80c3047a6338a41ed0636947132d68c51dcf17b9da16414aeb255286389ad8fd0b56bb2999396ba643fbb"
  private static let publicEd25519 = "f67e37db68292d3a228cf0919db72df2c81460cfcee4a467c86e0800c5588ad3"

  private func key(_ text: String, _ algorithm: KeyAlgorithm) throws -> PrivateKey {
    try PrivateKey(pkcs8: secret(try #require(Base64URL.bytes(of: text))), algorithm)
  }

  @Test("a P-256 or Ed25519 key in PKCS #8 is read, with its public key, and written as openssl does")
  func kinds() throws {
    let ec = try key(Self.p256, .ec(.p256))
    #expect(ec.publicKey.external == hex(Self.publicP256) && ec.algorithm == .ec(.p256))
    #expect(Base64URL.text(of: bytes(of: try ec.pkcs8())) == Self.p256)
    let ed = try key(Self.ed25519, .ed25519)
    #expect(ed.publicKey.external == hex(Self.publicEd25519) && ed.algorithm == .ed25519)
    #expect(Base64URL.text(of: bytes(of: try ed.pkcs8())) == Self.ed25519)
  }

  @Test("the public key of a PKCS #8 key is computed where the file has none")
  func withoutPublicKey() throws {
    let key = try key(Self.withoutPublicKey, .ec(.p256))
    #expect(key.publicKey.external == hex(Self.publicP256))
  }

  @Test("a PKCS #8 key of another algorithm or curve is refused")
  func others() {
    for (text, algorithm) in [
      (Self.p256, KeyAlgorithm.ed25519), (Self.ed25519, .ec(.p256)), (Self.p384, .ec(.p256)),
      (Self.secp256k1, .ec(.p256)), (Self.p256, .rsa(bits: 2048)),
    ] {
      #expect(throws: KeysError.badParameters("the key is of another algorithm")) {
        _ = try key(text, algorithm).algorithm
      }
    }
  }

  @Test("a PKCS #8 key that is truncated, extended or has another public key is refused")
  func damage() throws {
    let whole = try #require(Base64URL.bytes(of: Self.p256))
    var broken: [[UInt8]] = [[], whole + [0], Array(whole.dropLast())]
    // The public key does not belong to the private one any more.
    broken.append(whole.dropLast() + [whole[whole.count - 1] ^ 1])
    broken += stride(from: 0, to: whole.count, by: 9).map { Array(whole[..<$0]) }
    for bytes in broken {
      #expect(throws: KeysError.self) { _ = try PrivateKey(pkcs8: secret(bytes), .ec(.p256)).algorithm }
    }
  }
}
