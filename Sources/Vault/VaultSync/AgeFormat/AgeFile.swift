internal import Glibc
internal import Keys
package import Primitives
package import SecretModel

// Files in the format age-encryption.org/v1, which the program age reads too. Begin with `AgeFile` (a file of
// any size) and `AgeMessage` (a short one in memory). A file is an `AgeHeader`, with the file's key wrapped as
// `FileKeyWrapping` says, and an `AgePayload`.

/// Encrypts and decrypts files in the format age-encryption.org/v1. Calls block their thread.
///
/// A file is never in memory as a whole. Its contents come and go over a socket, so that they are in no other file.
package enum AgeFile {
  /// The cost of trying a passphrase on a new file, as age has it: 2^18 rounds of scrypt, which take 256 MiB and about a
  /// second.
  package static let logN = 18

  /// Encrypts what is read from a socket, up to its end, into a new file, and syncs the file.
  ///
  /// - Parameters:
  ///   - source: a connected socket.
  ///   - target: an empty file, open for writing.
  /// - Throws: `invalidRequest` for other descriptors, and for a public key that nothing can be encrypted to;
  ///   `inputOutput`.
  package static func encrypt(
    from source: Int32, to target: Int32, for recipient: EncryptedFile.Recipient, logN: Int = logN
  ) throws(VaultError) {
    try require(source, is: S_IFSOCK)
    try require(target, is: S_IFREG)
    let target = lent(target)
    let fileKey = try random { () throws(KeysError) in try Random.key(EncryptedFile.keyCount) }
    let nonce = try random { () throws(KeysError) in try Random.bytes(AgePayload.nonceCount) }
    let header = try AgeHeader([FileKeyWrapping.wrap(fileKey, for: recipient, logN: logN)]) {
      (covered) throws(VaultError) in try headerMAC(covered, fileKey)
    }
    try target.write(header.bytes + nonce)
    var payload = try AgePayload(fileKey: fileKey, nonce: nonce)
    var chunk = try read(source)
    while true {
      // Only an end of the input tells that a full chunk was the last one.
      let next = chunk.count == AgePayload.chunkCount ? try read(source) : SecretBytes(count: 0)
      try target.write(payload.seal(chunk, isLast: next.isEmpty))
      if next.isEmpty { break }
      chunk = next
    }
    try target.sync()
  }

  /// The key of a file's contents, from its header.
  ///
  /// - Throws: `wrongPassphrase`, `fileUnreadable`, `inputOutput`; `invalidRequest` for a descriptor of no file.
  package static func key(
    of file: Int32, with opening: EncryptedFile.Opening
  ) throws(VaultError) -> SecretBytes {
    try require(file, is: S_IFREG)
    let header = try header(of: lent(file))
    let fileKey = try FileKeyWrapping.unwrap(header, with: opening)
    try verify(header, fileKey)
    return fileKey
  }

  /// Decrypts a file's contents into a socket. Each chunk is verified before it is written, and whether the file is
  /// whole is known when this returns.
  ///
  /// - Throws: `fileUnreadable`, `inputOutput`; `invalidRequest` for other descriptors, and a key of another length.
  package static func decrypt(
    _ file: Int32, with fileKey: borrowing SecretBytes, to target: Int32
  ) throws(VaultError) {
    try require(file, is: S_IFREG)
    try require(target, is: S_IFSOCK)
    guard fileKey.count == EncryptedFile.keyCount else { throw .invalidRequest("the key of a file has 16 bytes") }
    let file = lent(file)
    let header = try header(of: file)
    try verify(header, fileKey)
    let nonce = try file.read(at: header.count, upTo: AgePayload.nonceCount)
    var payload = try AgePayload(fileKey: fileKey, nonce: nonce)
    var place = header.count + nonce.count
    var box = try file.read(at: place, upTo: AgePayload.boxCount)
    while true {
      place += box.count
      let next = try file.read(at: place, upTo: AgePayload.boxCount)
      let chunk = try payload.open(box, isLast: next.isEmpty)
      do throws(WriteError) { try chunk.write(to: target) } catch { throw .onWriting("the decrypted file", error) }
      if next.isEmpty { return }
      box = next
    }
  }

  /// Makes a key pair to which files can be encrypted.
  package static func makeKeyPair() throws(VaultError) -> EncryptedFile.KeyPair {
    do throws(KeysError) {
      let privateKey = try Random.key(X25519.count)
      guard let publicKey = AgePublicKey(bytes: try X25519.publicKey(of: privateKey)) else {
        throw KeysError.library("X25519 gives no public key")
      }
      return EncryptedFile.KeyPair(privateKey: SharedSecret(privateKey), publicKey: publicKey)
    } catch {
      throw VaultError(library: error)
    }
  }

  /// Encrypts the key of a file to a public key, as the body of a recipient stanza has it: an ephemeral public key, and
  /// the encrypted key.
  ///
  /// - Throws: `invalidRequest` for a key of another length, and a public key that nothing can be encrypted to.
  package static func wrap(
    _ fileKey: borrowing SecretBytes, to recipient: AgePublicKey
  ) throws(VaultError) -> [UInt8] {
    do throws(KeysError) {
      return try PublicKey(external: recipient.bytes, family: .x25519).encrypt(fileKey, .ageX25519)
    } catch {
      if case .badParameters(let why) = error { throw .invalidRequest(why) }
      throw VaultError(library: error)
    }
  }

  // MARK: Header

  private static func header(of file: LentFile) throws(VaultError) -> AgeHeader {
    try AgeHeader(parsing: file.read(at: 0, upTo: AgeHeader.limit))
  }

  static func random<Value: ~Copyable>(
    _ bytes: () throws(KeysError) -> Value
  ) throws(VaultError) -> Value {
    do throws(KeysError) {
      return try bytes()
    } catch {
      throw VaultError(library: error)
    }
  }

  static func headerMAC(_ covered: [UInt8], _ fileKey: borrowing SecretBytes) throws(VaultError) -> [UInt8] {
    MAC.hmacSHA256(key: try headerKey(fileKey), covered)
  }

  static func verify(_ header: AgeHeader, _ fileKey: borrowing SecretBytes) throws(VaultError) {
    guard MAC.verify(header.mac, key: try headerKey(fileKey), header.covered) else {
      throw .fileUnreadable("its header was damaged")
    }
  }

  private static func headerKey(_ fileKey: borrowing SecretBytes) throws(VaultError) -> SecretBytes {
    do throws(KeysError) {
      return try KDF.hkdf(key: fileKey, info: Array("header".utf8))
    } catch {
      throw VaultError(library: error)
    }
  }

  // MARK: Descriptors

  private static func lent(_ file: Int32) -> LentFile { LentFile(file, name: "the encrypted file") }

  private static func require(_ descriptor: Int32, is kind: mode_t) throws(VaultError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == kind else {
      throw .invalidRequest(kind == S_IFREG ? "the encrypted file is no file" : "the decrypted contents need a socket")
    }
  }

  private static func read(_ source: Int32) throws(VaultError) -> SecretBytes {
    do throws(ReadError) {
      return try SecretBytes.read(from: source, upTo: AgePayload.chunkCount)
    } catch {
      throw .inputOutput("what is to be encrypted: \(error)")
    }
  }
}

extension VaultError {
  /// For a failure of the cryptographic library that no file causes.
  init(library error: KeysError) { self = .internalError("OpenSSL: \(error)") }
}

/// A short file in age's format, in memory: encrypted to any number of public keys.
package enum AgeMessage {
  /// The kind of the stanza that says for which members of a circle a file was encrypted. age skips kinds that it does
  /// not know.
  private static let epochKind = "whorl-epoch"
  private static let epochLimit = Int(Int32.max)

  /// Encrypts to all of these keys. Their stanzas are in this order.
  ///
  /// - Parameter epoch: a number that the header has, readable without a key and authenticated with it.
  package static func seal(
    _ contents: borrowing SecretBytes, to keys: [AgePublicKey], epoch: Int
  ) throws(VaultError) -> [UInt8] {
    let fileKey = try AgeFile.random { () throws(KeysError) in try Random.key(EncryptedFile.keyCount) }
    let nonce = try AgeFile.random { () throws(KeysError) in try Random.bytes(AgePayload.nonceCount) }
    var stanzas: [AgeHeader.Stanza] = []
    for key in keys { stanzas.append(try FileKeyWrapping.wrap(fileKey, for: .publicKey(key), logN: AgeFile.logN)) }
    stanzas.append(AgeHeader.Stanza(words: [epochKind, "\(epoch)"], body: []))
    let header = try AgeHeader(stanzas) { (covered) throws(VaultError) in try AgeFile.headerMAC(covered, fileKey) }
    var file = header.bytes + nonce
    file.reserveCapacity(file.count + contents.count + ChaCha20Poly1305.tagCount)
    var payload = try AgePayload(fileKey: fileKey, nonce: nonce)
    var start = 0
    repeat {
      let end = min(start + AgePayload.chunkCount, contents.count)
      file += try payload.seal(part(of: contents, start..<end), isLast: end == contents.count)
      start = end
    } while start < contents.count
    return file
  }

  /// Decrypts a file.
  ///
  /// - Parameter place: which stanza is probably this key's.
  /// - Throws: `fileUnreadable`.
  package static func open(
    _ file: [UInt8], with key: EncryptedFile.KeyPair, expectedAt place: Int = 0
  ) throws(VaultError) -> SecretBytes {
    let header = try AgeHeader(parsing: file)
    let fileKey = try FileKeyWrapping.unwrap(header, with: key.privateKey.bytes, expectedAt: place)
    try AgeFile.verify(header, fileKey)
    var start = min(header.count + AgePayload.nonceCount, file.count)
    var payload = try AgePayload(fileKey: fileKey, nonce: Array(file[header.count..<start]))
    var contents = SecretBytes(count: 0)
    repeat {
      let end = min(start + AgePayload.boxCount, file.count)
      append(try payload.open(Array(file[start..<end]), isLast: end == file.count), to: &contents)
      start = end
    } while start < file.count
    return contents
  }

  /// The number that ``seal(_:to:epoch:)`` put into the header; nil if there is none.
  package static func epoch(of file: [UInt8]) -> Int? {
    let header = try? AgeHeader(parsing: file)
    return header?.stanzas.first { $0.words.count == 2 && $0.words[0] == epochKind }
      .flatMap { OutsideNumber(digits: $0.words[1])?.number(in: 0...epochLimit) }
  }

  private static func part(of contents: borrowing SecretBytes, _ range: Range<Int>) -> SecretBytes {
    contents.withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[range])) }
  }

  private static func append(_ chunk: borrowing SecretBytes, to contents: inout SecretBytes) {
    let filled = contents.count
    contents.resize(to: filled + chunk.count)
    contents.withUnsafeMutableBytes { target in
      chunk.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: target[filled...]).copyMemory(from: $0) }
    }
  }
}

/// The contents of a file in age's format: a nonce, and chunks of 64 KiB that are encrypted one by one. The nonce of each
/// chunk is its number, and says whether it is the last: no chunk can be moved, left out or added.
struct AgePayload: ~Copyable {
  /// The length of a chunk before encryption. Only the last chunk may be shorter.
  static let chunkCount = 64 << 10
  static let boxCount = chunkCount + ChaCha20Poly1305.tagCount
  static let nonceCount = 16

  private let key: SecretBytes
  private var chunks: UInt64 = 0

  /// - Parameter nonce: the payload's, 16 bytes.
  init(fileKey: borrowing SecretBytes, nonce: [UInt8]) throws(VaultError) {
    do throws(KeysError) {
      key = try KDF.hkdf(key: fileKey, salt: nonce, info: Array("payload".utf8))
    } catch {
      throw VaultError(library: error)
    }
  }

  /// Encrypts the next chunk.
  mutating func seal(_ chunk: borrowing SecretBytes, isLast: Bool) throws(VaultError) -> [UInt8] {
    do throws(KeysError) {
      return try ChaCha20Poly1305.seal(chunk, key: key, nonce: nextNonce(isLast: isLast))
    } catch {
      throw VaultError(library: error)
    }
  }

  /// Decrypts the next chunk.
  ///
  /// - Throws: `fileUnreadable`.
  mutating func open(_ box: [UInt8], isLast: Bool) throws(VaultError) -> SecretBytes {
    let isFirst = chunks == 0
    do throws(KeysError) {
      let chunk = try ChaCha20Poly1305.open(box, key: key, nonce: nextNonce(isLast: isLast))
      // The format has one form for each contents: the last chunk is empty only where there is no other.
      guard !chunk.isEmpty || isFirst else { throw KeysError.authenticationFailed }
      return chunk
    } catch .authenticationFailed {
      throw .fileUnreadable("its contents were damaged or cut off, or something was appended")
    } catch {
      throw VaultError(library: error)
    }
  }

  private mutating func nextNonce(isLast: Bool) -> [UInt8] {
    defer { chunks += 1 }
    return [0, 0, 0] + withUnsafeBytes(of: chunks.bigEndian) { Array($0) } + [isLast ? 1 : 0]
  }
}
