internal import Glibc
internal import Keys
internal import SecretModel
internal import SecureMemory

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
