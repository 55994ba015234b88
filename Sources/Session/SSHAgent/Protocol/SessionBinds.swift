internal import Keys

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
