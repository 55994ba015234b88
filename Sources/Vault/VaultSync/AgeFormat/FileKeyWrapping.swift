internal import Keys
internal import Primitives
internal import SecretModel

/// How a file's key is encrypted in the header: under a passphrase, or to a public key.
enum FileKeyWrapping {
  /// The highest cost that is accepted, for 1 GiB and some seconds: a file must not exhaust the machine.
  static let logNLimit = 20

  private static let passphraseKind = "scrypt"
  private static let publicKeyKind = "X25519"
  private static let passphraseLabel = Array("age-encryption.org/v1/scrypt".utf8)
  private static let saltCount = 16
  /// A constant nonce is safe: each wrapping key encrypts only one file key.
  private static let nonce = [UInt8](repeating: 0, count: ChaCha20Poly1305.nonceCount)

  // MARK: Wrapping

  static func wrap(
    _ fileKey: borrowing SecretBytes, for recipient: EncryptedFile.Recipient, logN: Int
  ) throws(VaultError) -> AgeHeader.Stanza {
    do throws(KeysError) {
      switch recipient {
      case .passphrase(let passphrase):
        let salt = try Random.bytes(saltCount)
        let key = try Scrypt.derive(passphrase: passphrase.bytes, salt: passphraseLabel + salt, logN: logN)
        return AgeHeader.Stanza(
          words: [passphraseKind, Base64.unpaddedText(of: salt), "\(logN)"],
          body: try ChaCha20Poly1305.seal(fileKey, key: key, nonce: nonce))
      case .publicKey(let publicKey):
        let box = try PublicKey(external: publicKey.bytes, family: .x25519).encrypt(fileKey, .ageX25519)
        return AgeHeader.Stanza(
          words: [publicKeyKind, Base64.unpaddedText(of: Array(box[..<X25519.count]))],
          body: Array(box[X25519.count...]))
      }
    } catch {
      if case .badParameters = error { throw .invalidRequest("no file can be encrypted to this public key") }
      throw VaultError(library: error)
    }
  }

  // MARK: Unwrapping

  /// - Throws: `wrongPassphrase`, `fileUnreadable`.
  static func unwrap(
    _ header: AgeHeader, with opening: EncryptedFile.Opening
  ) throws(VaultError) -> SecretBytes {
    let isForPassphrase = header.stanzas.contains { $0.words[0] == passphraseKind }
    switch opening {
    case .passphrase(let passphrase):
      guard isForPassphrase else { throw .fileUnreadable("it is encrypted to a public key, not under a passphrase") }
      // A file under a passphrase has no other stanza: it would no longer prove that its maker knew the passphrase.
      guard header.stanzas.count == 1 else { throw .fileUnreadable("its header has a passphrase beside another key") }
      return try unwrap(header.stanzas[0], with: passphrase.bytes)
    case .privateKey(let privateKey):
      guard !isForPassphrase else { throw .fileUnreadable("it is encrypted under a passphrase, not to a public key") }
      return try unwrap(header, with: privateKey.bytes, expectedAt: 0)
    }
  }

  /// Opens the file's key with a private key. Tries one stanza first, and then all others.
  ///
  /// - Throws: `fileUnreadable`.
  static func unwrap(
    _ header: AgeHeader, with privateKey: borrowing SecretBytes, expectedAt place: Int
  ) throws(VaultError) -> SecretBytes {
    let stanzas = header.stanzas
    let expected = stanzas.indices.contains(place) ? [place] : []
    let key = try self.privateKey(privateKey)
    for index in expected + stanzas.indices.filter({ $0 != place }) where stanzas[index].words[0] == publicKeyKind {
      if let fileKey = try unwrap(stanzas[index], with: key) { return fileKey }
    }
    throw .fileUnreadable("it is encrypted to another public key")
  }

  private static func unwrap(
    _ stanza: AgeHeader.Stanza, with passphrase: borrowing SecretBytes
  ) throws(VaultError) -> SecretBytes {
    guard stanza.words.count == 3, let salt = Base64.bytes(ofUnpadded: stanza.words[1]), salt.count == saltCount,
      let logN = OutsideNumber(digits: stanza.words[2])?.number(in: 1...Int.max), "\(logN)" == stanza.words[2],
      stanza.body.count == bodyCount
    else { throw .malformedStanza }
    guard logN <= logNLimit else {
      throw .fileUnreadable(
        "trying a passphrase on it would take 2^\(logN) rounds of scrypt, and at most 2^\(logNLimit) are done")
    }
    do throws(KeysError) {
      let key = try Scrypt.derive(passphrase: passphrase, salt: passphraseLabel + salt, logN: logN)
      return try ChaCha20Poly1305.open(stanza.body, key: key, nonce: nonce)
    } catch .authenticationFailed {
      throw .wrongPassphrase
    } catch {
      throw VaultError(library: error)
    }
  }

  /// Nil for a stanza of another key.
  private static func unwrap(
    _ stanza: AgeHeader.Stanza, with privateKey: borrowing PrivateKey
  ) throws(VaultError) -> SecretBytes? {
    guard stanza.words.count == 2, let share = Base64.bytes(ofUnpadded: stanza.words[1]), share.count == X25519.count,
      stanza.body.count == bodyCount
    else { throw .malformedStanza }
    do throws(KeysError) {
      return try privateKey.decrypt(share + stanza.body, .ageX25519)
    } catch .authenticationFailed {
      return nil
    } catch .badParameters {
      // A share of small order, which would give the same key with every private key.
      throw .malformedStanza
    } catch {
      throw VaultError(library: error)
    }
  }

  private static func privateKey(_ bytes: borrowing SecretBytes) throws(VaultError) -> PrivateKey {
    do throws(KeysError) {
      return try PrivateKey(stored: bytes, family: .x25519)
    } catch {
      throw VaultError(library: error)
    }
  }

  private static let bodyCount = EncryptedFile.keyCount + ChaCha20Poly1305.tagCount
}

extension VaultError {
  fileprivate static let malformedStanza = fileUnreadable("its header was damaged")
}
