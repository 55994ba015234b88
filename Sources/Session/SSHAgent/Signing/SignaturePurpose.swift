internal import KeySchemes
internal import Keys

/// What a signature is for: verified where it can be, and unknown where it cannot.
package struct SignaturePurpose: Sendable, Hashable {
  package enum Target: Sendable, Hashable {
    /// - Parameters:
    ///   - host: the host's key; nil where it cannot be told.
    ///   - via: the keys of the hosts that the agent was handed on to, the first one first.
    case signIn(user: String, host: [UInt8]?, via: [[UInt8]])
    /// A file or a message.
    case file(namespace: String)
    case unknown
  }

  /// Why a signature is refused.
  package enum Refusal: Error, Sendable, Hashable {
    /// With SHA-1, or in a way that is not known here.
    case algorithm
    /// What is signed names another key or algorithm than the request.
    case otherKey
    /// What is signed belongs to another session than the connection.
    case otherSession
    /// What is signed names another host than the one that the session is with.
    case otherHost
    /// The connection has told something false of its session.
    case brokenBinds
  }

  package let target: Target
  /// SSH's name of the signature's algorithm.
  package let algorithm: String
  /// The key, of what algorithm it is, and how it signs.
  let key: KeyAlgorithm
  let scheme: SignatureScheme

  /// - Parameter binds: the sessions of the connection that asks.
  package init(of request: SignatureRequest, _ binds: SessionBinds) throws(Refusal) {
    guard let key = try? PublicKey(ssh: request.key),
      let algorithm = Self.algorithm(of: key.algorithm, request.flags),
      let scheme = SSHSignature.scheme(algorithm, for: key.algorithm)
    else { throw .algorithm }
    (self.algorithm, self.key, self.scheme) = (algorithm, key.algorithm, scheme)
    guard !binds.isBroken else { throw .brokenBinds }
    switch SignedData(request.data) {
    case .file(let namespace): target = .file(namespace: namespace)
    case .unknown: target = .unknown
    case .signIn(let signIn):
      guard signIn.key == request.key, signIn.algorithm == algorithm else { throw .otherKey }
      target = try Self.target(signIn, binds)
    }
  }

  private static func target(_ signIn: SignInRequest, _ binds: SessionBinds) throws(Refusal) -> Target {
    let via = binds.verified.filter(\.isForwarding)
    // A session that the agent was handed on through has signed in already.
    guard !via.contains(where: { $0.session == signIn.session }) else { throw .otherSession }
    guard let bind = binds.verified.last, !bind.isForwarding else {
      // Without a bind of its own, nobody has said whose session this is.
      return .signIn(user: signIn.user, host: nil, via: via.map(\.hostKey))
    }
    guard bind.session == signIn.session else { throw .otherSession }
    guard signIn.hostKey == nil || signIn.hostKey == bind.hostKey else { throw .otherHost }
    // Over a host that nobody can name, any of its users may have told of this session.
    let host = binds.hasUnknownHop ? nil : bind.hostKey
    return .signIn(user: signIn.user, host: host, via: via.map(\.hostKey))
  }

  /// SSH's name of the algorithm that the flags choose. Nil for SHA-1 and for flags that are not known here.
  private static func algorithm(of key: KeyAlgorithm, _ flags: UInt32) -> String? {
    guard case .rsa = key else { return flags == 0 ? key.sshName : nil }
    return switch flags {
    case 2: "rsa-sha2-256"
    case 4: "rsa-sha2-512"
    default: nil
    }
  }
}
