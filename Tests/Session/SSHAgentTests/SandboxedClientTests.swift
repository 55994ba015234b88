import Foundation
import Glibc
import Primitives
import ProgramDriver
import SSHAgent
import Testing

@Suite("A client of whorl-agent with its own file mounted over an installed program's")
struct SandboxedClientTests {
  /// Sends the messages of a file to the agent, and writes the type of each answer.
  private static let script = """
    import os, socket
    agent = socket.socket(socket.AF_UNIX)
    agent.connect(os.environ['SSH_AUTH_SOCK'])
    messages = open(os.environ['MESSAGES'], 'rb').read()
    while messages:
        size = 4 + int.from_bytes(messages[:4], 'big')
        agent.sendall(messages[:size])
        messages = messages[size:]
        answer = agent.recv(int.from_bytes(agent.recv(4, socket.MSG_WAITALL), 'big'), socket.MSG_WAITALL)
        print(answer[0], end=' ')
    """

  /// The messages with which `ssh` binds a session with a host and requests the signature for its sign-in.
  private func messages(_ host: TestKey, _ key: [UInt8]) throws -> [UInt8] {
    let session = [UInt8](repeating: 1, count: 32)
    let told = try SessionBind(host, session: session)
    var (bind, sign, framed) = (SSHWriter(), SSHWriter(), SSHWriter())
    bind.append(byte: 27)
    bind.append(text: "session-bind@openssh.com")
    for field in [told.hostKey, told.session, told.signature] { bind.append(string: field) }
    bind.append(byte: 0)
    sign.append(byte: 13)
    sign.append(string: key)
    sign.append(string: signIn(session: session, key: key, hostKey: try host.publicKey))
    sign.append(number: 0)
    for message in [bind, sign] { framed.append(string: message.bytes) }
    return framed.bytes
  }

  private func run(
    _ program: String, _ arguments: [String], _ agent: RunningAgent, _ messages: String
  ) async throws -> String {
    let ran = try await Invocation(
      program: program, arguments: arguments, environment: ["SSH_AUTH_SOCK": agent.socket, "MESSAGES": messages]
    ).run()
    return ran.text + ran.diagnostics
  }

  @Test("an SSH client mounted over an installed program needs its own touch, even if that program has a kept one")
  func keptTouch() async throws {
    guard try await Sandboxed.isPossible() else { return }
    try await TestStore.enrolled { store in
      let file = try await store.addKey("work", "--minutes", "5")
      let line = String(decoding: try readFile(file), as: UTF8.self)
      let key = Array(try #require(Data(base64Encoded: String(line.split(separator: " ")[1]))))
      let requests = "\(store.folder)/messages"
      try writeFile(requests, try messages(try TestKey(), key))
      let python = try await Invocation(program: "/usr/bin/readlink", arguments: ["-f", "/usr/bin/python3"]).run().text
        .filter { $0 != "\n" }
      let copy = "\(store.folder)/copy"
      try writeFile(copy, readFile(python))
      chmod(copy, 0o755)
      try await RunningAgent.with(store, [.right, .right]) { agent in
        let (bound, signed) = ("6", "14")
        for _ in 1...2 {
          let answers = try await run(python, ["-c", Self.script], agent, requests)
          #expect(answers == "\(bound) \(signed) ")
        }
        #expect(agent.prompts.count == 1)
        #expect(agent.prompts.first?.hasSuffix("(program: \(python))") == true)
        let sandboxed = Sandboxed.command(copy, over: python, ["-c", Self.script])
        let answers = try await run("/usr/bin/unshare", sandboxed, agent, requests)
        #expect(answers == "\(bound) \(signed) ")
        #expect(agent.prompts.count == 2)
        #expect(agent.prompts.last?.hasSuffix(" in a sandbox, unverified)") == true)
      }
    }
  }
}
