internal import COpenSSL
internal import Glibc
internal import Primitives
internal import Testing

@testable internal import Keys

@Suite struct EnvironmentTests {
  @Test("an OpenSSL configuration in the environment is not loaded by any function of Keys")
  func configurationNotLoaded() async {
    // Each first use runs in its own process, because libcrypto initialises itself once.
    await #expect(processExitsWith: .success) {
      let file = hostileConfiguration()
      defer { unlink(file) }
      let key = try Random.key()
      _ = try AEAD.open(AEAD.seal(secret("x"), key: key, aad: []), key: key, aad: []).count
      _ = try KDF.hkdf(key: key, info: [1]).count
      let parameters = try Scrypt.Parameters.fresh(floor: .weakForTests)
      _ = try Scrypt.derive(passcode: key, parameters: parameters, floor: .weakForTests).count
      #expect(defaultContextWorks(), "it was loaded")
    }
    await #expect(processExitsWith: .success) {
      let file = hostileConfiguration()
      defer { unlink(file) }
      _ = MAC.hmacSHA256(key: secret("key"), [1])
      #expect(defaultContextWorks(), "it was loaded")
    }
    await #expect(processExitsWith: .success) {
      let file = hostileConfiguration()
      defer { unlink(file) }
      _ = Digest.sha256([1])
      #expect(defaultContextWorks(), "it was loaded")
    }
    await #expect(processExitsWith: .success) {
      let file = hostileConfiguration()
      defer { unlink(file) }
      try useKeyPairs()
      #expect(defaultContextWorks(), "it was loaded")
    }
    await #expect(processExitsWith: .success) {
      let file = hostileConfiguration()
      defer { unlink(file) }
      _ = try PublicKey(external: RSAVectors.publicForm, family: .rsa)
      #expect(defaultContextWorks(), "it was loaded")
    }
  }

  @Test("an OpenSSL configuration that the process loaded earlier does not change the results of Keys")
  func configurationLoadedBefore() async {
    await #expect(processExitsWith: .success) {
      let file = hostileConfiguration()
      defer { unlink(file) }
      #expect(!defaultContextWorks(), "the configuration has no effect at all, so neither test proves anything")
      let key = try Random.key()
      let opened = try AEAD.open(AEAD.seal(secret("x"), key: key, aad: []), key: key, aad: [])
      #expect(bytes(of: opened) == Array("x".utf8))
      try useKeyPairs()
    }
  }

  // Every digest asks the default context for an engine, and an engine is a library that libcrypto loads.
  @Test("libcrypto's default context reads no OpenSSL configuration in the environment after a use of Keys")
  func configurationIsNotRead() async {
    await #expect(processExitsWith: .success) {
      let text = "openssl_conf = init\n[init]\nalg_section = a\n[a]\ndefault_properties = provider=nowhere\n"
      var path = Array("/tmp/openssl-configuration-XXXXXX".utf8CString)
      let fd = mkstemp(&path)
      #expect(write(fd, text, text.utf8.count) == text.utf8.count)
      close(fd)
      defer { unlink(path) }
      setenv("OPENSSL_CONF", path, 1)

      let key = try Random.key()
      _ = try AEAD.seal(key, key: KDF.hkdf(key: key, info: []), aad: [])
      try useKeyPairs()
      // Transfer full. NULL if the configuration was read.
      let cipher = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)
      #expect(cipher != nil)
      EVP_CIPHER_free(cipher)
    }
  }

  @Test("a failed operation of Keys leaves libcrypto's error queue empty, including older errors")
  func errorQueue() throws {
    let key = try Random.key()
    let box = try AEAD.seal(secret("x"), key: key, aad: [])
    func fillQueue() {
      for _ in 0..<3 { #expect(EVP_MD_fetch(LibraryContext.shared.pointer, "no such digest", nil) == nil) }
      #expect(ERR_peek_error() != 0)
    }
    fillQueue()
    #expect(throws: KeysError.authenticationFailed) { _ = try AEAD.open(box, key: key, aad: [1]).count }
    #expect(ERR_peek_error() == 0)
    // libcrypto refuses an N that is not a power of two.
    fillQueue()
    #expect(throws: KeysError.self) {
      _ = try Scrypt.derive(passcode: secret("x"), salt: [], n: 15, r: 8, p: 1, count: 32).count
    }
    #expect(ERR_peek_error() == 0)
  }
}

/// Uses every operation of key pairs.
private func useKeyPairs() throws {
  _ = try X25519.publicKey(of: secret(repeated(1, 32)))
  let key = try PrivateKey.generate(.ec(.p256))
  let again = try PrivateKey(external: try key.external(), family: .ec)
  for encoding in [.x962, .rfc4754] as [SignatureScheme.ECDSAEncoding] {
    let scheme = SignatureScheme.ecdsa(.sha384, .message, encoding)
    let right = try key.publicKey.verify(again.sign([1], scheme), of: [1], scheme)
    #expect(right)
  }
  _ = try key.decrypt(key.publicKey.encrypt(secret("x"), .ecies(.sha224, .derived)), .ecies(.sha224, .derived)).count
  let rsa = try PrivateKey(external: secret(RSAVectors.privateForm), family: .rsa)
  for scheme in [.rsaPSS(.sha1, .message), .rsaPKCS1(.sha512, .message)] as [SignatureScheme] {
    let right = try rsa.publicKey.verify(rsa.sign([1], scheme), of: [1], scheme)
    #expect(right)
  }
  for scheme in [.rsaPKCS1, .rsaOAEPAESGCM(.sha256)] as [EncryptionScheme] {
    _ = try rsa.decrypt(rsa.publicKey.encrypt(secret("x"), scheme), scheme).count
  }
}

/// Sets `OPENSSL_CONF` to a new file. If libcrypto loads it, the default context finds no algorithms.
private func hostileConfiguration() -> [CChar] {
  let text = """
    openssl_conf = init
    [init]
    alg_section = algorithms
    providers = providers
    [algorithms]
    default_properties = provider=nowhere
    [providers]
    null = null
    [null]
    activate = 1

    """
  var path = Array("/tmp/openssl-configuration-XXXXXX".utf8CString)
  let fd = mkstemp(&path)
  precondition(write(fd, text, text.utf8.count) == text.utf8.count)
  close(fd)
  setenv("OPENSSL_CONF", path, 1)
  return path
}

private func defaultContextWorks() -> Bool {
  // Transfer full. Freed at once.
  guard let cipher = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil) else { return false }
  EVP_CIPHER_free(cipher)
  return true
}
