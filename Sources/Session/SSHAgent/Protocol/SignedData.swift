internal import KeySchemes

/// The data that a client wants signed, as far as its format is recognized.
package enum SignedData: Sendable, Hashable {
  case signIn(SignInRequest)
  /// A file or a message, for a purpose (`ssh-keygen -Y sign`).
  case file(namespace: String)
  case unknown

  package init(_ data: [UInt8]) {
    if let request = try? SignInRequest(data) {
      self = .signIn(request)
    } else if let namespace = try? Self.namespace(of: data) {
      self = .file(namespace: namespace)
    } else {
      self = .unknown
    }
  }

  /// The purpose of a signature in the format `SSHSIG` of OpenSSH (PROTOCOL.sshsig).
  private static func namespace(of data: [UInt8]) throws(SSHFormatError) -> String {
    let magic = Array("SSHSIG".utf8)
    guard data.starts(with: magic) else { throw SSHFormatError() }
    var reader = SSHReader(Array(data.dropFirst(magic.count)))
    let namespace = try reader.text()
    // A reserved field, the name of a hash function and the digest.
    _ = (try reader.string(), try reader.text(), try reader.string())
    try reader.end()
    return namespace
  }
}

/// A request to sign in with a public key (RFC 4252, section 7), and OpenSSH's form of it that names the host's key.
package struct SignInRequest: Sendable, Hashable {
  package var session: [UInt8]
  package var user: String
  /// The name of the signature's algorithm.
  package var algorithm: String
  /// The public key, in SSH's form.
  package var key: [UInt8]
  /// The host's public key, in SSH's form; nil if the request does not name it.
  package var hostKey: [UInt8]?

  private static let message: UInt8 = 50

  init(_ data: [UInt8]) throws(SSHFormatError) {
    var reader = SSHReader(data)
    session = try reader.string()
    guard try reader.byte() == Self.message else { throw SSHFormatError() }
    user = try reader.text()
    guard try reader.text() == "ssh-connection" else { throw SSHFormatError() }
    let method = try reader.text()
    guard try reader.byte() == 1 else { throw SSHFormatError() }
    algorithm = try reader.text()
    key = try reader.string()
    switch method {
    case "publickey": hostKey = nil
    case "publickey-hostbound-v00@openssh.com": hostKey = try reader.string()
    default: throw SSHFormatError()
    }
    try reader.end()
  }
}
