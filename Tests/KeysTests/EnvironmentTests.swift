internal import COpenSSL
internal import Glibc
internal import SecureMemory
internal import Testing

@testable internal import Keys

@Suite struct EnvironmentTests {
  @Test("an OpenSSL configuration named by the environment changes nothing here")
  func configuration() async {
    await #expect(processExitsWith: .success) {
      // With it, a default context finds none of the algorithms.
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
      #expect(write(fd, text, text.utf8.count) == text.utf8.count)
      close(fd)
      defer { unlink(path) }
      setenv("OPENSSL_CONF", path, 1)

      // Transfer full; NULL is what is hoped for.
      let redirected = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil) == nil
      #expect(redirected, "the configuration has no effect at all, so this proves nothing")
      let key = try Random.key()
      let opened = try AEAD.open(AEAD.seal(secret("x"), key: key, aad: []), key: key, aad: [])
      #expect(bytes(of: opened) == Array("x".utf8))
    }
  }

  // Every digest asks the default context for an engine, and an engine is a library to load.
  @Test("a configuration named by the environment is not even read by the default context")
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
      // Transfer full; NULL is what it gives where the configuration was read.
      let cipher = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)
      #expect(cipher != nil)
      EVP_CIPHER_free(cipher)
    }
  }

  @Test("a failure leaves no error behind in libcrypto's queue, whoever put them there")
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
    // N that is no power of two: libcrypto's own refusal.
    fillQueue()
    #expect(throws: KeysError.self) {
      _ = try Scrypt.derive(passcode: secret("x"), salt: [], n: 15, r: 8, p: 1, count: 32).count
    }
    #expect(ERR_peek_error() == 0)
  }
}
