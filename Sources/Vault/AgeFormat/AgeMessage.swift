internal import Keys
internal import Primitives
package import SecretModel
package import SecureMemory

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
    let fileKey = try FileKeyWrapping.unwrap(
      header, with: key.privateKey.bytes, publicKey: key.publicKey.bytes, expectedAt: place)
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
