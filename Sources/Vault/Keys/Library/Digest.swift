internal import COpenSSL

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
}
