internal import COpenSSL
package import SecureMemory

/// SHA-256. Stops the process if libcrypto cannot compute it, because the store cannot work without it.
package enum Digest {
  package static let count = 32

  package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    let algorithm = Algorithms.sha256.required()
    var digest = [UInt8](repeating: 0, count: count)
    let result = bytes.withUnsafeBytes { bytes in
      digest.withUnsafeMutableBufferPointer {
        // Borrows input and output for the call.
        EVP_Digest(bytes.baseAddress, bytes.count, $0.baseAddress, nil, algorithm, nil)
      }
    }
    guard result == 1 else { fatalError("libcrypto cannot compute SHA-256") }
    return digest
  }

  /// The digest of a secret, which is a secret too.
  package static func sha256(secret: borrowing SecretBytes) -> SecretBytes {
    let algorithm = Algorithms.sha256.required()
    var digest = SecretBytes(count: count)
    let result = secret.withUnsafeBytes { bytes in
      digest.withUnsafeMutableBytes {
        // Borrows input and output for the call.
        EVP_Digest(
          bytes.baseAddress, bytes.count, $0.bindMemory(to: UInt8.self).baseAddress, nil, algorithm, nil)
      }
    }
    guard result == 1 else { fatalError("libcrypto cannot compute SHA-256") }
    return digest
  }
}
