package import Keys
internal import Primitives

/// What a signature is for, as far as it can be verified.
package struct SignaturePurpose: Sendable, Hashable {
  package enum Target: Sendable, Hashable {
    /// - Parameter host: the host's key; nil if it is unknown.
    case signIn(user: String, host: [UInt8]?)
    /// A file or a message.
    case file(namespace: String)
    case unknown
  }

  /// Why a signature is refused.
  package enum Refusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The signature would use SHA-1 or an algorithm that is not supported.
    case algorithm
    /// The data names another key or algorithm than the request.
    case otherKey
    /// The data belongs to another session than the connection's.
    case otherSession
    /// The data names another host than the session's.
    case otherHost
    /// An earlier bind of the connection was invalid.
    case brokenBinds
    /// The certificate cannot be read, its authority has not signed it, or it is not one for users.
    case certificate

    /// In words that follow a colon.
    package var description: String {
      switch self {
      case .algorithm: "the algorithm is an old or an unknown one"
      case .otherKey: "what is to be signed names another key or algorithm"
      case .otherSession: "what is to be signed belongs to another session"
      case .otherHost: "what is to be signed names another host"
      case .brokenBinds: "the connection has sent an invalid session binding"
      case .certificate: "the certificate is damaged, not signed by its authority, or not for users"
      }
    }
  }

  package let target: Target
  /// The keys of the hosts through which the agent was forwarded, in order from this machine. Nil stands for hosts whose
  /// keys could not be checked, and is the last.
  package let via: [[UInt8]?]
  /// SSH's name of the signature's algorithm.
  package let algorithm: String
  /// The key's algorithm, and the scheme it signs with.
  let key: KeyAlgorithm
  let scheme: SignatureScheme
  /// The certificate that signs in instead of the key; nil for the key itself.
  package let certificate: SSHCertificate?

  /// - Parameter binds: the sessions of the connection that asks.
  package init(of request: SignatureRequest, _ binds: SessionBinds) throws(Refusal) {
    guard let key = try? PublicKey(ssh: request.key),
      let algorithm = Self.algorithm(of: key.algorithm, request.flags),
      let scheme = SSHSignature.scheme(algorithm, for: key.algorithm)
    else { throw .algorithm }
    (self.algorithm, self.key, self.scheme) = (algorithm, key.algorithm, scheme)
    var certificate = try Self.certificate(of: key, in: request.key)
    guard !binds.isBroken else { throw .brokenBinds }
    via = binds.verified.filter(\.isForwarding).map(\.hostKey) + (binds.hasUnknownHop ? [nil] : [])
    switch SignedData(request.data) {
    case .file(let namespace): target = .file(namespace: namespace)
    case .unknown: target = .unknown
    case .signIn(let signIn):
      if signIn.key != request.key, certificate == nil, (try? PublicKey(ssh: signIn.key)) == key {
        // `ssh` asks with the certificate if the agent lists it, and with the key if the certificate is in a file.
        certificate = try Self.certificate(of: key, in: signIn.key)
      } else if signIn.key != request.key {
        throw .otherKey
      }
      let name = certificate == nil ? algorithm : "\(algorithm)-cert-v01@openssh.com"
      guard signIn.algorithm == name else { throw .otherKey }
      target = try Self.target(signIn, binds)
    }
    self.certificate = certificate
  }

  /// The certificate in the bytes, whether it is valid now or not; nil if they are the key itself.
  private static func certificate(of key: PublicKey, in bytes: [UInt8]) throws(Refusal) -> SSHCertificate? {
    guard (try? key.ssh) != bytes else { return nil }
    guard let certificate = try? SSHCertificate(bytes), certificate.isForUser else { throw .certificate }
    return certificate
  }

  private static func target(_ signIn: SignInRequest, _ binds: SessionBinds) throws(Refusal) -> Target {
    // A session through which the agent was forwarded has signed in already.
    guard !binds.verified.contains(where: { $0.isForwarding && $0.session == signIn.session }) else {
      throw .otherSession
    }
    guard let bind = binds.verified.last, !bind.isForwarding else {
      // Without a bind for its own session, the host is unknown.
      return .signIn(user: signIn.user, host: nil)
    }
    guard bind.session == signIn.session else { throw .otherSession }
    guard signIn.hostKey == nil || signIn.hostKey == bind.hostKey else { throw .otherHost }
    // After a hop whose host key could not be checked, any user of that host may have sent this bind.
    return .signIn(user: signIn.user, host: binds.hasUnknownHop ? nil : bind.hostKey)
  }

  /// SSH's name of the algorithm that the flags select. Nil for SHA-1 and unknown flags.
  private static func algorithm(of key: KeyAlgorithm, _ flags: UInt32) -> String? {
    guard case .rsa = key else { return flags == 0 ? key.sshName : nil }
    return switch flags {
    case 2: "rsa-sha2-256"
    case 4: "rsa-sha2-512"
    default: nil
    }
  }
}
