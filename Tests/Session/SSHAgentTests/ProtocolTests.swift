import Primitives
import SSHAgent
import Testing

@Suite("Messages of the SSH agent protocol")
struct ProtocolTests {
  private static let session: [UInt8] = Array(0..<32)

  private static func message(_ type: UInt8, _ fill: (inout SSHWriter) -> Void = { _ in }) -> [UInt8] {
    var writer = SSHWriter()
    writer.append(byte: type)
    fill(&writer)
    return writer.bytes
  }

  private static let sign = message(13) {
    $0.append(string: [1, 2])
    $0.append(string: [3])
    $0.append(number: 4)
  }
  private static let bind = message(27) {
    $0.append(text: "session-bind@openssh.com")
    for field: [UInt8] in [[1], [2], [3]] { $0.append(string: field) }
    $0.append(byte: 1)
  }

  @Test("messages of the SSH agent protocol are parsed into their requests")
  func requests() throws {
    #expect(try AgentRequest([11]) == .list)
    #expect(try AgentRequest(Self.sign) == .sign(SignatureRequest(key: [1, 2], data: [3], flags: 4)))
    #expect(
      try AgentRequest(Self.bind)
        == .bind(SessionBind(hostKey: [1], session: [2], signature: [3], isForwarding: true)))
    for other: [UInt8] in [[17, 0], [22], Self.message(27) { $0.append(text: "query") }] {
      #expect(try AgentRequest(other) == .other)
    }
  }

  @Test("messages of the SSH agent protocol are refused if they are truncated or too long")
  func malformed() {
    for whole in [Self.sign, Self.bind] {
      for count in 0..<whole.count {
        #expect(throws: SSHFormatError.self) { _ = try AgentRequest(Array(whole.prefix(count))) }
      }
      #expect(throws: SSHFormatError.self) { _ = try AgentRequest(whole + [0]) }
    }
    #expect(throws: SSHFormatError.self) { _ = try AgentRequest([11, 0]) }
    // A length that is far beyond the end.
    #expect(throws: SSHFormatError.self) { _ = try AgentRequest([13, 0xFF, 0xFF, 0xFF, 0xFF, 1]) }
  }

  @Test("random and damaged messages and data to sign never crash the SSH agent")
  func noise() throws {
    var random = Seeded(state: 11)
    let key = try TestKey().publicKey
    let seeds = [
      Self.sign, Self.bind, signIn(session: Self.session, key: key, hostKey: key), file(for: "git"), key,
    ]
    for _ in 0..<20_000 {
      var bytes = seeds.randomElement(using: &random) ?? []
      for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
        bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
      _ = try? AgentRequest(bytes)
      _ = SignedData(bytes)
      let request = SignatureRequest(key: bytes, data: bytes, flags: UInt32.random(in: 0...6, using: &random))
      _ = try? SignaturePurpose(of: request, SessionBinds())
      var binds = SessionBinds()
      try? binds.add(SessionBind(hostKey: bytes, session: bytes, signature: bytes, isForwarding: false))
      #expect(binds.verified.isEmpty)
    }
  }

  @Test("data to sign with an SSH key is only recognized if every byte fits, and is otherwise unknown")
  func signedData() throws {
    let key = try TestKey().publicKey
    let whole = signIn(session: Self.session, key: key, hostKey: key)
    guard case .signIn(let request) = SignedData(whole) else {
      Issue.record("not recognized")
      return
    }
    #expect(request.user == "alice")
    #expect(request.hostKey == key)
    #expect(SignedData(file(for: "git")) == .file(namespace: "git"))
    for count in 0..<whole.count { #expect(SignedData(Array(whole.prefix(count))) == .unknown) }
    #expect(SignedData(whole + [0]) == .unknown)
    #expect(SignedData(file(for: "git") + [0]) == .unknown)
    #expect(SignedData(signIn(session: Self.session, key: key, hostKey: nil, service: "ssh-userauth")) == .unknown)
    #expect(SignedData([]) == .unknown)
  }
}
