internal import Foundation
internal import Primitives
internal import Testing

@testable internal import Keys

/// Compares with the `openssl` command, if it is installed. It uses libcrypto through other functions and formats.
@Suite(.enabled(if: OpenSSLCommand.exists, "there is no openssl command")) struct OpenSSLCommandTests {
  private let folder = ScratchFolder()
  private let text = Array("some text".utf8)

  @Test("the openssl command accepts ECDSA signatures made by Keys, and the reverse", arguments: Curve.allCases)
  func ecdsa(curve: Curve) throws {
    // The public key as SubjectPublicKeyInfo (X.509): a header for each curve, then the point.
    let header =
      switch curve {
      case .p256: hex("3059301306072a8648ce3d020106082a8648ce3d030107034200")
      case .p384: hex("3076301006072a8648ce3d020106052b81040022036200")
      case .p521: hex("30819b301006072a8648ce3d020106052b8104002303818600")
      }
    let key = try PrivateKey.generate(.ec(curve))
    try folder.write("text", text)
    try folder.write("public.der", header + key.publicKey.external)
    try folder.openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:\(curve.name) -outform DER -out their.der")
    try folder.openssl("pkey -in their.der -inform DER -pubout -outform DER -out their-public.der")
    let theirPublic = try folder.read("their-public.der")
    #expect(theirPublic.starts(with: header))
    let theirs = try PublicKey(external: Array(theirPublic.dropFirst(header.count)), family: .ec)
    for hash in HashFunction.allCases {
      let scheme = SignatureScheme.ecdsa(hash, .message, .x962)
      try folder.write("signature", key.sign(text, scheme))
      try folder.openssl("dgst -\(hash) -verify public.der -keyform DER -signature signature text")
      try folder.openssl("dgst -\(hash) -sign their.der -keyform DER -out their-signature text")
      let right = try theirs.verify(folder.read("their-signature"), of: text, scheme)
      #expect(right)
    }
  }

  @Test("the openssl command accepts RSA signatures made by Keys, and the reverse")
  func rsaSignatures() throws {
    let key = try newKey()
    for hash in HashFunction.allCases {
      let digest = try hash.digest(text)
      try folder.write("digest", digest)
      let pss = "-pkeyopt rsa_padding_mode:pss -pkeyopt rsa_pss_saltlen:digest"
      for (scheme, options) in [
        (SignatureScheme.rsaPKCS1(hash, .digest), "-pkeyopt digest:\(hash)"),
        (.rsaPSS(hash, .digest), "-pkeyopt digest:\(hash) \(pss)"),
      ] {
        try folder.write("signature", key.sign(digest, scheme))
        try folder.openssl(
          "pkeyutl -verify -in digest -inkey key.der -keyform DER -sigfile signature \(options)")
        try folder.openssl("pkeyutl -sign -in digest -inkey key.der -keyform DER -out their-signature \(options)")
        let right = try key.publicKey.verify(folder.read("their-signature"), of: digest, scheme)
        #expect(right, "\(scheme)")
      }
    }
  }

  @Test("the openssl command decrypts RSA ciphertexts made by Keys, and the reverse")
  func rsaEncryption() throws {
    let key = try newKey()
    let oaep = HashFunction.allCases.map { hash in
      (
        EncryptionScheme.rsaOAEP(hash),
        "-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:\(hash) -pkeyopt rsa_mgf1_md:\(hash)"
      )
    }
    for (scheme, options) in oaep + [(.rsaPKCS1, "-pkeyopt rsa_padding_mode:pkcs1")] {
      try folder.write("ciphertext", key.publicKey.encrypt(secret(text), scheme))
      try folder.openssl("pkeyutl -decrypt -in ciphertext -inkey key.der -keyform DER -out plaintext \(options)")
      #expect(try folder.read("plaintext") == text)
      try folder.write("text", text)
      try folder.openssl("pkeyutl -encrypt -in text -inkey key.der -keyform DER -out their-ciphertext \(options)")
      let plaintext = bytes(of: try key.decrypt(folder.read("their-ciphertext"), scheme))
      #expect(plaintext == text, "\(scheme)")
    }
    let block = [1] + repeated(8, 255)
    try folder.write("ciphertext", key.publicKey.encrypt(secret(block), .rsaRaw))
    try folder.openssl(
      "pkeyutl -decrypt -in ciphertext -inkey key.der -keyform DER -out plaintext -pkeyopt rsa_padding_mode:none")
    #expect(try folder.read("plaintext") == block)
  }

  @Test("RSA keys made by the openssl command are read", arguments: [2048, 3072, 4096])
  func rsaKeys(bits: Int) throws {
    try folder.openssl("genrsa -traditional -out their.pem \(bits)")
    try folder.openssl("rsa -in their.pem -traditional -outform DER -out their.der")
    try folder.openssl("rsa -in their.pem -RSAPublicKey_out -outform DER -out their-public.der")
    let form = try folder.read("their.der")
    let key = try PrivateKey(external: secret(form), family: .rsa)
    let publicForm = try folder.read("their-public.der")
    #expect(key.algorithm == .rsa(bits: bits))
    #expect(key.publicKey.external == publicForm)
    let external = bytes(of: try key.external())
    #expect(external == form)
  }

  /// Makes a key and writes it to `key.der` for the command.
  private func newKey() throws -> PrivateKey {
    let key = try PrivateKey.generate(.rsa(bits: 2048))
    try folder.write("key.der", bytes(of: try key.external()))
    return key
  }
}
