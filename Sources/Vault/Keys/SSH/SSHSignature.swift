package import Primitives

/// SSH's signatures: the name of the algorithm and the signature itself, in the algorithm's own format.
package enum SSHSignature {
  /// The scheme of a key's signatures with this name. Nil for names that do not fit the key or are unknown, and for
  /// `ssh-rsa`, which means SHA-1.
  package static func scheme(_ name: String, for algorithm: KeyAlgorithm) -> SignatureScheme? {
    switch (name, algorithm) {
    case ("ssh-ed25519", .ed25519): .ed25519
    case ("rsa-sha2-256", .rsa): .rsaPKCS1(.sha256, .message)
    case ("rsa-sha2-512", .rsa): .rsaPKCS1(.sha512, .message)
    case ("ecdsa-sha2-nistp256", .ec(.p256)): .ecdsa(.sha256, .message, .rfc4754)
    case ("ecdsa-sha2-nistp384", .ec(.p384)): .ecdsa(.sha384, .message, .rfc4754)
    case ("ecdsa-sha2-nistp521", .ec(.p521)): .ecdsa(.sha512, .message, .rfc4754)
    default: nil
    }
  }

  /// A signature made with the scheme of this name, in SSH's form.
  package static func encoded(_ signature: [UInt8], _ name: String, of algorithm: KeyAlgorithm) -> [UInt8] {
    var writer = SSHWriter()
    writer.append(text: name)
    guard case .ec(let curve) = algorithm else {
      writer.append(string: signature)
      return writer.bytes
    }
    var numbers = SSHWriter()
    numbers.append(integer: signature.prefix(curve.coordinateCount))
    numbers.append(integer: signature.dropFirst(curve.coordinateCount))
    writer.append(string: numbers.bytes)
    return writer.bytes
  }

  /// The name and the signature in the form of ``scheme(_:for:)``.
  static func decoded(
    _ bytes: [UInt8], of algorithm: KeyAlgorithm
  ) throws(SSHFormatError) -> (name: String, signature: [UInt8]) {
    var reader = SSHReader(bytes)
    let name = try reader.text()
    let content = try reader.string()
    try reader.end()
    guard case .ec(let curve) = algorithm else { return (name, try padded(content, to: algorithm.signatureCount)) }
    var numbers = SSHReader(content)
    let signature =
      try padded(numbers.string(), to: curve.coordinateCount) + padded(numbers.string(), to: curve.coordinateCount)
    try numbers.end()
    return (name, signature)
  }

  private static func padded(_ bytes: [UInt8], to count: Int) throws(SSHFormatError) -> [UInt8] {
    let digits = bytes.count > count ? Array(bytes.drop { $0 == 0 }) : bytes
    guard digits.count <= count else { throw SSHFormatError() }
    return [UInt8](repeating: 0, count: count - digits.count) + digits
  }
}

extension KeyAlgorithm {
  /// The length of a signature that is not a pair of numbers.
  fileprivate var signatureCount: Int { self == .ed25519 ? 64 : blockCount }
}

extension PublicKey {
  /// Whether bytes are a signature of data by this key, in SSH's form. A signature with SHA-1 is not accepted. False,
  /// not an error, for malformed signatures.
  package func verify(ssh signature: [UInt8], of data: [UInt8]) throws(KeysError) -> Bool {
    guard let (name, signature) = try? SSHSignature.decoded(signature, of: algorithm),
      let scheme = SSHSignature.scheme(name, for: algorithm)
    else { return false }
    return try verify(signature, of: data, scheme)
  }
}
