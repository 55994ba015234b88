internal import Glibc
internal import MemorySearch
internal import Primitives
internal import Testing

@testable internal import Keys

/// Each test runs in its own process, because it searches the whole memory of the process.
@Suite struct ReleasedSecretsTests {
  @Test("a destroyed secret leaves no copy in memory, whatever it was used for", .timeLimit(.minutes(2)))
  func nothingLeft() async {
    await #expect(processExitsWith: .success) {
      let scan: MemoryScan
      do {
        var canary = try Random.key(48)
        // The secret is also read as a line, so it must not contain a newline.
        canary.withUnsafeMutableBytes { for index in $0.indices where $0[index] == 10 { $0[index] = 11 } }
        scan = MemoryScan(for: canary)
        #expect(scan.occurrences() == 1, "the search does not find what is there, or there are copies already")
        try useEverywhere(canary)
      }
      #expect(scan.occurrences() == 0)
    }
  }

  @Test("a destroyed key leaves no copy in memory after libcrypto has used it", .timeLimit(.minutes(2)))
  func noKeyLeft() async {
    await #expect(processExitsWith: .success) {
      let scan: MemoryScan
      do {
        let key = try Random.key()
        scan = MemoryScan(for: key)
        let box = try AEAD.seal(secret("x"), key: key, aad: [])
        _ = try AEAD.open(box, key: key, aad: []).count
        #expect(throws: KeysError.authenticationFailed) { _ = try AEAD.open(box, key: key, aad: [1]).count }
        _ = MAC.hmacSHA256(key: key, [1])
        _ = try KDF.hkdf(key: key, info: [1]).count
        #expect(scan.occurrences() == 1)
      }
      #expect(scan.occurrences() == 0)
    }
  }

  @Test("a destroyed private key on a curve leaves no copy in memory", .timeLimit(.minutes(2)))
  func noPrivateKeyLeft() async {
    await #expect(processExitsWith: .success) {
      // Search for the scalar as it is exported and with reversed bytes, as libcrypto stores it.
      let scan: MemoryScan
      let turned: MemoryScan
      do {
        let key = try PrivateKey.generate(.ec(.p256))
        let external = try key.external()
        (scan, turned) = scans(for: external, at: 65, count: 32)
        #expect(scan.occurrences() == 1)
        #expect(turned.occurrences() == 1, "libcrypto has it otherwise, so the search proves nothing")
        let again = try PrivateKey(external: external, family: .ec)
        let box = try again.publicKey.encrypt(external, .ecies(.sha256, .derived))
        for count in 0..<20 {
          _ = try again.sign([UInt8(count)], .ecdsa(.sha256, .message, .x962))
          _ = try again.decrypt(box, .ecies(.sha256, .derived)).count
          _ = try again.exchange(with: key.publicKey, .ecdh, requestedSize: 0, sharedInfo: []).count
        }
        #expect(throws: KeysError.self) { _ = try PrivateKey(external: external, family: .rsa).algorithm }
      }
      #expect(scan.occurrences() == 0)
      #expect(turned.occurrences() == 0)
    }
  }

  @Test("a destroyed RSA private key leaves no copy in memory", .timeLimit(.minutes(2)))
  func noRSAKeyLeft() async {
    await #expect(processExitsWith: .success) {
      let scan: MemoryScan
      let turned: MemoryScan
      do {
        let key = try PrivateKey.generate(.rsa(bits: 2048))
        let external = try key.external()
        // 40 bytes of the first prime, which follows the version, the modulus and the two exponents.
        (scan, turned) = scans(for: external, at: 580, count: 40)
        #expect(scan.occurrences() == 1)
        #expect(turned.occurrences() >= 1, "libcrypto has it otherwise, so the search proves nothing")
        let again = try PrivateKey(external: external, family: .rsa)
        let stored = try PrivateKey(stored: external, family: .rsa)
        let box = try stored.publicKey.encrypt(secret("x"), .rsaOAEPAESGCM(.sha256))
        _ = try again.sign([1], .rsaPSS(.sha256, .message))
        _ = try stored.decrypt(box, .rsaOAEPAESGCM(.sha256)).count
      }
      #expect(scan.occurrences() == 0)
      #expect(turned.occurrences() == 0)
    }
  }

  @Test("a recovery key that was formatted and parsed leaves no copy in memory", .timeLimit(.minutes(2)))
  func noRecoveryKeyLeft() async {
    await #expect(processExitsWith: .success) {
      let scan: MemoryScan
      do {
        let text = try RecoveryKey.generate().text()
        scan = MemoryScan(for: text)
        let typed = try RecoveryKey(parsing: text)
        _ = try typed.key(info: [1]).count
        _ = typed.text().count
        #expect(scan.occurrences() == 1)
      }
      #expect(scan.occurrences() == 0)
    }
  }
}

/// Searches for some bytes of `form`, in their order and reversed.
private func scans(for form: borrowing SecretBytes, at start: Int, count: Int) -> (MemoryScan, MemoryScan) {
  form.withUnsafeBytes { form in
    let part = SecretBytes(copying: UnsafeRawBufferPointer(rebasing: form[start..<start + count]))
    var turned = SecretBytes(count: count)
    turned.withUnsafeMutableBytes { for index in 0..<count { $0[index] = form[start + count - 1 - index] } }
    return (MemoryScan(for: part), MemoryScan(for: turned))
  }
}

/// Passes a secret through every function of this layer and of `SecureMemory`.
private func useEverywhere(_ canary: borrowing SecretBytes) throws {
  var ends: [Int32] = [-1, -1]
  #expect(pipe(&ends) == 0)
  try canary.write(to: ends[1])
  try secret("\n").write(to: ends[1])
  let line = try SecretBytes.readLine(from: ends[0], limit: 100)
  try line.write(to: ends[1])
  close(ends[1])
  var read = try SecretBytes.read(from: ends[0], limit: 100)
  close(ends[0])
  let arrived = read.constantTimeEquals(canary)
  #expect(arrived)
  read.resize(to: 5000)
  read.resize(to: 10)

  let key = try Random.key()
  let opened = try AEAD.open(AEAD.seal(canary, key: key, aad: []), key: key, aad: [])
  let intact = opened.constantTimeEquals(canary)
  #expect(intact)
  var parts = SecretConcatenation()
  for tag in 1...20 as ClosedRange<UInt8> { parts.append(tag: tag, canary) }
  _ = try KDF.wrappingKey(from: parts, info: [1]).count
  let parameters = Scrypt.Parameters(logN: 10, r: 8, p: 1, salt: repeated(1, 16))
  _ = try Scrypt.derive(passcode: canary, parameters: parameters, floor: .weakForTests).count
}
