package import Primitives

/// The names of keys in SSH: RFC 4253 (RSA), RFC 5656 (ECDSA) and RFC 8709 (Ed25519).
extension KeyAlgorithm {
  /// The name at the start of a public key; nil for an algorithm that SSH has no keys of.
  package var sshName: String? {
    switch self {
    case .x25519: nil
    case .ed25519: "ssh-ed25519"
    case .rsa: "ssh-rsa"
    case .ec(let curve): "ecdsa-sha2-\(curve.sshName)"
    }
  }
}

extension Curve {
  fileprivate var sshName: String { "nistp\(bitCount)" }
}

extension PublicKey {
  /// The key in SSH's form.
  package var ssh: [UInt8] {
    get throws(KeysError) {
      guard let name = algorithm.sshName else { throw .badParameters("SSH has no keys of this algorithm") }
      var writer = SSHWriter()
      writer.append(text: name)
      switch algorithm {
      case .x25519: break
      case .ed25519: writer.append(string: external)
      case .ec(let curve):
        writer.append(text: curve.sshName)
        writer.append(string: external)
      case .rsa:
        guard let numbers = external.withUnsafeBytes({ IntegerSequence.read($0) }), numbers.count == 2 else {
          throw .badParameters("not an RSA public key")
        }
        writer.append(integer: external[numbers[1]])
        writer.append(integer: external[numbers[0]])
      }
      return writer.bytes
    }
  }

  /// Reads a key in SSH's form, or the key in a certificate of OpenSSH, of which it checks nothing else. Throws
  /// ``KeysError/badParameters(_:)`` for every other, and for keys of sizes that are not supported.
  package init(ssh bytes: [UInt8]) throws(KeysError) {
    let fields: SSHKeyFields
    do throws(SSHFormatError) {
      var reader = SSHReader(bytes)
      fields = try SSHKeyFields(&reader)
      if !fields.isCertified { try reader.end() }
    } catch {
      throw .badParameters("not an SSH public key")
    }
    try self.init(fields)
  }

  init(_ key: SSHKeyFields) throws(KeysError) {
    switch (key.name, key.fields.count) {
    case ("ssh-ed25519", 1): try self.init(external: key.fields[0], family: .ed25519)
    case ("ssh-rsa", 2): try self.init(external: Self.rsaForm(n: key.fields[1], e: key.fields[0]), family: .rsa)
    case (let name, 2):
      try self.init(external: key.fields[1], family: .ec)
      guard case .ec(let curve) = algorithm, algorithm.sshName == name, key.fields[0] == Array(curve.sshName.utf8)
      else {
        throw .badParameters("not a key on the curve that it names")
      }
    default: throw .badParameters("not an SSH public key of a kind known here")
    }
  }

  private static func rsaForm(n: [UInt8], e: [UInt8]) throws(KeysError) -> [UInt8] {
    var numbers: [BigNumber] = []
    for integer in [n, e] {
      // SSH's integers have a sign.
      guard let first = integer.first, first < 0x80 else { throw .badParameters("not an RSA public key") }
      numbers.append(try integer.span.withUnsafeBytes { bytes throws(KeysError) in try BigNumber(bytes) })
    }
    return try IntegerSequence.write(numbers).withUnsafeBytes { Array($0) }
  }
}

/// The name of a public key and the fields of its kind, as they begin a key in SSH's form and, with a nonce between them,
/// a certificate of OpenSSH.
struct SSHKeyFields {
  /// The end of the names of certificates.
  private static let certificate = "-cert-v01@openssh.com"

  /// Without a certificate's suffix.
  let name: String
  let fields: [[UInt8]]
  let isCertified: Bool

  init(_ reader: inout SSHReader) throws(SSHFormatError) {
    var name = try reader.text()
    isCertified = name.hasSuffix(Self.certificate)
    if isCertified {
      name.removeLast(Self.certificate.count)
      // The nonce.
      _ = try reader.string()
    }
    var fields = [try reader.string()]
    if name != "ssh-ed25519" { fields.append(try reader.string()) }
    (self.name, self.fields) = (name, fields)
  }
}

extension PrivateKey {
  /// Reads a private key as programs give it to an SSH agent (the contents of `SSH_AGENTC_ADD_IDENTITY`): its name, its
  /// fields and a comment. Anything that is not a valid and consistent key is ``KeysError/badParameters(_:)``. For RSA
  /// this tests the primes, which takes up to half a second.
  package init(ssh bytes: borrowing SecretBytes) throws(KeysError) {
    let name = bytes.withUnsafeBytes { bytes in
      SSHFormat.string(in: bytes, at: 0).map { String(decoding: bytes[$0], as: UTF8.self) }
    }
    switch name {
    case KeyAlgorithm.ed25519.sshName: try self.init(sshEd25519: bytes)
    case "ssh-rsa": try self.init(sshRSA: bytes)
    default:
      guard let curve = Curve.allCases.first(where: { KeyAlgorithm.ec($0).sshName == name }) else {
        throw .badParameters(
          "keys of Ed25519, ECDSA and RSA are taken; this one is \(Self.shown(name))")
      }
      try self.init(sshECDSA: bytes, curve)
    }
  }

  /// The name of a kind of key, if it is short and printable.
  private static func shown(_ name: String?) -> String {
    guard let name, (1...64).contains(name.utf8.count), name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      return "of no kind of SSH"
    }
    return "of the kind \(name)"
  }

  /// The name, the public key, the private key with the public key behind it, and the comment.
  private init(sshEd25519 bytes: borrowing SecretBytes) throws(KeysError) {
    let key = try bytes.withUnsafeBytes { bytes throws(KeysError) -> (seed: SharedSecret, publicKey: [UInt8]) in
      guard let parts = SSHFormat.strings(in: bytes, from: 0, count: 4), parts[2].count == 64 else {
        throw .badParameters("not an Ed25519 private key")
      }
      let middle = parts[2].lowerBound + 32
      guard bytes[parts[1]].elementsEqual(bytes[middle..<parts[2].upperBound]) else {
        throw .badParameters("the parts of the private key do not belong together")
      }
      let seed = SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[parts[2].lowerBound..<middle]))
      return (SharedSecret(seed), Array(bytes[parts[1]]))
    }
    let own = try PrivateKey(external: key.seed.bytes, family: .ed25519)
    guard own.publicKey.external == key.publicKey else {
      throw .badParameters("the parts of the private key do not belong together")
    }
    self = own
  }

  /// The name, the curve, the point, the scalar and the comment.
  private init(sshECDSA bytes: borrowing SecretBytes, _ curve: Curve) throws(KeysError) {
    let external = try bytes.withUnsafeBytes { bytes throws(KeysError) -> SecretBytes in
      guard let parts = SSHFormat.strings(in: bytes, from: 0, count: 5), parts[2].count == curve.pointCount else {
        throw .badParameters("not an ECDSA private key")
      }
      let scalar = try BigNumber(UnsafeRawBufferPointer(rebasing: bytes[parts[3]]))
      var external = SecretBytes(count: curve.pointCount + curve.coordinateCount)
      let done = external.withUnsafeMutableBytes { target in
        target.copyBytes(from: bytes[parts[2]])
        return scalar.write(to: UnsafeMutableRawBufferPointer(rebasing: target[curve.pointCount...]))
      }
      guard done else { throw .badParameters("not an ECDSA private key") }
      return external
    }
    try self.init(external: external, family: .ec)
  }

  /// The name, n, e, d, 1/q mod p, p, q and the comment.
  private init(sshRSA bytes: borrowing SecretBytes) throws(KeysError) {
    let external = try bytes.withUnsafeBytes { bytes throws(KeysError) -> SecretBytes in
      guard let parts = SSHFormat.strings(in: bytes, from: 0, count: 8) else {
        throw .badParameters("not an RSA private key")
      }
      var numbers: [BigNumber] = []
      for part in parts[1...6] { numbers.append(try BigNumber(UnsafeRawBufferPointer(rebasing: bytes[part]))) }
      let (n, e, d, coefficient, p, q) = (numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5])
      // Refuse a size before anything is computed with it.
      _ = try RSAKeyForm.checkedAlgorithm(bits: n.bitCount)
      guard p.bitCount > 1, q.bitCount > 1 else { throw .badParameters("not an RSA private key") }
      return try IntegerSequence.write([
        try BigNumber(), n, e, d, p, q, try d.exponent(for: p), try d.exponent(for: q), coefficient,
      ])
    }
    try self.init(external: external, family: .rsa)
  }
}
