internal import Keys
internal import Primitives

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

/// The SSH sessions that a connection to the agent passes through: first the sessions that forward it, then the one in
/// which the client signs in.
package struct SessionBinds: Sendable {
  /// Why a bind is refused.
  package enum Refusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The signature is not the host's.
    case wrongSignature
    /// The host's key is of a kind or size whose signatures cannot be checked here.
    case unknownHostKey
    /// It contradicts an earlier bind, or comes after the bind of the session that signs in.
    case contradiction
    case tooMany

    /// In words that follow a colon.
    package var description: String {
      switch self {
      case .wrongSignature: "the signature is not the host's"
      case .unknownHostKey: "the host's key is of a kind that cannot be checked"
      case .contradiction: "it contradicts an earlier one"
      case .tooMany: "there are too many of them"
      }
    }
  }

  /// As in OpenSSH.
  private static let limit = 16

  /// The accepted binds. Each has a valid signature of its host.
  package private(set) var verified: [SessionBind] = []
  /// Whether a bind was refused for another reason than an unknown host key. This connection then gets no signature.
  package private(set) var isBroken = false
  /// Whether the agent was forwarded to a host whose key cannot be checked. It is then unknown who sends the later
  /// binds.
  package private(set) var hasUnknownHop = false

  package init() {}

  /// Whether a program on another machine may send the requests, because the agent was forwarded there or it is unknown
  /// whether it was.
  package var mayBeForwarded: Bool { isBroken || hasUnknownHop || verified.contains { $0.isForwarding } }

  package mutating func add(_ bind: SessionBind) throws(Refusal) {
    do throws(Refusal) {
      try check(bind)
    } catch {
      if error == .unknownHostKey { hasUnknownHop = hasUnknownHop || bind.isForwarding } else { isBroken = true }
      throw error
    }
    guard !verified.contains(where: { $0.session == bind.session && $0.isForwarding == bind.isForwarding }) else {
      return
    }
    verified.append(bind)
  }

  private func check(_ bind: SessionBind) throws(Refusal) {
    guard let key = try? PublicKey(ssh: bind.hostKey) else { throw .unknownHostKey }
    guard !bind.session.isEmpty, (try? key.verify(ssh: bind.signature, of: bind.session)) == true else {
      throw .wrongSignature
    }
    guard verified.count < Self.limit else { throw .tooMany }
    for earlier in verified {
      guard earlier.isForwarding, earlier.session != bind.session || earlier.hostKey == bind.hostKey else {
        throw .contradiction
      }
    }
  }
}
