import Primitives
import SSHAgent
import Testing

@Suite("What a signature is for")
struct PurposeTests {
  private static let session: [UInt8] = Array(0..<32)
  private static let other: [UInt8] = Array(32..<64)
  private let key: TestKey
  private let host: TestKey
  private let relay: TestKey

  init() throws { (key, host, relay) = (try TestKey(), try TestKey(.ec(.p256)), try TestKey()) }

  private func purpose(_ data: [UInt8], flags: UInt32 = 0, binds: [SessionBind] = []) throws -> SignaturePurpose {
    var all = SessionBinds()
    for bind in binds { try all.add(bind) }
    return try SignaturePurpose(of: SignatureRequest(key: key.publicKey, data: data, flags: flags), all)
  }

  private func target(
    _ data: [UInt8], flags: UInt32 = 0, binds: [SessionBind] = []
  ) throws -> SignaturePurpose.Target {
    try purpose(data, flags: flags, binds: binds).target
  }

  @Test("an SSH session that the host has signed, and a request in it, give user and host")
  func verified() throws {
    let bind = try SessionBind(host, session: Self.session)
    for named in [try host.publicKey, nil] {
      let data = signIn(session: Self.session, key: try key.publicKey, hostKey: named)
      #expect(try target(data, binds: [bind]) == .signIn(user: "alice", host: try host.publicKey))
    }
  }

  @Test("the hosts to which the SSH agent was forwarded are part of a signature's purpose, in their order")
  func via() throws {
    let next = try TestKey()
    let binds = [
      try SessionBind(relay, session: Self.other, isForwarding: true),
      try SessionBind(next, session: Array(64..<96), isForwarding: true), try SessionBind(host, session: Self.session),
    ]
    let way = [try relay.publicKey, try next.publicKey]
    let data = signIn(session: Self.session, key: try key.publicKey, hostKey: try host.publicKey)
    let bound = try purpose(data, binds: binds)
    #expect(bound.target == .signIn(user: "alice", host: try host.publicKey) && bound.via == way)
    // A program on the last of them that binds no session: the host that it signs in to is unknown.
    let unbound = try purpose(data, binds: Array(binds.dropLast()))
    #expect(unbound.target == .signIn(user: "alice", host: nil) && unbound.via == way)
    // A program on the last of them that signs something else, such as a commit.
    for data in [file(for: "git"), [1, 2, 3]] {
      #expect(try purpose(data, binds: Array(binds.dropLast())).via == way)
      #expect(try purpose(data).via == [])
    }
  }

  @Test("the host of an SSH sign-in is unknown without a session binding, whatever the request says")
  func unbound() throws {
    let data = signIn(session: Self.session, key: try key.publicKey, hostKey: try host.publicKey)
    #expect(try target(data) == .signIn(user: "alice", host: nil))
    #expect(try target(file(for: "git")) == .file(namespace: "git"))
    #expect(try target([1, 2, 3]) == .unknown)
  }

  @Test("a signature request for another session or host than the SSH connection's is refused")
  func others() throws {
    let bind = try SessionBind(host, session: Self.session)
    let elsewhere = signIn(session: Self.other, key: try key.publicKey, hostKey: try host.publicKey)
    #expect(throws: SignaturePurpose.Refusal.otherSession) { try target(elsewhere, binds: [bind]) }
    let relayed = signIn(session: Self.session, key: try key.publicKey, hostKey: try relay.publicKey)
    #expect(throws: SignaturePurpose.Refusal.otherHost) { try target(relayed, binds: [bind]) }
    // The host that the agent was forwarded to binds its own session again.
    let handedOn = try SessionBind(host, session: Self.session, isForwarding: true)
    let again = signIn(session: Self.session, key: try key.publicKey, hostKey: try host.publicKey)
    #expect(throws: SignaturePurpose.Refusal.otherSession) { try target(again, binds: [handedOn]) }
  }

  @Test("an SSH signature request whose data contains another key or algorithm is refused")
  func otherKey() throws {
    let named = signIn(session: Self.session, key: try relay.publicKey, hostKey: nil)
    #expect(throws: SignaturePurpose.Refusal.otherKey) { try target(named) }
    let algorithm = signIn(session: Self.session, key: try key.publicKey, hostKey: nil, algorithm: "ssh-rsa")
    #expect(throws: SignaturePurpose.Refusal.otherKey) { try target(algorithm) }
  }

  @Test("a session binding that the host has not signed is refused, and the connection signs nothing afterwards")
  func forged() throws {
    var bind = try SessionBind(host, session: Self.session)
    bind.session = Self.other
    var binds = SessionBinds()
    #expect(throws: SessionBinds.Refusal.wrongSignature) { try binds.add(bind) }
    let data = signIn(session: Self.other, key: try key.publicKey, hostKey: try host.publicKey)
    #expect(throws: SignaturePurpose.Refusal.brokenBinds) {
      _ = try SignaturePurpose(of: SignatureRequest(key: try key.publicKey, data: data, flags: 0), binds)
    }
    var stranger = try SessionBind(host, session: Self.session)
    stranger.hostKey = try relay.publicKey
    #expect(throws: SessionBinds.Refusal.wrongSignature) { try binds.add(stranger) }
  }

  @Test("an SSH host key of an unsupported kind leaves the host unknown")
  func uncheckable() throws {
    var binds = SessionBinds()
    var writer = SSHWriter()
    writer.append(text: "sk-ssh-ed25519@openssh.com")
    let bind = SessionBind(hostKey: writer.bytes, session: Self.session, signature: [1], isForwarding: false)
    #expect(throws: SessionBinds.Refusal.unknownHostKey) { try binds.add(bind) }
    let data = signIn(session: Self.session, key: try key.publicKey, hostKey: nil)
    let purpose = try SignaturePurpose(of: SignatureRequest(key: try key.publicKey, data: data, flags: 0), binds)
    #expect(purpose.target == .signIn(user: "alice", host: nil) && purpose.via == [])
  }

  @Test("every SSH host behind a host with an unsupported key is unknown")
  func uncheckableHop() throws {
    var binds = SessionBinds()
    var writer = SSHWriter()
    writer.append(text: "sk-ssh-ed25519@openssh.com")
    let hop = SessionBind(hostKey: writer.bytes, session: Self.other, signature: [1], isForwarding: true)
    #expect(throws: SessionBinds.Refusal.unknownHostKey) { try binds.add(hop) }
    try binds.add(try SessionBind(host, session: Self.session))
    let data = signIn(session: Self.session, key: try key.publicKey, hostKey: try host.publicKey)
    let purpose = try SignaturePurpose(of: SignatureRequest(key: try key.publicKey, data: data, flags: 0), binds)
    #expect(purpose.target == .signIn(user: "alice", host: nil) && purpose.via == [nil])
  }

  @Test("an SSH agent's connection that signs in is bound once, and a session to one host only")
  func contradictions() throws {
    var binds = SessionBinds()
    try binds.add(try SessionBind(relay, session: Self.other, isForwarding: true))
    try binds.add(try SessionBind(relay, session: Self.other, isForwarding: true))
    #expect(binds.verified.count == 1)
    #expect(throws: SessionBinds.Refusal.contradiction) { try binds.add(try SessionBind(host, session: Self.other)) }
    var bound = SessionBinds()
    try bound.add(try SessionBind(host, session: Self.session))
    #expect(throws: SessionBinds.Refusal.contradiction) { try bound.add(try SessionBind(relay, session: Self.other)) }
  }

  @Test("at most 16 session bindings of a connection to the SSH agent are stored")
  func many() throws {
    var binds = SessionBinds()
    for number in 0..<16 {
      try binds.add(try SessionBind(relay, session: [UInt8(number), 1, 2], isForwarding: true))
    }
    #expect(throws: SessionBinds.Refusal.tooMany) { try binds.add(try SessionBind(host, session: Self.session)) }
  }

  @Test("an RSA key signs with SHA-2 only")
  func flags() throws {
    let key = try TestKey(.rsa(bits: 2048)).publicKey
    func algorithm(_ flags: UInt32) throws -> String {
      try SignaturePurpose(of: SignatureRequest(key: key, data: [1], flags: flags), SessionBinds()).algorithm
    }
    #expect(try algorithm(2) == "rsa-sha2-256")
    #expect(try algorithm(4) == "rsa-sha2-512")
    for flags: UInt32 in [0, 1, 6, 8] {
      #expect(throws: SignaturePurpose.Refusal.algorithm) { _ = try algorithm(flags) }
    }
  }
}
