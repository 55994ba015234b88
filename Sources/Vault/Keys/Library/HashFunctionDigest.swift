internal import COpenSSL
package import KeySchemes

extension HashFunction {
  package func digest(_ bytes: [UInt8]) throws(KeysError) -> [UInt8] {
    let algorithm = try fetched.get()
    var digest = [UInt8](repeating: 0, count: count)
    let result = bytes.withUnsafeBytes { bytes in
      digest.withUnsafeMutableBufferPointer {
        // Borrows input and output for the call. `digest` has the size of the result.
        EVP_Digest(bytes.baseAddress, bytes.count, $0.baseAddress, nil, algorithm, nil)
      }
    }
    guard result == 1 else { throw .drainLibrary(name) }
    return digest
  }

  /// libcrypto's name of the hash function.
  var name: String {
    switch self {
    case .sha1: "SHA1"
    case .sha224: "SHA2-224"
    case .sha256: "SHA2-256"
    case .sha384: "SHA2-384"
    case .sha512: "SHA2-512"
    }
  }

  var fetched: Algorithms.Fetched {
    switch self {
    case .sha1: Algorithms.sha1
    case .sha224: Algorithms.sha224
    case .sha256: Algorithms.sha256
    case .sha384: Algorithms.sha384
    case .sha512: Algorithms.sha512
    }
  }
}
