import Foundation
import ProgramDriver
import SSHAgent
import Testing

@Suite("The name of a host with a certificate")
struct HostCertificateTests {
  private let key: TestKey

  init() throws { key = try TestKey() }

  private func line(_ names: String, _ key: TestKey) throws -> String {
    "\(names) ssh-ed25519 \(Data(try key.publicKey).base64EncodedString())\n"
  }

  private func with<Value>(_ files: [String], _ body: (KnownHosts) throws -> Value) throws -> Value {
    let folder = FileManager.default.temporaryDirectory.appending(path: "whorl-known-hosts-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let paths = files.indices.map { folder.appending(path: "\($0)").path }
    for (path, text) in zip(paths, files) { try writeFile(path, Array(text.utf8)) }
    return try body(KnownHosts(files: paths))
  }

  private func name(_ certificate: [UInt8], _ files: String..., candidates: [String] = []) throws -> String? {
    try with(files) { $0.name(ofHostWith: certificate, candidates: candidates) }
  }

  @Test("a certified SSH host gets a name of its certificate that known_hosts allows, a candidate if possible")
  func named() async throws {
    try await TestAuthority.with { authority in
      let certificate = try await authority.certificate(
        of: key, "-h", "-n", "a.example,a.test,b.test,::1", "-V", "-1m:+1h")
      let all = authority.line("*")
      #expect(try name(certificate, all) == "a.example")
      #expect(try name(certificate, all, candidates: ["c.test", "B.test", "a.test"]) == "B.test")
      #expect(try name(certificate, all, candidates: ["[b.test]:2222", "b.test"]) == "[b.test]:2222")
      #expect(try name(certificate, all, candidates: ["*", "", "?.test", "c.test"]) == "a.example")
      #expect(try name(certificate, authority.line("*.test")) == "a.test")
      #expect(try name(certificate, authority.line("*.test"), candidates: ["a.example", "b.test"]) == "b.test")
      #expect(try name(certificate, authority.line("?.TEST,!a.*")) == "b.test")
      #expect(try name(certificate, authority.line("::1")) == "::1")
      #expect(try name(certificate, authority.line("*.*t,!*"), authority.line("b.test")) == "b.test")
      for others in ["c.test", "a.tes", "?test", "!a.test", "*.test,!?.test", "a.test.*", "[b.test]:22222222"] {
        #expect(try name(certificate, authority.line(others), candidates: ["a.test", "b.test"]) == nil, "\(others)")
      }
    }
  }

  @Test("a certified SSH host's name is allowed by the same known_hosts lines as in ssh-keygen")
  func patterns() async throws {
    try await TestAuthority.with { authority in
      let certificate = try await authority.certificate(of: key, "-h", "-n", "a.test,ab.test,a.b.test,::1")
      let names = ["a.test", "ab.test", "a.b.test", "::1", "[a.test]:2222", "[ab.test]:22222", "[::1]:2222"]
      let patterns = [
        "*", "?", "a*", "*a", "a*t", "a**t", "a*b*t", "?.test", "??.test", "*.test", "*.*.test", "*.b.*", "a?test",
        "a.tes",
        "a.test.", "A.TEST", "*,!a.test", "!a.test,*", "!*", "!a.test", "a.test,!?.test", "b.test,ab.*", "::?",
        "[*]:2222",
        "[a*]:22*", "[::1]:2222", "*2222", "*]:2222,!\\[::1*", "[ab].test", "a.test:2222", "a.*t*t", "*t*t*t*t",
      ]
      let lines = patterns.map(authority.line)
      let file = "\(authority.path).known"
      try writeFile(file, Array(lines.joined().utf8))
      for name in names {
        let found = try await Invocation(program: "/usr/bin/ssh-keygen", arguments: ["-F", name, "-f", file]).run().text
        for (place, line) in lines.enumerated() {
          let isFound = found.contains("found: line \(place + 1) ")
          #expect(
            try (self.name(certificate, line, candidates: [name]) == name) == isFound, "\(patterns[place]) \(name)")
        }
        #expect(found.contains("found: line 1 "))
      }
    }
  }

  @Test("a certified SSH host's name has the port for which the known_hosts line trusts the authority")
  func ports() async throws {
    try await TestAuthority.with { authority in
      let certificate = try await authority.certificate(of: key, "-h", "-n", "host.test")
      let line = authority.line("[*.test]:2222,[other.test]:22")
      #expect(try name(certificate, line) == "[host.test]:2222")
      #expect(try name(certificate, line, candidates: ["host.test", "[host.test]:2222"]) == "[host.test]:2222")
      #expect(try name(certificate, line, candidates: ["host.test", "[host.test]:2223"]) == "[host.test]:2222")
    }
  }

  @Test("a certified SSH host's name is also found in a hashed line of the authority")
  func hashed() async throws {
    try await TestAuthority.with { authority in
      let certificate = try await authority.certificate(of: key, "-h", "-n", "host.test,other.test")
      let file = "\(authority.path).known"
      try writeFile(file, Array("host.test \(authority.publicKey)\n".utf8))
      try await Invocation(program: "/usr/bin/ssh-keygen", arguments: ["-H", "-f", file]).run().mustSucceed()
      let line = "@cert-authority " + String(decoding: try readFile(file), as: UTF8.self)
      #expect(line.contains("|1|"))
      #expect(try name(certificate, line, candidates: ["other.test", "host.test"]) == "host.test")
      #expect(try name(certificate, line, candidates: ["other.test"]) == "host.test")
      #expect(try name(certificate, line.replacing("|1|", with: "|2|"), candidates: ["host.test"]) == nil)
    }
  }

  @Test("a certified SSH host is unknown if another authority has signed, or the line is not an authority's")
  func strangers() async throws {
    try await TestAuthority.with { authority in
      let certificate = try await authority.certificate(of: key, "-h", "-n", "host.test")
      let stranger = try await TestAuthority.with { $0.line("*") }
      #expect(try name(certificate, stranger, candidates: ["host.test"]) == nil)
      #expect(try name(certificate, "host.test \(authority.publicKey)\n", candidates: ["host.test"]) == nil)
      #expect(try name(certificate, "@cert-authority " + line("host.test", key), candidates: ["host.test"]) == nil)
      #expect(try name(key.publicKey, authority.line("host.test"), candidates: ["host.test"]) == nil)
      #expect(try name(certificate, "#" + authority.line("*"), "@other" + authority.line("*").dropFirst(15)) == nil)
    }
  }

  @Test("a certified SSH host has the name of a line with its own key if no line trusts the authority, as in ssh")
  func ownKey() async throws {
    try await TestAuthority.with { authority in
      let certificate = try await authority.certificate(of: key, "-h", "-n", "host.test")
      #expect(try name(certificate, line("alias.test", key)) == "alias.test")
      #expect(try name(certificate, line("alias.test", key), authority.line("*")) == "alias.test")
      #expect(
        try name(certificate, line("alias.test", key), authority.line("*"), candidates: ["host.test"]) == "host.test")
      #expect(try name(certificate, line("alias.test", TestKey())) == nil)
    }
  }

  @Test("a certified SSH host is unknown if its certificate is not valid now, even if a line has its own key")
  func invalid() async throws {
    try await TestAuthority.with { authority in
      func isUnknown(_ certificate: [UInt8]) throws -> Bool {
        let files = try [authority.line("*"), line("host.test", key)]
        return try with(files) { $0.name(ofHostWith: certificate, candidates: ["host.test"]) == nil }
      }
      let valid = try await authority.certificate(of: key, "-h", "-n", "host.test")
      #expect(try !isUnknown(valid))
      #expect(try await isUnknown(authority.certificate(of: key, "-n", "host.test")))
      #expect(try await isUnknown(authority.certificate(of: key, "-h", "-n", "host.test", "-V", "-2h:-1h")))
      #expect(try await isUnknown(authority.certificate(of: key, "-h", "-n", "host.test", "-V", "+1h:+2h")))
      #expect(try isUnknown(valid.dropLast() + [valid[valid.count - 1] ^ 1]))
      #expect(try isUnknown(valid.dropLast()))
      #expect(try isUnknown(valid + [0]))
      #expect(try isUnknown([]))
    }
  }

  @Test("an SSH host is unknown if its certificate's name is missing, a pattern, or could imitate a prompt")
  func principals() async throws {
    try await TestAuthority.with { authority in
      let candidates = ["host.test", "*.test", "[host.test]:2222"]
      for options in [
        ["-h"], ["-h", "-n", "*.test"], ["-h", "-n", "safe.test as alice .test"], ["-h", "-n", "[host.test]:2222"],
      ] {
        let name = "\(authority.path)-\(options.count)-\(options.last?.count ?? 0)"
        try writeFile("\(name).pub", Array(try line("", key).dropFirst().utf8))
        try await authority.certify(name, options)
        let text = String(decoding: try readFile("\(name)-cert.pub"), as: UTF8.self)
        let certificate = Array(try #require(Data(base64Encoded: String(text.split(separator: " ")[1]))))
        #expect(try self.name(certificate, authority.line("*"), candidates: candidates) == nil, "\(options)")
      }
    }
  }

  @Test("a certified SSH host is unknown if a line in any file revokes the authority or the certified key")
  func revoked() async throws {
    try await TestAuthority.with { authority in
      let certificate = try await authority.certificate(of: key, "-h", "-n", "host.test")
      let trusted = authority.line("*")
      for revoked in ["@revoked * \(authority.publicKey)\n", "@revoked other.test " + (try line("", key).dropFirst())] {
        #expect(try name(certificate, trusted, revoked, candidates: ["host.test"]) == nil)
        #expect(try name(certificate, revoked + trusted, try line("host.test", key)) == nil)
      }
      let others = "@revoked " + (try line("*", TestKey()))
      #expect(try name(certificate, trusted, others) == "host.test")
    }
  }

  @Test("a prompt shows a certified SSH host by name, and else by the fingerprint of the key")
  func words() async throws {
    try await TestAuthority.with { authority in
      let certificate = try await authority.certificate(of: key, "-h", "-n", "host.test")
      let target = SignaturePurpose.Target.signIn(user: "alice", host: certificate)
      let known = try with([authority.line("*")]) { PurposeWords($0, candidates: []).text(of: target, via: []) }
      #expect(known == "sign in to host.test as alice")
      let file = "\(authority.path)-host.pub"
      try writeFile(file, Array(try line("", key).dropFirst().utf8))
      let shown = try await Invocation(program: "/usr/bin/ssh-keygen", arguments: ["-l", "-f", file]).run()
      let fingerprint = try #require(shown.text.split(separator: " ").first { $0.hasPrefix("SHA256:") })
      let unknown = try with([]) { PurposeWords($0, candidates: []).text(of: target, via: []) }
      #expect(unknown == "sign in to an unknown host (\(fingerprint)) as alice")
    }
  }

  @Test("a session binding with a host certificate counts only if the certified key has signed the session")
  func binds() async throws {
    try await TestAuthority.with { authority in
      let (session, user) = ([UInt8](repeating: 7, count: 32), try TestKey().publicKey)
      var bind = try SessionBind(key, session: session)
      bind.hostKey = try await authority.certificate(of: key, "-h", "-n", "host.test")
      var binds = SessionBinds()
      try binds.add(bind)
      let data = signIn(session: session, key: user, hostKey: bind.hostKey)
      let purpose = try SignaturePurpose(of: SignatureRequest(key: user, data: data, flags: 0), binds)
      #expect(purpose.target == .signIn(user: "alice", host: bind.hostKey))
      let plain = signIn(session: session, key: user, hostKey: try key.publicKey)
      #expect(throws: SignaturePurpose.Refusal.otherHost) {
        _ = try SignaturePurpose(of: SignatureRequest(key: user, data: plain, flags: 0), binds)
      }
      var forged = bind
      forged.signature = try TestKey().signature(of: session)
      var others = SessionBinds()
      #expect(throws: SessionBinds.Refusal.wrongSignature) { try others.add(forged) }
    }
  }
}
