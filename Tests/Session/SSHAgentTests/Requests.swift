import Primitives
import SSHAgent

/// The data of a sign-in, which `ssh` asks the agent to sign.
func signIn(
  session: [UInt8], user: String = "alice", key: [UInt8], hostKey: [UInt8]?, algorithm: String = "ssh-ed25519",
  service: String = "ssh-connection"
) -> [UInt8] {
  var writer = SSHWriter()
  writer.append(string: session)
  writer.append(byte: 50)
  writer.append(text: user)
  writer.append(text: service)
  writer.append(text: hostKey == nil ? "publickey" : "publickey-hostbound-v00@openssh.com")
  writer.append(byte: 1)
  writer.append(text: algorithm)
  writer.append(string: key)
  if let hostKey { writer.append(string: hostKey) }
  return writer.bytes
}

/// The data of a file's signature, which `ssh-keygen -Y sign` asks the agent to sign.
func file(for namespace: String) -> [UInt8] {
  var writer = SSHWriter()
  writer.append(text: namespace)
  writer.append(string: [])
  writer.append(text: "sha512")
  writer.append(string: [UInt8](repeating: 7, count: 64))
  return Array("SSHSIG".utf8) + writer.bytes
}

extension SessionBind {
  /// What a host says truly of a session.
  init(_ host: TestKey, session: [UInt8], isForwarding: Bool = false) throws {
    self.init(
      hostKey: try host.publicKey, session: session, signature: try host.signature(of: session),
      isForwarding: isForwarding)
  }
}

/// SplitMix64. The same seed gives the same numbers, so that a failure can be reproduced.
struct Seeded: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}
