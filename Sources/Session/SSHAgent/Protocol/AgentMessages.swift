package import Primitives

/// The numbers of the messages of the SSH agent protocol (draft-ietf-sshm-ssh-agent) that this agent reads or writes.
enum AgentMessage {
  static let failure: UInt8 = 5
  static let requestIdentities: UInt8 = 11
  static let identitiesAnswer: UInt8 = 12
  static let signRequest: UInt8 = 13
  static let signResponse: UInt8 = 14
  static let success: UInt8 = 6
  static let lock: UInt8 = 22
  static let unlock: UInt8 = 23
  static let `extension`: UInt8 = 27
  /// A key, or one of a smart card, each with constraints or without.
  static let additions: Set<UInt8> = [17, 20, 25, 26]
  static let sessionBind = "session-bind@openssh.com"

  /// The longest message, in bytes, as in OpenSSH.
  static let limit = 256 << 10
}

/// A client's request to the agent.
package enum AgentRequest: Sendable, Hashable {
  /// The public keys.
  case list
  case sign(SignatureRequest)
  /// The connection belongs to an SSH session from now on.
  case bind(SessionBind)
  /// A request that this agent does not handle. It is forwarded to the other agent.
  case other

  /// Reads a message, without its length.
  package init(_ message: [UInt8]) throws(SSHFormatError) {
    var reader = SSHReader(message)
    switch try reader.byte() {
    case AgentMessage.requestIdentities:
      try reader.end()
      self = .list
    case AgentMessage.signRequest:
      self = .sign(
        SignatureRequest(key: try reader.string(), data: try reader.string(), flags: try reader.number()))
      try reader.end()
    case AgentMessage.extension:
      guard try reader.string() == Array(AgentMessage.sessionBind.utf8) else {
        self = .other
        return
      }
      self = .bind(
        SessionBind(
          hostKey: try reader.string(), session: try reader.string(), signature: try reader.string(),
          isForwarding: try reader.boolean()))
      try reader.end()
    default: self = .other
    }
  }
}

/// A signature that is asked for.
package struct SignatureRequest: Sendable, Hashable {
  /// The public key, in SSH's form.
  package var key: [UInt8]
  package var data: [UInt8]
  /// Selects the hash function of an RSA signature: 2 for SHA-256, 4 for SHA-512, 0 for SHA-1.
  package var flags: UInt32

  package init(key: [UInt8], data: [UInt8], flags: UInt32) {
    (self.key, self.data, self.flags) = (key, data, flags)
  }
}

/// What `ssh` tells the agent about an SSH session before it asks for a signature or forwards the agent connection
/// (`session-bind@openssh.com`).
package struct SessionBind: Sendable, Hashable {
  /// The host's public key, in SSH's form.
  package var hostKey: [UInt8]
  /// The session's identifier.
  package var session: [UInt8]
  /// The host's signature over ``session``.
  package var signature: [UInt8]
  /// Whether the agent connection is forwarded to the host, so that programs there can use the agent.
  package var isForwarding: Bool

  package init(hostKey: [UInt8], session: [UInt8], signature: [UInt8], isForwarding: Bool) {
    (self.hostKey, self.session, self.signature, self.isForwarding) = (hostKey, session, signature, isForwarding)
  }
}

/// What the agent answers.
enum AgentAnswer {
  static let failure = [AgentMessage.failure]
  static let success = [AgentMessage.success]

  static func identities(_ keys: [(key: [UInt8], comment: [UInt8])]) -> [UInt8] {
    var writer = SSHWriter()
    writer.append(byte: AgentMessage.identitiesAnswer)
    writer.append(number: UInt32(clamping: keys.count))
    for (key, comment) in keys {
      writer.append(string: key)
      writer.append(string: comment)
    }
    return writer.bytes
  }

  static func signature(_ signature: [UInt8]) -> [UInt8] {
    var writer = SSHWriter()
    writer.append(byte: AgentMessage.signResponse)
    writer.append(string: signature)
    return writer.bytes
  }

  /// The keys in another agent's answer to ``AgentRequest/list``; empty if the answer has another form.
  static func keys(in answer: [UInt8]) -> [(key: [UInt8], comment: [UInt8])] {
    var reader = SSHReader(answer)
    var keys: [(key: [UInt8], comment: [UInt8])] = []
    do throws(SSHFormatError) {
      guard try reader.byte() == AgentMessage.identitiesAnswer else { return [] }
      for _ in 0..<(try reader.number()) { keys.append((try reader.string(), try reader.string())) }
      try reader.end()
    } catch {
      return []
    }
    return keys
  }
}
